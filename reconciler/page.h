// SPDX-License-Identifier: Apache-2.0
// The page at /: findings, dead letters and operations as text, made on the server, without scripts.
// Owner: web routes; loop thread.
#pragma once

#include "common/web_route.h"

web_handler page_show, page_style;
