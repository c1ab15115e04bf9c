// SPDX-License-Identifier: Apache-2.0
// Answers that are one page of a list: see web_list.h.
// Owner: the handler of the request; loop thread.
#include "common/web_list.h"

#include "common/web_read.h"

static void put_next(struct buf *b, const struct db_rows *rows, size_t row, size_t column, bool key_is_text)
{
  if (key_is_text) {
    buf_put_json(b, db_rows_text(rows, row, column), db_rows_text_len(rows, row, column));
    return;
  }
  buf_putc(b, '"');  // 64-bit ids travel as text
  buf_put_i64(b, db_rows_i64(rows, row, column));
  buf_putc(b, '"');
}

void web_list_reply(struct web_call *call, const struct db_rows *rows, size_t key_column, bool key_is_text)
{
  web_list_reply_page(call, rows, key_column, key_is_text, "", "items");
}

void web_list_reply_page(struct web_call *call, const struct db_rows *rows, size_t key_column, bool key_is_text,
                         const char *head, const char *member)
{
  struct buf b;
  size_t count = db_rows_count(rows), shown = count < call->limit ? count : call->limit;
  if (shown == 1 && db_rows_is_null(rows, 0, key_column)) shown = 0;  // the row that only says that its parent exists
  buf_init(&b, WEB_REPLY_BYTES_MAX);
  buf_printf(&b, "{%s\"%s\":[", head, member);
  for (size_t i = 0; i < shown; i++) {
    if (i > 0) buf_putc(&b, ',');
    web_put_told(&b, call->req, db_rows_text(rows, i, key_column + 1), db_rows_text_len(rows, i, key_column + 1),
                 call->told);
  }
  buf_puts(&b, "],\"next\":");
  if (count > call->limit)
    put_next(&b, rows, shown - 1, key_column, key_is_text);
  else
    buf_puts(&b, "null");
  buf_putc(&b, '}');
  bool is_whole = buf_result(&b) == RESULT_OK;
  if (is_whole && call->told != NULL) web_reply_language(call->req);
  if (is_whole)
    web_reply_json(call->req, 200, buf_text(&b), b.len);
  else
    web_reply_invalid(call->req, "limit: so many items do not fit into one answer");
  buf_release(&b);
}

void web_list_on_codes(struct web_call *call, const struct db_rows *rows) { web_list_reply(call, rows, 0, true); }
void web_list_on_ids(struct web_call *call, const struct db_rows *rows) { web_list_reply(call, rows, 0, false); }

void web_list_reply_of(struct web_call *call, const struct db_rows *rows)
{
  if (!db_rows_bool(rows, 0, 0))
    web_reply_missing(call->req, call->missing);
  else
    web_list_reply(call, rows, 1, false);
}

void web_list_send_of(struct web_request *req, const struct db_statement *statement, const char *missing)
{
  const char *code = NULL;
  size_t limit = 0;
  int64_t after = 0;
  if (!web_read_code(req, "code", missing, &code) || !web_read_limit(req, &limit) || !web_read_after_id(req, &after))
    return;
  struct web_call *call = web_call_new(req, statement, web_list_reply_of);
  call->limit = limit;
  call->missing = missing;
  db_args_text(&call->db.args, code);
  db_args_i64(&call->db.args, after);
  db_args_i64(&call->db.args, (int64_t)limit + 1);
  web_call_send(call);
}
