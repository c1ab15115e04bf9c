// SPDX-License-Identifier: Apache-2.0
// A list over HTTP: {"items": […], "next": place or null}. Owner: the handler that made it; loop thread.
#pragma once

#include "reconciler/call.h"

enum call_place { CALL_PLACE_NUMBER, CALL_PLACE_TEXT };

// The parameter `limit`. False after a 400.
bool call_list_limit(struct web_request *web, int64_t *out_limit);
// A call that answers with the list. Its statement returns rows of a place and a document, and asks for one row more
// than the limit: that one only says that there is a next page. Limit 0: everything there is, without a next page.
struct call *call_list_new(struct web_request *web, int64_t limit, enum call_place place);
// A list of something that need not be there: one row without a document is answered with 404 and this text.
struct call *call_list_of(struct web_request *web, int64_t limit, enum call_place place, const char *unknown);
