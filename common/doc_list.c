// SPDX-License-Identifier: Apache-2.0
// Listings of commands, page by page: a table, or one JSON document {"items": […], "next": …}; and one document as
// lines or JSON. Owner: the command; blocking.
#include "common/doc_list.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/cmdline.h"
#include "common/jsonx.h"
#include "common/mem.h"
#include "common/text.h"

#define PAGE_BYTES_MAX (64u * 1024u * 1024u)

static void flush_page(struct doc_list *l)
{
  if (buf_result(&l->page) != RESULT_OK) l->cli->exit_code = EXIT_SOFTWARE;
  (void)fwrite(buf_text(&l->page), 1, l->page.len, stdout);
  buf_clear(&l->page);
}

bool doc_list_begin(struct doc_list *l, struct cli *cli, const struct doc_column *columns, bool is_json,
                    const char *limit)
{
  int64_t rows = 0;
  if (limit != NULL && (text_to_i64(limit, strlen(limit), &rows) != RESULT_OK || rows < 1)) {
    cli->exit_code = cli_misused(cli, "--limit must be a number of at least 1");
    return false;
  }
  *l = (struct doc_list){.cli = cli, .columns = columns, .is_json = is_json, .limit = rows};
  buf_init(&l->page, PAGE_BYTES_MAX);
  if (is_json) buf_puts(&l->page, "{\"items\":[");
  return true;
}

// One more than may be printed, so that the end of the list is known for sure.
int64_t doc_list_page_rows(const struct doc_list *l)
{
  int64_t left = l->limit - l->printed + 1;
  return l->limit > 0 && left < DOC_LIST_PAGE ? left : DOC_LIST_PAGE;
}

static void put_doc(struct doc_list *l, const char *doc)
{
  if (l->is_json) {
    buf_puts(&l->page, l->printed > 0 ? ",\n" : "\n");
    buf_puts(&l->page, doc);
    return;
  }
  if (l->printed == 0) doc_put_titles(l->columns, &l->page);
  json_t *json = NULL;
  if (jsonx_parse(doc, strlen(doc), &json, NULL) != RESULT_OK) return;
  doc_put_row(l->columns, json, &l->page);
  json_decref(json);
}

static void remember_place(struct doc_list *l, const struct db_rows *rows, size_t row, size_t column,
                           bool place_is_text)
{
  char number[24];
  (void)snprintf(number, sizeof number, "%" PRId64, place_is_text ? 0 : db_rows_i64(rows, row, column));
  mem_free(l->last);
  l->last = mem_strdup(place_is_text ? db_rows_text(rows, row, column) : number);
}

bool doc_list_rows(struct doc_list *l, const struct db_rows *rows, size_t place, bool place_is_text)
{
  size_t count = db_rows_count(rows);
  bool is_more = (int64_t)count == doc_list_page_rows(l);
  for (size_t i = 0; i < count; i++) {
    if (db_rows_is_null(rows, i, place)) continue;
    if (l->limit > 0 && l->printed == l->limit) {
      l->is_cut = true;
      is_more = false;
      break;
    }
    put_doc(l, db_rows_text(rows, i, place + 1));
    remember_place(l, rows, i, place, place_is_text);
    l->printed++;
  }
  flush_page(l);
  return is_more;
}

bool doc_list_page(struct doc_list *l, const struct db_statement *statement, struct db_args *args, int64_t *io_after)
{
  struct db_rows *rows = NULL;
  bool is_more = false;
  if (cli_query(l->cli, statement, args, &rows)) {
    size_t count = db_rows_count(rows);
    is_more = doc_list_rows(l, rows, 0, false);
    if (count > 0) *io_after = db_rows_i64(rows, count - 1, 0);
  }
  db_rows_free(rows);
  db_args_release(args);
  return is_more;
}

bool doc_list_page_text(struct doc_list *l, const struct db_statement *statement, struct db_args *args, char **io_after)
{
  struct db_rows *rows = NULL;
  bool is_more = false;
  if (cli_query(l->cli, statement, args, &rows)) {
    size_t count = db_rows_count(rows);
    is_more = doc_list_rows(l, rows, 0, true);
    if (count > 0) {
      mem_free(*io_after);
      *io_after = mem_strdup(db_rows_text(rows, count - 1, 0));
    }
  }
  db_rows_free(rows);
  db_args_release(args);
  return is_more;
}

int doc_list_end(struct doc_list *l)
{
  if (l->is_json) {
    buf_puts(&l->page, l->printed > 0 ? "\n],\"next\":" : "],\"next\":");
    if (l->is_cut)
      buf_put_json(&l->page, l->last, strlen(l->last));
    else
      buf_puts(&l->page, "null");
    buf_puts(&l->page, "}\n");
  } else if (l->is_cut) {
    buf_puts(&l->page, "more follow; go on with --after '");
    cmdline_put_text(&l->page, l->last);
    buf_puts(&l->page, "'\n");
  } else if (l->printed == 0 && l->cli->exit_code == EXIT_OK) {
    buf_puts(&l->page, "none\n");
  }
  flush_page(l);
  buf_release(&l->page);
  mem_free(l->last);
  return l->cli->exit_code;
}

int doc_show(struct cli *cli, const struct db_rows *rows, bool is_json, const char *what, const char *id)
{
  struct buf text;
  json_t *doc = NULL;
  if (db_rows_count(rows) == 0) {
    (void)fprintf(stderr, "%s: %s: there is no %s %s\n", cli->program, cli->name, what, id);
    return EXIT_DATA;
  }
  buf_init(&text, PAGE_BYTES_MAX);
  const char *json = db_rows_text(rows, 0, 0);
  if (is_json) {
    buf_puts(&text, json);
    buf_putc(&text, '\n');
  } else if (jsonx_parse(json, strlen(json), &doc, NULL) == RESULT_OK) {
    doc_put_text(doc, &text);
  }
  json_decref(doc);
  int exit_code = cli_write(cli, &text, NULL);
  buf_release(&text);
  return exit_code;
}
