// SPDX-License-Identifier: Apache-2.0
// An API call that is one statement: decode, ask the database, answer. What can go wrong on the way is answered here.
// Owner: the call owns itself from api_call_send to its answer; loop thread.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/db.h"
#include "common/jsonx.h"
#include "common/web.h"

struct app;
struct api_call;
typedef void api_rows_fn(struct api_call *call, const struct db_rows *rows);  // answers the request

struct api_call {
  struct db_request db;  // the handler fills db.args
  struct web_request *req;
  struct app *app;
  api_rows_fn *on_rows;
  size_t limit;        // of a list
  const char *action;  // for the log
  size_t *open_count;  // one less when the call has ended; NULL: not counted
};

struct api_call *api_call_new(struct web_request *req, const struct db_statement *statement, api_rows_fn *on_rows);
void api_call_send(struct api_call *call);

// Answers.
void api_reply_invalid(struct web_request *req, const char *detail);  // 400 INVALID_REQUEST
void api_reply_refusal(struct web_request *req, const char *code, const char *detail,
                       const char *extra_json);                     // status by code
void api_reply_missing(struct web_request *req, const char *code);  // 404
void api_reply_etag(struct web_request *req, int64_t version);      // header, before the reply
// {"items": […], "next": …} from rows of (key, JSON text): call->limit of them, one more tells that there is a next
// page.
void api_reply_list(struct api_call *call, const struct db_rows *rows, size_t key_column, bool key_is_text);
// The same as {HEAD"MEMBER": […], "next": …}; head ends with a comma, unless it is empty.
void api_reply_page(struct api_call *call, const struct db_rows *rows, size_t key_column, bool key_is_text,
                    const char *head, const char *member);
// The same from rows of (whether the activity is known, key, JSON text), keys being numbers; 404 of an unknown one.
void api_reply_activity_list(struct api_call *call, const struct db_rows *rows);
// Appends a JSON document whose texts are English, such as rejected rows: in each object of the list `list` (NULL: the
// document is the list) the text `member` is told in the language of the request. Then web_reply_language goes with it.
void api_put_told(struct buf *b, const struct web_request *req, const char *json, const char *list, const char *member);

// Decoding. False: the request is answered (400, or 404 for a code that cannot exist).
bool api_read_code(struct web_request *req, const char *name, const char *missing_code, const char **out_code);
bool api_read_user(struct web_request *req, const char *name, int64_t *out_user_id);
bool api_read_body(struct web_request *req, json_t **out_body);
bool api_read_limit(struct web_request *req, size_t *out_limit);      // 1 to 1000, 100 when absent
bool api_read_after_id(struct web_request *req, int64_t *out_after);  // 0 when absent
// A time of the query; *out_has is false when it is absent, and *out_at untouched.
bool api_read_time(struct web_request *req, const char *name, bool *out_has, struct wall_time *out_at);
// One of words (ended by NULL); NULL when absent.
bool api_read_choice(struct web_request *req, const char *name, const char *const *words, const char **out_word);
// $n of a statement: the version that If-Match names, null without one, 0 (which no version is) for anything that
// cannot match.
void api_put_if_match(struct web_request *req, struct db_args *args);

// Both: a page of what belongs to the activity of the path. statement: (code, after, rows at most), such rows.
void api_send_activity_list(struct web_request *req, const struct db_statement *statement);
