// SPDX-License-Identifier: Apache-2.0
// Statements of providers over HTTP: giving one in, the list, one, its lines.
// Owner: web routes; loop thread.
#pragma once

#include "common/web_route.h"

web_handler statement_api_import, statement_api_list, statement_api_show, statement_api_lines;
