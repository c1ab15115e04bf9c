// SPDX-License-Identifier: Apache-2.0
// The operator console's files, embedded at build: the page at / and what it loads. No data is in them.
// Owner: web routes; loop thread.
#pragma once

#include "common/web_route.h"

// The Content-Security-Policy of everything that the reconciler answers: pages and what they load and ask come from
// here, and nothing else does.
#define ASSETS_POLICY                                                                                              \
  "default-src 'self'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; object-src " \
  "'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

// GET /: the page, asked for again each time. GET /assets/{version}/{file}: what it loads, cached for ever under the
// version of this build; 404 for another.
web_handler assets_page, assets_file;
