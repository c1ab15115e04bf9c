// SPDX-License-Identifier: Apache-2.0
// A call that a table describes: where each argument of its statement comes from, and what its rows become. What a call
// needs beyond that is a handler of its own over web_call.h.
// Owner: the handler of the request; loop thread.
#pragma once

#include "common/web_call.h"
#include "common/web_read.h"

enum web_arg_kind {
  WEB_ARG_CODE,         // {name} of the path; 404 with the query's `missing` for what cannot be one
  WEB_ARG_ID,           // {name} of the path: 1 … 2^63−1
  WEB_ARG_PAIR,         // {name} of the path: two numbers such as 683000001-17; 404 with `missing` for the first alone
  WEB_ARG_KEY,          // {name} of the path, an idempotency key
  WEB_ARG_PATH,         // {name} of the path as it is, for the statement to judge
  WEB_ARG_AFTER,        // of a list with numbers as keys; the number that stands for "from the beginning" is min
  WEB_ARG_AFTER_CODE,   // of a list with codes as keys
  WEB_ARG_AFTER_PLACE,  // of a list with codes, or instants and codes, as keys; null to begin
  WEB_ARG_LIMIT,        // of a list; one row more is asked for
  WEB_ARG_CHOICE,       // a word of the query, one of words
  WEB_ARG_QUERY_ID,     // an id of the query; null when absent
  WEB_ARG_QUERY_CODE,   // a code of the query; null when absent
  WEB_ARG_QUERY_TEXT,   // a text of the query; null when absent
  WEB_ARG_TIME,         // an instant of the query; null when absent
  WEB_ARG_REASON,       // why, where the body has no place for it: a text of the query
  WEB_ARG_ACTOR,        // who asks
  WEB_ARG_IF_MATCH,     // the version that If-Match names
  WEB_ARG_WORD,         // name itself
  WEB_ARG_BODY,         // the body as it came, which is JSON
  WEB_ARG_MEMBER_TEXT,  // a text of the body, of at most max characters
  WEB_ARG_MEMBER_KEY,   // an idempotency key of the body
  WEB_ARG_MEMBER_INT,   // an integer of the body from min to max, not 0
  WEB_ARG_OWN           // whatever the daemon puts: one argument or more
};

struct web_arg {
  enum web_arg_kind kind;
  const char *name;
  const char *const *words;  // ended by NULL
  int64_t min, max;
  bool needed;                         // of members
  bool (*put)(struct web_call *call);  // false: the request is answered
};
#define WEB_CODE(n)                   \
  {                                   \
    .kind = WEB_ARG_CODE, .name = (n) \
  }
#define WEB_ID(n)                   \
  {                                 \
    .kind = WEB_ARG_ID, .name = (n) \
  }
#define WEB_PAIR(n)                   \
  {                                   \
    .kind = WEB_ARG_PAIR, .name = (n) \
  }
#define WEB_KEY(n)                   \
  {                                  \
    .kind = WEB_ARG_KEY, .name = (n) \
  }
#define WEB_PATH(n)                   \
  {                                   \
    .kind = WEB_ARG_PATH, .name = (n) \
  }
#define WEB_AFTER(beginning)                  \
  {                                           \
    .kind = WEB_ARG_AFTER, .min = (beginning) \
  }
#define WEB_AFTER_CODE         \
  {                            \
    .kind = WEB_ARG_AFTER_CODE \
  }
#define WEB_AFTER_PLACE         \
  {                             \
    .kind = WEB_ARG_AFTER_PLACE \
  }
#define WEB_LIMIT         \
  {                       \
    .kind = WEB_ARG_LIMIT \
  }
#define WEB_CHOICE(n, w)                              \
  {                                                   \
    .kind = WEB_ARG_CHOICE, .name = (n), .words = (w) \
  }
#define WEB_QUERY_ID(n)                   \
  {                                       \
    .kind = WEB_ARG_QUERY_ID, .name = (n) \
  }
#define WEB_QUERY_CODE(n)                   \
  {                                         \
    .kind = WEB_ARG_QUERY_CODE, .name = (n) \
  }
#define WEB_QUERY_TEXT(n)                   \
  {                                         \
    .kind = WEB_ARG_QUERY_TEXT, .name = (n) \
  }
#define WEB_TIME(n)                   \
  {                                   \
    .kind = WEB_ARG_TIME, .name = (n) \
  }
#define WEB_REASON         \
  {                        \
    .kind = WEB_ARG_REASON \
  }
#define WEB_ACTOR         \
  {                       \
    .kind = WEB_ARG_ACTOR \
  }
#define WEB_VERSION          \
  {                          \
    .kind = WEB_ARG_IF_MATCH \
  }
#define WEB_WORD(n)                   \
  {                                   \
    .kind = WEB_ARG_WORD, .name = (n) \
  }
#define WEB_WHOLE_BODY   \
  {                      \
    .kind = WEB_ARG_BODY \
  }
#define WEB_TEXT(n, chars, need)                                               \
  {                                                                            \
    .kind = WEB_ARG_MEMBER_TEXT, .name = (n), .max = (chars), .needed = (need) \
  }
#define WEB_MEMBER_KEY(n)                                   \
  {                                                         \
    .kind = WEB_ARG_MEMBER_KEY, .name = (n), .needed = true \
  }
#define WEB_INT(n, least, most)                                                            \
  {                                                                                        \
    .kind = WEB_ARG_MEMBER_INT, .name = (n), .min = (least), .max = (most), .needed = true \
  }
#define WEB_OWN(fn)                  \
  {                                  \
    .kind = WEB_ARG_OWN, .put = (fn) \
  }
#define WEB_QUERY_ARGS_MAX 10

struct web_query {
  const struct db_statement *statement;
  web_rows_fn *on_rows;
  const char *missing;                                             // code of the 404
  const char *action;                                              // for the log
  void (*on_changed)(struct web_call *call, const char *outcome);  // see web_answer.h
  struct web_arg args[WEB_QUERY_ARGS_MAX];
  size_t arg_count;
};
#define WEB_ARGS(...) \
  .args = {__VA_ARGS__}, .arg_count = sizeof((struct web_arg[]){__VA_ARGS__}) / sizeof(struct web_arg)

// Reads the arguments in their order, and sends the statement. The first that is faulty is answered; so is a member of
// the body that nobody asked for.
void web_query_run(struct web_request *req, const struct web_query *query);
