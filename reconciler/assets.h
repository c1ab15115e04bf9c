// SPDX-License-Identifier: Apache-2.0
// The operator console's files, embedded at build: the page at / and what it loads. No data is in them.
// Owner: web routes; loop thread.
#pragma once

#include "common/web_route.h"

// GET /: the page, asked for again each time. GET /assets/{version}/{file}: what it loads, cached for ever under the
// version of this build; 404 for another.
web_handler assets_page, assets_file;
