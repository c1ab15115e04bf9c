// SPDX-License-Identifier: Apache-2.0
// Answers that are one page of a list: {"items": […], "next": key or null}, from rows of a key and a JSON text. There
// are call->limit of them; one row more tells that there is a next page.
// Owner: the handler of the request; loop thread.
#pragma once

#include "common/web_call.h"

void web_list_reply(struct web_call *call, const struct db_rows *rows, size_t key_column, bool key_is_text);
// The same as {HEAD"MEMBER": […], "next": …}; head ends with a comma, unless it is empty.
void web_list_reply_page(struct web_call *call, const struct db_rows *rows, size_t key_column, bool key_is_text,
                         const char *head, const char *member);
// The same from rows of (whether what the list belongs to is known, key, JSON text), keys being numbers; 404 with
// call->missing where it is not.
void web_list_reply_of(struct web_call *call, const struct db_rows *rows);
// A page of what belongs to the {code} of the path. statement: (code, after, rows at most), rows as for
// web_list_reply_of.
void web_list_send_of(struct web_request *req, const struct db_statement *statement, const char *missing);
// web_list_reply as a rows function, the key being the first column.
void web_list_on_codes(struct web_call *call, const struct db_rows *rows);
void web_list_on_ids(struct web_call *call, const struct db_rows *rows);
