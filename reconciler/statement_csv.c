// SPDX-License-Identifier: Apache-2.0
// Statements in CSV: lines before the header, the header, rows, and rows at the end that are no movements.
// Owner: the reader's; any one thread.
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/csv_in.h"
#include "common/mem.h"
#include "common/text.h"
#include "reconciler/statement_part.h"

#define FOOTERS_MAX 8
#define ROW_MAX     (CSV_ROW_BYTES_MAX + 1024)

// A row that may be one of the last ones: it is only known when enough others have come.
struct held_row {
  int64_t line;
  struct buf bytes;
  size_t count, ends[CSV_CELLS_MAX];
};

struct statement_csv {
  struct statement_sink *sink;
  struct csv_reader *reader;
  int64_t skipped;                  // lines before the header
  bool after_cr;                    // that of one of them
  bool has_header;                  // it has been read, or there is none
  size_t width;                     // columns of the header; 0: there is none
  size_t places[STATEMENT_FIELDS];  // from 1; 0: there is none
  size_t footers;
  struct held_row held[FOOTERS_MAX];
  size_t held_first, held_count;
};

static bool names(struct csv_cell cell, const char *name)
{
  while (cell.len > 0 && (cell.bytes[cell.len - 1] == ' ' || cell.bytes[cell.len - 1] == '\t')) cell.len--;
  return strlen(name) == cell.len && memcmp(cell.bytes, name, cell.len) == 0;
}

static bool is_number(const char *text, size_t *out_place)
{
  int64_t n = 0;
  if (text_to_i64(text, strlen(text), &n) != RESULT_OK || n < 1 || n > CSV_CELLS_MAX) return false;
  *out_place = (size_t)n;
  return true;
}

// A column is called by its name; what is no name in the header may be its number.
static void find_column(struct statement_csv *c, size_t field, int64_t line, const struct csv_cell *cells, size_t count)
{
  char why[STATEMENT_WHY_BYTES];
  const char *name = c->sink->profile->conf->columns[field];
  if (name == NULL) return;
  for (size_t i = 0; i < count && i < CSV_CELLS_MAX; i++) {
    if (!names(cells[i], name)) continue;
    if (c->places[field] != 0) {
      (void)snprintf(why, sizeof why, "the header has the column '%.100s' twice", name);
      (void)statement_sink_refuse(c->sink, line, why);
    }
    c->places[field] = i + 1;
  }
  if (c->places[field] != 0 || is_number(name, &c->places[field])) return;
  (void)snprintf(why, sizeof why, "the header has no column '%.100s'", name);
  (void)statement_sink_refuse(c->sink, line, why);
}

// What stands behind the header's columns has slipped there: a sign between digits, or a text with the delimiter, that
// is not quoted. Empty cells are only badly written.
static bool is_too_wide(const struct statement_csv *c, const struct csv_cell *cells, size_t count)
{
  if (c->width == 0) return false;
  for (size_t i = c->width; i < count && i < CSV_CELLS_MAX; i++)
    if (!names(cells[i], "")) return true;
  return count > CSV_CELLS_MAX;
}

static void take_row(struct statement_csv *c, int64_t line, const struct csv_cell *cells, size_t count)
{
  struct statement_text fields[STATEMENT_FIELDS] = {{NULL, 0}};
  char why[STATEMENT_WHY_BYTES];
  if (is_too_wide(c, cells, count)) {
    (void)snprintf(why, sizeof why, "the row has %zu columns, the header has %zu", count, c->width);
    (void)statement_sink_refuse(c->sink, line, why);
    return;
  }
  for (size_t i = 0; i < STATEMENT_FIELDS; i++) {
    size_t place = c->places[i];
    if (place == 0) continue;
    if (place > count) {
      (void)snprintf(why, sizeof why, "the row has %zu columns, %.100s is the %zu.", count,
                     c->sink->profile->conf->columns[i], place);
      (void)statement_sink_refuse(c->sink, line, why);
      return;
    }
    fields[i] = (struct statement_text){cells[place - 1].bytes, cells[place - 1].len};
  }
  statement_sink_fields(c->sink, fields, line);
}

static size_t cells_of(const struct held_row *row, struct csv_cell cells[CSV_CELLS_MAX])
{
  size_t begin = 0, count = row->count < CSV_CELLS_MAX ? row->count : CSV_CELLS_MAX;
  for (size_t i = 0; i < count; i++) {
    cells[i] = (struct csv_cell){row->bytes.data + begin, row->ends[i] - begin - 1};
    begin = row->ends[i];
  }
  return row->count;
}

static void hold(struct held_row *row, int64_t line, const struct csv_cell *cells, size_t count)
{
  buf_clear(&row->bytes);
  row->line = line;
  row->count = count;
  for (size_t i = 0; i < count && i < CSV_CELLS_MAX; i++) {
    buf_append(&row->bytes, cells[i].bytes, cells[i].len);
    buf_putc(&row->bytes, '\0');
    row->ends[i] = row->bytes.len;
  }
}

static void hand_on(struct statement_csv *c, int64_t line, const struct csv_cell *cells, size_t count)
{
  struct csv_cell earlier[CSV_CELLS_MAX];
  if (c->footers == 0) {
    take_row(c, line, cells, count);
    return;
  }
  if (c->held_count == c->footers) {
    struct held_row *first = &c->held[c->held_first];
    take_row(c, first->line, earlier, cells_of(first, earlier));
    c->held_first = (c->held_first + 1) % c->footers;
    c->held_count--;
  }
  hold(&c->held[(c->held_first + c->held_count) % c->footers], line, cells, count);
  c->held_count++;
}

static void on_row(void *ctx, int64_t line, const struct csv_cell *cells, size_t count)
{
  struct statement_csv *c = ctx;
  const struct statement_conf *conf = c->sink->profile->conf;
  size_t comment = strlen(conf->comment);
  if (c->sink->result != RESULT_OK) return;
  if (comment > 0 && count > 0 && cells[0].len >= comment && memcmp(cells[0].bytes, conf->comment, comment) == 0)
    return;
  if (c->has_header) {
    hand_on(c, line, cells, count);
    return;
  }
  c->has_header = true;
  c->width = count;
  for (size_t i = 0; i < STATEMENT_FIELDS; i++) {
    find_column(c, i, line, cells, count);
    if (c->places[i] > c->width) c->width = c->places[i];  // by its number, without a name
  }
}

struct statement_csv *statement_csv_new(struct statement_sink *sink)
{
  struct statement_csv *c = MEM_NEW(struct statement_csv);
  const struct statement_conf *conf = sink->profile->conf;
  c->sink = sink;
  c->reader = csv_reader_new(on_row, c);
  csv_reader_set_delimiter(c->reader, sink->profile->delimiter);
  csv_reader_set_line(c->reader, conf->skip_lines + 1);
  c->footers = (size_t)conf->footer_rows;
  for (size_t i = 0; i < FOOTERS_MAX; i++) buf_init(&c->held[i].bytes, ROW_MAX);
  c->has_header = !conf->header;
  for (size_t i = 0; c->has_header && i < STATEMENT_FIELDS; i++) {
    if (conf->columns[i] != NULL) (void)is_number(conf->columns[i], &c->places[i]);
  }
  return c;
}

void statement_csv_free(struct statement_csv *c)
{
  if (c == NULL) return;
  csv_reader_free(c->reader);
  for (size_t i = 0; i < FOOTERS_MAX; i++) buf_release(&c->held[i].bytes);
  mem_free(c);
}

static void judge(struct statement_csv *c, enum result result)
{
  int64_t line = csv_reader_line(c->reader);
  if (result == RESULT_INVALID)
    (void)statement_sink_refuse(c->sink, line, "a quote that is not closed, or stands within a value");
  if (result == RESULT_TOO_BIG) (void)statement_sink_refuse(c->sink, line, "a row without an end");
}

// The lines before the header are prose: a quote in them means nothing. Returns how many of the bytes are theirs.
static size_t skip_lines(struct statement_csv *c, const char *bytes, size_t len)
{
  size_t i = 0;
  for (; i < len; i++) {
    bool is_rest = c->after_cr && bytes[i] == '\n';  // CRLF is one end
    if (!is_rest && c->skipped == c->sink->profile->conf->skip_lines) break;
    c->after_cr = bytes[i] == '\r';
    if (!is_rest && (bytes[i] == '\n' || bytes[i] == '\r')) c->skipped++;
  }
  if (i < len) c->after_cr = false;
  return i;
}

void statement_csv_feed(struct statement_csv *c, const char *bytes, size_t len)
{
  size_t skipped = skip_lines(c, bytes, len);
  if (c->sink->result == RESULT_OK) judge(c, csv_reader_feed(c->reader, bytes + skipped, len - skipped));
}

// --- the end

static bool trailer_cell(struct statement_csv *c, const struct held_row *row, int64_t place, struct statement_text *out)
{
  struct csv_cell cells[CSV_CELLS_MAX];
  size_t count = cells_of(row, cells);
  if (place == 0) return false;
  if ((size_t)place > count) {
    (void)statement_sink_refuse(c->sink, row->line, "the trailer has fewer columns than the profile says");
    return false;
  }
  *out = (struct statement_text){cells[place - 1].bytes, cells[place - 1].len};
  return true;
}

static void check_trailer(struct statement_csv *c, const struct held_row *row)
{
  char why[STATEMENT_WHY_BYTES];
  struct statement_sink *s = c->sink;
  struct statement_text cell;
  const struct statement_trailer_conf *conf = &s->profile->conf->trailer;
  int64_t count = 0, total = 0;
  if (trailer_cell(c, row, conf->count, &cell)) {
    while (cell.len > 0 && (*cell.bytes < '0' || *cell.bytes > '9'))
      cell = (struct statement_text){cell.bytes + 1, cell.len - 1};
    if (text_to_i64(cell.bytes, cell.len, &count) != RESULT_OK || count != s->lines) {
      (void)snprintf(why, sizeof why, "the trailer says %.*s rows, there are %" PRId64,
                     (int)(cell.len < 40 ? cell.len : 40), cell.bytes, s->lines);
      (void)statement_sink_refuse(s, row->line, why);
    }
  }
  if (s->result != RESULT_OK || !trailer_cell(c, row, conf->total, &cell)) return;
  if (statement_profile_total(s->profile, cell, s->currency, &total, why) != RESULT_OK) {
    (void)statement_sink_refuse(s, row->line, why);
  } else if (!s->has_total || total != s->total) {
    (void)snprintf(why, sizeof why,
                   "the trailer's total is %" PRId64 ", the sum of the amounts %" PRId64 " minor units", total,
                   s->total);
    (void)statement_sink_refuse(s, row->line, why);
  }
}

void statement_csv_end(struct statement_csv *c)
{
  judge(c, csv_reader_end(c->reader));
  if (c->sink->result != RESULT_OK) return;
  if (!c->has_header) (void)statement_sink_refuse(c->sink, 0, "there is no header: the file is empty");
  const struct statement_trailer_conf *trailer = &c->sink->profile->conf->trailer;
  if (c->held_count < c->footers)
    (void)statement_sink_refuse(c->sink, csv_reader_line(c->reader),
                                "there are fewer rows than the profile's footer has");
  else if (trailer->count > 0 || trailer->total > 0)
    check_trailer(c, &c->held[(c->held_first + (size_t)trailer->row - 1) % c->footers]);
}
