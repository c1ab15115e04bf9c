// SPDX-License-Identifier: Apache-2.0
// A request that is one statement, or a few one after the other: decode, ask the database, answer. What can go wrong on
// the way is answered here. Reading and answering have web_read.h and web_list.h.
// Owner: the call owns itself from its first web_call_send to its answer; loop thread.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/db.h"
#include "common/loop.h"
#include "common/web.h"

// The refusals that a daemon's statements know besides those of the library, see web_reply_refusal.
struct web_refusal {
  const char *code;
  int status;
};

// What all calls of a daemon share; given to its server by web_server_set_calls.
struct web_calls {
  struct db_pool *db;
  const struct web_refusal *refusals;
  size_t refusal_count;
  struct loop *loop;
  size_t open_imports;  // see web_import.h
  size_t open_count;    // calls that have not ended: each holds a request and a statement
  // Told of each statement that failed or timed out, for log and metrics; NULL: the pool's own lines are enough.
  void (*on_failed)(void *ctx, const struct db_statement *statement, const char *sqlstate, const char *message);
  void *ctx;
};

struct web_call;
typedef void web_rows_fn(struct web_call *call, const struct db_rows *rows);  // answers, or sends the next statement

struct web_call {
  struct db_request db;  // the handler fills db.args
  struct web_request *req;
  struct web_calls *calls;
  web_rows_fn *on_rows;
  void (*on_end)(struct web_call *call);  // what the handler added is freed here; NULL: nothing
  void (*on_changed)(struct web_call *call, const char *outcome);  // see web_answer.h; NULL: nobody is told
  const struct web_told *told;  // the texts in the documents of a list; NULL: there are none
  size_t limit;                 // of a list
  const char *missing;          // code of the 404 where that is found out by the rows; NULL: NOT_FOUND
  const char *action;           // for the log
  size_t *open_count;           // one less when the call has ended; NULL: not counted
  bool is_sent, is_in_rows;     // private
};

struct web_call *web_call_new(struct web_request *req, const struct db_statement *statement, web_rows_fn *on_rows);
// The same inside a larger struct, of which it is the first member; zeroed.
struct web_call *web_call_new_in(size_t size, struct web_request *req, const struct db_statement *statement,
                                 web_rows_fn *on_rows);
// Exactly one of rows, a failure that is answered here, or a refusal that is answered here comes of it. A call that is
// not sent again by its on_rows ends with it.
void web_call_send(struct web_call *call);
// The next statement of a call, without arguments yet.
void web_call_next(struct web_call *call, const struct db_statement *statement);
// Ends a call that was not sent; the request is answered by the handler. Inside on_rows it does nothing.
void web_call_end(struct web_call *call);

// Answers.
void web_reply_invalid(struct web_request *req, const char *detail);  // 400 INVALID_REQUEST
void web_reply_missing(struct web_request *req, const char *code);    // 404; NULL: NOT_FOUND
// What a statement refuses: the status by the code. extra_json: see web_problem.
void web_reply_refusal(struct web_request *req, const char *code, const char *detail, const char *extra_json);
void web_reply_etag(struct web_request *req, int64_t version);  // header, before the reply
// 200 and the JSON text in that column of the first row; 404 with call->missing if there is no row, or no text.
void web_reply_doc(struct web_call *call, const struct db_rows *rows, size_t column);
// Where a JSON document has texts for people.
struct web_told {
  const char *at;              // JSON pointer of an object or a list of them; "": the document itself
  const char *const *members;  // of each, ended by NULL; "repair.text": of an object within
};
// Appends a JSON document with those texts in the language of the request; then web_reply_language goes with it. told
// NULL: there are no such texts.
void web_put_told(struct buf *b, const struct web_request *req, const char *json, size_t len,
                  const struct web_told *told);
// Answers with such a document, and its language.
void web_reply_told(struct web_request *req, int status, const char *json, size_t len, const struct web_told *told);
