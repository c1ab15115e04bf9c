// SPDX-License-Identifier: Apache-2.0
// CSV as people's programs write it, whole and in pieces of every size.
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "common/buf.h"
#include "common/csv_in.h"
#include "common/mem.h"

// A row as "line:[cell][cell]".
static void on_row(void *ctx, int64_t line, const struct csv_cell *cells, size_t count)
{
  struct buf *out = ctx;
  buf_printf(out, "%lld:", (long long)line);
  for (size_t i = 0; i < count && i < CSV_CELLS_MAX; i++) {
    assert_int_equal(cells[i].bytes[cells[i].len], 0);
    buf_putc(out, '[');
    buf_append(out, cells[i].bytes, cells[i].len);
    buf_putc(out, ']');
  }
  if (count > CSV_CELLS_MAX) buf_printf(out, "+%zu", count - CSV_CELLS_MAX);
  buf_putc(out, ' ');
}

static enum result read_in_pieces(const char *text, size_t len, size_t piece, struct buf *out, int64_t *out_line)
{
  struct csv_reader *r = csv_reader_new(on_row, out);
  enum result result = RESULT_OK;
  for (size_t at = 0; at < len && result == RESULT_OK; at += piece)
    result = csv_reader_feed(r, text + at, len - at < piece ? len - at : piece);
  if (result == RESULT_OK) result = csv_reader_end(r);
  *out_line = csv_reader_line(r);
  csv_reader_free(r);
  return result;
}

static void assert_read(const char *text, enum result expected, int64_t line, const char *rows)
{
  for (size_t piece = 1; piece <= strlen(text) + 1; piece++) {
    struct buf out;
    int64_t at = 0;
    buf_init(&out, 1 << 16);
    enum result result = read_in_pieces(text, strlen(text), piece, &out, &at);
    assert_int_equal(result, expected);
    assert_string_equal(buf_text(&out), rows);
    if (expected != RESULT_OK) assert_int_equal(at, line);
    buf_release(&out);
  }
}

// B86: as a spreadsheet saves it.
static void marks_line_ends_and_a_missing_last_one(void **state)
{
  (void)state;
  assert_read(
      "\xEF\xBB\xBF"
      "userId,source\r\n1,a\r\n2,b",
      RESULT_OK, 0, "1:[userId][source] 2:[1][a] 3:[2][b] ");
  assert_read("a\n1\n2\n", RESULT_OK, 0, "1:[a] 2:[1] 3:[2] ");
  assert_read("a\r1\r2", RESULT_OK, 0, "1:[a] 2:[1] 3:[2] ");
  assert_read("\n\r\na\n\n\n  \n1\r\n\r\n2", RESULT_OK, 0, "3:[a] 7:[1] 9:[2] ");
  assert_read("", RESULT_OK, 0, "");
  assert_read("\xEF\xBB\xBF", RESULT_OK, 0, "");
  assert_read(
      "\xEF\xBB"
      "a\n",
      RESULT_OK, 0,
      "1:[\xEF\xBB"
      "a] ");
  assert_read(
      "a\n\xEF\xBB\xBF"
      "b\n",
      RESULT_OK, 0,
      "1:[a] 2:[\xEF\xBB\xBF"
      "b] ");
}

// B87: rows are not lines.
static void quoted_cells_hold_anything(void **state)
{
  (void)state;
  assert_read("1,\"a\nb, \"\"c\"\"\",x\n2,y,z\n", RESULT_OK, 0, "1:[1][a\nb, \"c\"][x] 3:[2][y][z] ");
  assert_read("\"\r\n\r\n\",1\r\n2,3\r\n", RESULT_OK, 0, "1:[\r\n\r\n][1] 4:[2][3] ");
  assert_read(" 1 , \" x \" ,\n", RESULT_OK, 0, "1:[1][ x ][] ");
  assert_read("\"\",,\"\"\n", RESULT_OK, 0, "1:[][][] ");
}

static void a_broken_quote_names_its_line(void **state)
{
  (void)state;
  assert_read("h\n1\n\"2\n3\n4\n", RESULT_INVALID, 3, "1:[h] 2:[1] ");
  assert_read("h\n\"1\n2\n\"3\",x\n", RESULT_INVALID, 2, "1:[h] ");
  assert_read("h\n\"a\nb\"\n1,x\"y\n", RESULT_INVALID, 4, "1:[h] 2:[a\nb] ");
  assert_read("h\n1\n\"2\"3\n", RESULT_INVALID, 3, "1:[h] 2:[1] ");
}

static void nothing_grows_without_end(void **state)
{
  (void)state;
  struct buf out;
  int64_t line = 0;
  buf_init(&out, 4 << 20);
  size_t len = CSV_ROW_BYTES_MAX + 100;
  char *text = mem_resize(NULL, len, 1);
  memset(text, 'x', len);
  memcpy(text, "h\n\"", 3);
  assert_int_equal(read_in_pieces(text, len, 65536, &out, &line), RESULT_TOO_BIG);
  assert_int_equal(line, 2);
  // As large as allowed, and many cells.
  buf_clear(&out);
  assert_int_equal(read_in_pieces(text + 3, CSV_ROW_BYTES_MAX - 1, 65536, &out, &line), RESULT_OK);
  assert_int_equal(out.len, CSV_ROW_BYTES_MAX - 1 + 5);
  buf_clear(&out);
  memset(text, ',', CSV_CELLS_MAX + 7);
  text[CSV_CELLS_MAX + 7] = '\n';
  assert_int_equal(read_in_pieces(text, CSV_CELLS_MAX + 8, 7, &out, &line), RESULT_OK);
  assert_non_null(strstr(buf_text(&out), "[]+8 "));
  mem_free(text);
  buf_release(&out);
}

static void another_character_may_stand_between_columns(void **state)
{
  (void)state;
  struct buf out;
  buf_init(&out, 100);
  struct csv_reader *r = csv_reader_new(on_row, &out);
  csv_reader_set_delimiter(r, '\t');
  assert_int_equal(csv_reader_feed(r, "a,b\t\"c\td\"\t\te\n", 13), RESULT_OK);
  assert_int_equal(csv_reader_end(r), RESULT_OK);
  assert_string_equal(buf_text(&out), "1:[a,b][c\td][][e] ");
  csv_reader_free(r);
  buf_release(&out);
}

static void a_nul_is_a_byte_of_its_cell(void **state)
{
  (void)state;
  struct buf out;
  int64_t line = 0;
  buf_init(&out, 100);
  assert_int_equal(read_in_pieces("a\0b,c\n", 6, 2, &out, &line), RESULT_OK);
  assert_int_equal(out.len, 11);
  assert_memory_equal(buf_text(&out), "1:[a\0b][c] ", 11);
  buf_release(&out);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(marks_line_ends_and_a_missing_last_one),
      cmocka_unit_test(quoted_cells_hold_anything),
      cmocka_unit_test(a_broken_quote_names_its_line),
      cmocka_unit_test(nothing_grows_without_end),
      cmocka_unit_test(another_character_may_stand_between_columns),
      cmocka_unit_test(a_nul_is_a_byte_of_its_cell),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
