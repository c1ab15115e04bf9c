// SPDX-License-Identifier: Apache-2.0
// Reading CSV with libcsv, line by line so that each row knows where it begins.
// Owner: the reader's; pure, any thread.
#include "common/csv_in.h"

#include <csv.h>
#include <stdbool.h>
#include <string.h>

#include "common/buf.h"
#include "common/contract.h"
#include "common/mem.h"

static const char byte_order_mark[] = {'\xEF', '\xBB', '\xBF'};

struct csv_reader {
  struct csv_parser parser;
  csv_row_fn *on_row;
  void *ctx;
  struct buf bytes;  // of the row's cells so far, each with a NUL behind it
  size_t ends[CSV_CELLS_MAX];
  size_t cell_count;
  size_t mark_len;  // bytes of the byte order mark seen; 4: the beginning is over
  bool in_row, after_cr;
  size_t row_bytes;
  int64_t line, row_line;
};

static void on_cell(void *bytes, size_t len, void *ctx)
{
  struct csv_reader *r = ctx;
  if (r->cell_count < CSV_CELLS_MAX) {
    if (len > 0) buf_append(&r->bytes, bytes, len);
    buf_putc(&r->bytes, '\0');
    r->ends[r->cell_count] = r->bytes.len;
  }
  r->cell_count++;
}

static void on_row_end(int terminator, void *ctx)
{
  (void)terminator;
  struct csv_reader *r = ctx;
  struct csv_cell cells[CSV_CELLS_MAX];
  for (size_t i = 0; i < r->cell_count && i < CSV_CELLS_MAX; i++) {
    size_t begin = i > 0 ? r->ends[i - 1] : 0;
    cells[i] = (struct csv_cell){r->bytes.data + begin, r->ends[i] - begin - 1};
  }
  r->on_row(r->ctx, r->row_line, cells, r->cell_count);
  buf_clear(&r->bytes);
  r->cell_count = 0;
  r->row_bytes = 0;
  r->in_row = false;
}

struct csv_reader *csv_reader_new(csv_row_fn *on_row, void *ctx)
{
  struct csv_reader *r = MEM_NEW(struct csv_reader);
  r->on_row = on_row;
  r->ctx = ctx;
  r->line = r->row_line = 1;
  buf_init(&r->bytes, CSV_ROW_BYTES_MAX + 2 * CSV_CELLS_MAX);
  ENSURE(csv_init(&r->parser, CSV_STRICT | CSV_STRICT_FINI) == 0);
  return r;
}

void csv_reader_set_delimiter(struct csv_reader *r, char delimiter)
{
  csv_set_delim(&r->parser, (unsigned char)delimiter);
}

void csv_reader_set_line(struct csv_reader *r, int64_t line) { r->line = r->row_line = line; }

void csv_reader_free(struct csv_reader *r)
{
  if (r == NULL) return;
  csv_free(&r->parser);
  buf_release(&r->bytes);
  mem_free(r);
}

int64_t csv_reader_line(const struct csv_reader *r) { return r->row_line; }

static bool is_blank(const char *bytes, size_t len)
{
  for (size_t i = 0; i < len; i++) {
    if (strchr(" \t\r\n", bytes[i]) == NULL || bytes[i] == '\0') return false;
  }
  return true;
}

// A line with its end, or a part of one: so at most one row ends in it.
static enum result feed_line(struct csv_reader *r, const char *bytes, size_t len)
{
  if (!r->in_row) r->row_line = r->line;
  r->in_row = r->in_row || !is_blank(bytes, len);
  r->row_bytes += len;
  if (r->row_bytes > CSV_ROW_BYTES_MAX) return RESULT_TOO_BIG;
  if (!r->in_row) r->row_bytes = 0;
  if (csv_parse(&r->parser, bytes, len, on_cell, on_row_end, r) == len) return RESULT_OK;
  ENSURE(csv_error(&r->parser) == CSV_EPARSE);  // all else is out of memory
  return RESULT_INVALID;
}

static size_t line_len(const char *bytes, size_t len)
{
  size_t i = 0;
  while (i < len && bytes[i] != '\n' && bytes[i] != '\r') i++;
  return i < len ? i + 1 : i;
}

static enum result feed(struct csv_reader *r, const char *bytes, size_t len)
{
  enum result result = RESULT_OK;
  while (result == RESULT_OK && len > 0) {
    size_t n = line_len(bytes, len);
    char last = bytes[n - 1];
    result = feed_line(r, bytes, n);
    // CRLF is one end: the line is counted at its CR.
    if (result == RESULT_OK && (last == '\r' || (last == '\n' && !(r->after_cr && n == 1)))) r->line++;
    r->after_cr = last == '\r';
    bytes += n;
    len -= n;
  }
  return result;
}

enum result csv_reader_feed(struct csv_reader *r, const char *bytes, size_t len)
{
  while (len > 0 && r->mark_len < sizeof byte_order_mark && *bytes == byte_order_mark[r->mark_len]) {
    r->mark_len++;
    bytes++;
    len--;
  }
  if (len == 0) return RESULT_OK;
  size_t held = r->mark_len < sizeof byte_order_mark ? r->mark_len : 0;  // it only began like a mark
  r->mark_len = sizeof byte_order_mark + 1;
  enum result result = held > 0 ? feed(r, byte_order_mark, held) : RESULT_OK;
  return result == RESULT_OK ? feed(r, bytes, len) : result;
}

enum result csv_reader_end(struct csv_reader *r)
{
  return csv_fini(&r->parser, on_cell, on_row_end, r) == 0 ? RESULT_OK : RESULT_INVALID;
}
