// SPDX-License-Identifier: Apache-2.0
// A list over HTTP. Owner: the handler that made it; loop thread.
#include "reconciler/call_list.h"

#define LIMIT_DEFAULT 100
#define LIMIT_MAX     1000

struct list_call {
  struct call call;
  int64_t limit;
  enum call_place place;
  const char *unknown;  // 404; NULL: it is always there
};

static void put_place(struct buf *b, enum call_place place, const struct db_rows *rows, size_t row)
{
  if (place == CALL_PLACE_TEXT) {
    buf_put_json(b, db_rows_text(rows, row, 0), db_rows_text_len(rows, row, 0));
    return;
  }
  buf_putc(b, '"');
  buf_put_i64(b, db_rows_i64(rows, row, 0));
  buf_putc(b, '"');
}

static void put_items(struct buf *b, const struct db_rows *rows, size_t count)
{
  buf_puts(b, "{\"items\":[");
  for (size_t i = 0; i < count; i++) {
    if (i > 0) buf_putc(b, ',');
    buf_append(b, db_rows_text(rows, i, 1), db_rows_text_len(rows, i, 1));
  }
  buf_puts(b, "],\"next\":");
}

static void on_list(struct call *c, const struct db_rows *rows)
{
  const struct list_call *l = CONTAINER_OF(c, struct list_call, call);
  struct buf *b = &c->app->scratch;
  size_t count = db_rows_count(rows);
  if (l->unknown != NULL && count == 1 && db_rows_is_null(rows, 0, 1)) {
    call_not_found(c->web, l->unknown);
    call_end(c);
    return;
  }
  bool is_more = l->limit > 0 && count > (size_t)l->limit;
  if (is_more) count = (size_t)l->limit;
  buf_clear(b);
  put_items(b, rows, count);
  if (is_more)
    put_place(b, l->place, rows, count - 1);
  else
    buf_puts(b, "null");
  buf_putc(b, '}');
  if (buf_result(b) == RESULT_OK)
    web_reply_json(c->web, 200, buf_text(b), b->len);
  else
    web_reply_problem(c->web,
                      &(struct web_problem){.code = "TOO_LARGE", .status = 413, .detail = "ask for fewer with limit"});
  call_end(c);
}

bool call_list_limit(struct web_request *web, int64_t *out_limit)
{
  *out_limit = LIMIT_DEFAULT;
  return call_number(web, "limit", 1, LIMIT_MAX, out_limit);
}

struct call *call_list_new(struct web_request *web, int64_t limit, enum call_place place)
{
  struct list_call *l = CONTAINER_OF(call_new(web, sizeof *l, on_list), struct list_call, call);
  l->limit = limit;
  l->place = place;
  return &l->call;
}

struct call *call_list_of(struct web_request *web, int64_t limit, enum call_place place, const char *unknown)
{
  struct call *c = call_list_new(web, limit, place);
  CONTAINER_OF(c, struct list_call, call)->unknown = unknown;
  return c;
}
