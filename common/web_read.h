// SPDX-License-Identifier: Apache-2.0
// Reading the path, query, headers and body of a request. False: the request is answered (400, or 404 for a name that
// nothing can have).
// Owner: the handler of the request; loop thread.
#pragma once

#include "common/conf.h"
#include "common/db.h"
#include "common/jsonx.h"
#include "common/web.h"

bool web_read_code(struct web_request *req, const char *name, const char *missing_code, const char **out_code);
// A code of the query; *out_code is "" when absent.
bool web_read_after_code(struct web_request *req, const char **out_code);
// The key of a list that may be sorted by time: a code, or an instant, a slash and a code; NULL when absent.
bool web_read_after_place(struct web_request *req, const char **out_key);
bool web_read_id(struct web_request *req, const char *name, int64_t *out_id);        // in the path: 1 … 2^63−1
bool web_read_query_id(struct web_request *req, const char *name, int64_t *out_id);  // 0 when absent
bool web_read_query_code(struct web_request *req, const char *name, const char **out_code);  // NULL when absent
// In the path: two numbers such as 683000001-17, as text_to_pair reads them; 404 for the first alone.
bool web_read_pair(struct web_request *req, const char *name, const char *missing_code, int64_t *out_first,
                   int64_t *out_second);
bool web_read_body(struct web_request *req, json_t **out_body);
bool web_read_limit(struct web_request *req, size_t *out_limit);      // 1 to 1000, 100 when absent
bool web_read_after_id(struct web_request *req, int64_t *out_after);  // 0 when absent
// A time of the query; *out_has is false when it is absent, and *out_at untouched.
bool web_read_time(struct web_request *req, const char *name, bool *out_has, struct wall_time *out_at);
// One of words (ended by NULL); NULL when absent.
bool web_read_choice(struct web_request *req, const char *name, const char *const *words, const char **out_word);
// A text of the query of at most 1024 bytes of UTF-8; NULL when absent.
bool web_read_text(struct web_request *req, const char *name, const char **out_text);
// Why something is done, as the parameter `reason` of calls whose body has no place for it; NULL when absent.
bool web_read_reason(struct web_request *req, const char **out_reason);
// A number of the query; *io_value is left alone when absent.
bool web_read_number(struct web_request *req, const char *name, int64_t min, int64_t max, int64_t *io_value);
// $n of a statement: the version that If-Match names, null without one, 0 (which no version is) for anything that
// cannot match.
void web_put_if_match(struct web_request *req, struct db_args *args);
// The next argument: names as an array of texts.
void web_put_names(struct db_args *args, const struct conf_texts *names);
