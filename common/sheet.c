// SPDX-License-Identifier: Apache-2.0
// A CSV file as arguments of one statement.
// Owner: the import; pure, any thread.
#include "common/sheet.h"

#include <stdio.h>
#include <string.h>

#include "common/jsonx.h"
#include "common/text.h"

#define REASON_BYTES     256
#define NAME_SHOWN_BYTES 40

// --- rejecting

void sheet_reject(struct sheet *s, int64_t line, const char *reason)
{
  if (s->bad_count++ >= SHEET_TOLD_MAX) return;
  buf_printf(&s->bad, "%s{\"line\":%lld,\"reason\":", s->bad_count > 1 ? "," : "", (long long)line);
  buf_put_json(&s->bad, reason, strlen(reason));
  buf_putc(&s->bad, '}');
}

static void break_off(struct sheet *s, int64_t line, const char *reason)
{
  if (!s->is_broken) sheet_reject(s, line, reason);
  s->is_broken = true;
}

// --- header

static void break_header(struct sheet *s, int64_t line, const struct csv_cell *cell, const char *reason)
{
  char shown[NAME_SHOWN_BYTES], why[REASON_BYTES];
  size_t len = 0;
  for (; len < cell->len && len + 1 < sizeof shown; len++)
    shown[len] = cell->bytes[len] >= 0x20 && cell->bytes[len] <= 0x7E ? cell->bytes[len] : '?';
  shown[len] = '\0';
  (void)snprintf(why, sizeof why, "header: %s: %s", shown, reason);
  break_off(s, line, why);
}

static bool find_column(const struct sheet *s, const struct csv_cell *cell, size_t *out_column)
{
  for (size_t i = 0; i < s->columns->count; i++) {
    const char *name = s->columns->items[i].name;
    if (cell->len != strlen(name) || memcmp(cell->bytes, name, cell->len) != 0) continue;
    *out_column = i;
    return true;
  }
  return false;
}

static bool has_column(const struct sheet *s, size_t column)
{
  for (size_t i = 0; i < s->cell_count; i++) {
    if (s->places[i] == column) return true;
  }
  return false;
}

static void take_header(struct sheet *s, int64_t line, const struct csv_cell *cells, size_t count)
{
  s->has_header = true;
  for (size_t i = 0; i < count && i < CSV_CELLS_MAX; i++) {
    size_t column = 0;
    if (!find_column(s, &cells[i], &column)) {
      break_header(s, line, &cells[i], "there is no such column");
      return;
    }
    if (has_column(s, column)) {
      break_header(s, line, &cells[i], "the column is named twice");
      return;
    }
    s->places[s->cell_count++] = column;
  }
  for (size_t i = 0; i < s->columns->count; i++) {
    const struct csv_cell name = {s->columns->items[i].name, strlen(s->columns->items[i].name)};
    if (s->columns->items[i].required && !has_column(s, i)) break_header(s, line, &name, "the column is missing");
  }
}

// --- cells

static const char *check_number(const struct sheet_column *column, const struct csv_cell *cell, int64_t *out)
{
  bool is_good = text_to_i64(cell->bytes, cell->len, out) == RESULT_OK && *out >= column->min && *out <= column->max;
  return is_good ? NULL : column->rule;
}

// What begins like JSON is meant as JSON: a damaged one is a fault, and not a note.
static bool is_note(const struct csv_cell *cell)
{
  size_t blank = 0;
  while (blank < cell->len && strchr(" \t\r\n", cell->bytes[blank]) != NULL) blank++;
  return blank == cell->len || (cell->bytes[blank] != '{' && cell->bytes[blank] != '[');
}

static const char *check_extra(const struct csv_cell *cell)
{
  json_t *json = NULL;
  if (is_note(cell)) return NULL;
  bool is_object = jsonx_parse(cell->bytes, cell->len, &json, NULL) == RESULT_OK && json_is_object(json);
  json_decref(json);
  return is_object ? NULL : "must be a JSON object, or a text";
}

static const char *check_text(const struct sheet_column *column, const struct csv_cell *cell)
{
  if (cell->len == 0) return column->required ? "is empty" : NULL;
  if (!text_is_utf8(cell->bytes, cell->len)) return "must be UTF-8 without NUL";
  if (column->kind == SHEET_KEY)
    return text_is_biz_id(cell->bytes, cell->len) ? NULL : "must be 1 to 64 characters of A-Z a-z 0-9 . _ : -";
  if (column->kind == SHEET_EXTRA) return check_extra(cell);
  return text_utf8_length(cell->bytes, cell->len) <= (size_t)column->max ? NULL : "has too many characters";
}

static void put_value(struct buf *b, int64_t value) { buf_append(b, &value, sizeof value); }

static void keep(struct sheet *s, size_t column, const struct csv_cell *cell, int64_t number)
{
  if (s->columns->items[column].kind == SHEET_INT) {
    put_value(&s->values[column], number);
    return;
  }
  if (s->columns->items[column].kind == SHEET_EXTRA && cell->len > 0 && is_note(cell))
    buf_put_json(&s->texts[column], cell->bytes, cell->len);
  else
    buf_append(&s->texts[column], cell->bytes, cell->len);
  int64_t end = (int64_t)s->texts[column].len;
  put_value(&s->values[column], cell->len > 0 ? end : -1 - end);
}

// --- rows

static const char *check_row(const struct sheet *s, const struct csv_cell *cells, int64_t numbers[SHEET_COLUMNS_MAX],
                             const char **out_name)
{
  for (size_t i = 0; i < s->cell_count; i++) {
    const struct sheet_column *column = &s->columns->items[s->places[i]];
    const char *reason =
        column->kind == SHEET_INT ? check_number(column, &cells[i], &numbers[i]) : check_text(column, &cells[i]);
    *out_name = column->name;
    if (reason != NULL) return reason;
  }
  return NULL;
}

static void take_row(struct sheet *s, int64_t line, const struct csv_cell *cells, size_t count)
{
  int64_t numbers[SHEET_COLUMNS_MAX];
  char why[REASON_BYTES];
  const char *name = "", *reason = NULL;
  if (count != s->cell_count) {
    (void)snprintf(why, sizeof why, "has %zu cells; the header has %zu", count, s->cell_count);
    sheet_reject(s, line, why);
    return;
  }
  reason = check_row(s, cells, numbers, &name);
  if (reason != NULL) {
    (void)snprintf(why, sizeof why, "%s: %s", name, reason);
    sheet_reject(s, line, why);
    return;
  }
  s->row_count++;
  put_value(&s->lines, line);
  for (size_t i = 0; i < s->cell_count; i++) keep(s, s->places[i], &cells[i], numbers[i]);
}

// A list of nothing but numbers is clear without its header: a first line of digits is the first row.
static bool is_without_header(const struct sheet *s, const struct csv_cell *cells, size_t count)
{
  if (s->columns->count != 1 || s->columns->items[0].kind != SHEET_INT || count != 1 || cells[0].len == 0) return false;
  for (size_t i = 0; i < cells[0].len; i++) {
    if (cells[0].bytes[i] < '0' || cells[0].bytes[i] > '9') return false;
  }
  return true;
}

static void take_first_line(struct sheet *s, int64_t line, const struct csv_cell *cells, size_t count)
{
  if (!is_without_header(s, cells, count)) {
    take_header(s, line, cells, count);
    return;
  }
  s->has_header = true;
  s->places[s->cell_count++] = 0;
  take_row(s, line, cells, count);
}

static void on_row(void *ctx, int64_t line, const struct csv_cell *cells, size_t count)
{
  struct sheet *s = ctx;
  if (s->is_broken) return;
  if (!s->has_header)
    take_first_line(s, line, cells, count);
  else if (sheet_rows(s) == SHEET_ROWS_MAX)
    break_off(s, line, "a file has at most 1000000 rows");
  else
    take_row(s, line, cells, count);
}

// --- the sheet

void sheet_init(struct sheet *s, const struct sheet_columns *columns)
{
  *s = (struct sheet){.columns = columns};
  s->reader = csv_reader_new(on_row, s);
  for (size_t i = 0; i < SHEET_COLUMNS_MAX; i++) {
    buf_init(&s->values[i], SHEET_ROWS_MAX * sizeof(int64_t));
    buf_init(&s->texts[i], SHEET_BYTES_MAX);
  }
  buf_init(&s->lines, SHEET_ROWS_MAX * sizeof(int64_t));
  buf_init(&s->bad, SHEET_TOLD_MAX * 2 * REASON_BYTES);
  buf_putc(&s->bad, '[');
}

void sheet_release(struct sheet *s)
{
  csv_reader_free(s->reader);
  for (size_t i = 0; i < SHEET_COLUMNS_MAX; i++) {
    buf_release(&s->values[i]);
    buf_release(&s->texts[i]);
  }
  buf_release(&s->lines);
  buf_release(&s->bad);
}

static void judge(struct sheet *s, enum result result)
{
  if (result == RESULT_OK) return;
  break_off(s, csv_reader_line(s->reader),
            result == RESULT_TOO_BIG ? "the row is longer than 1 MiB: is a quote not closed?"
                                     : "a quote is not closed, or stands in the middle of a cell");
}

void sheet_feed(struct sheet *s, const char *bytes, size_t len)
{
  if (!s->is_broken) judge(s, csv_reader_feed(s->reader, bytes, len));
}

void sheet_end(struct sheet *s)
{
  if (!s->is_broken) judge(s, csv_reader_end(s->reader));
  for (size_t i = 0; i < SHEET_COLUMNS_MAX; i++)  // a note grows when it becomes JSON
    if (buf_result(&s->texts[i]) != RESULT_OK) break_off(s, csv_reader_line(s->reader), "the list is too large");
  if (!s->has_header) break_off(s, 1, "the file is empty: its first line names the columns");
  buf_putc(&s->bad, ']');
}

size_t sheet_rows(const struct sheet *s) { return s->row_count + s->bad_count; }

static int64_t value_at(const struct buf *values, size_t row)
{
  int64_t value = 0;
  memcpy(&value, values->data + row * sizeof value, sizeof value);
  return value;
}

static void put_texts(const struct buf *values, const struct buf *texts, size_t count, struct db_args *args)
{
  int64_t begin = 0;
  db_args_array(args, DB_ARRAY_TEXT);
  for (size_t row = 0; row < count; row++) {
    int64_t value = value_at(values, row), end = value >= 0 ? value : -1 - value;
    if (value >= 0)
      db_args_array_text(args, texts->data + begin, (size_t)(end - begin));
    else
      db_args_array_null(args);
    begin = end;
  }
  db_args_array_end(args);
}

static void put_numbers(const struct buf *values, size_t count, enum db_array_type type, struct db_args *args)
{
  db_args_array(args, type);
  for (size_t row = 0; row < count; row++) db_args_array_i64(args, value_at(values, row));
  db_args_array_end(args);
}

void sheet_put(const struct sheet *s, size_t column, struct db_args *args)
{
  if (!has_column(s, column))
    db_args_null(args);
  else if (s->columns->items[column].kind == SHEET_INT)
    put_numbers(&s->values[column], s->row_count, DB_ARRAY_INT8, args);
  else
    put_texts(&s->values[column], &s->texts[column], s->row_count, args);
}

void sheet_put_lines(const struct sheet *s, struct db_args *args)
{
  put_numbers(&s->lines, s->row_count, DB_ARRAY_INT4, args);
}
