// SPDX-License-Identifier: Apache-2.0
// Answers of calls that change something: see web_answer.h.
// Owner: the handler of the request; loop thread.
#include "common/web_answer.h"

#include <string.h>

// "" for a column that is not there, or null.
static const char *text_of(const struct db_rows *rows, const char *name)
{
  int column = db_rows_column(rows, name);
  return column >= 0 ? db_rows_text(rows, 0, (size_t)column) : "";
}

static void put_etag(struct web_call *call, const struct db_rows *rows)
{
  int column = db_rows_column(rows, "version");
  if (column >= 0 && !db_rows_is_null(rows, 0, (size_t)column))
    web_reply_etag(call->req, db_rows_i64(rows, 0, (size_t)column));
}

static bool is(const char *outcome, const char *word) { return strcmp(outcome, word) == 0; }

static void reply(struct web_call *call, const struct db_rows *rows, bool is_created)
{
  const char *doc = text_of(rows, "doc");
  put_etag(call, rows);
  if (is_created) web_reply_header(call->req, "Location", web_path(call->req));
  if (doc[0] != '\0')
    web_reply_json(call->req, is_created ? 201 : 200, doc, strlen(doc));
  else
    web_reply_empty(call->req, 204);
}

void web_answer_change(struct web_call *call, const struct db_rows *rows)
{
  const char *outcome = text_of(rows, "outcome"), *extra = text_of(rows, "extra");
  bool is_created = is(outcome, "created"), is_replayed = is(outcome, "replayed");
  bool is_changed = is_created || is(outcome, "updated") || is(outcome, "ok");
  if (!is_changed && !is_replayed && !is(outcome, "unchanged")) {
    const char *detail = text_of(rows, "detail");
    web_reply_refusal(call->req, outcome, detail[0] != '\0' ? detail : "there is no such thing",
                      extra[0] != '\0' ? extra : NULL);
    return;
  }
  if (is_changed && call->on_changed != NULL) call->on_changed(call, outcome);
  if (is_replayed) web_reply_header(call->req, "Idempotent-Replayed", "true");
  reply(call, rows, is_created);
}

void web_answer_doc(struct web_call *call, const struct db_rows *rows) { web_reply_doc(call, rows, 0); }

void web_answer_versioned(struct web_call *call, const struct db_rows *rows)
{
  if (db_rows_count(rows) == 0)
    web_reply_missing(call->req, call->missing);
  else
    reply(call, rows, false);
}

void web_reply_doc_with(struct web_request *req, const char *doc, size_t len, const char *member,
                        const struct web_problem *p)
{
  struct buf b;
  buf_init(&b, WEB_REPLY_BYTES_MAX);
  buf_append(&b, doc, len > 0 ? len - 1 : 0);  // without the closing brace
  buf_printf(&b, ",\"%s\":", member);
  web_put_problem(&b, req, p);
  web_reply_language(req);
  buf_putc(&b, '}');
  web_reply_json(req, 200, buf_text(&b), b.len);
  buf_release(&b);
}
