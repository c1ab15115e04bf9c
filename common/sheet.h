// SPDX-License-Identifier: Apache-2.0
// A CSV file as arguments of one statement: the header is matched with the columns that are known, each row is checked,
// the good ones are kept column by column, the bad ones are told with line and reason.
// Owner: the import; pure, any thread.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/buf.h"
#include "common/csv_in.h"
#include "common/db.h"
#include "common/result.h"

#define SHEET_BYTES_MAX   (64 * 1024 * 1024)  // of a file
#define SHEET_ROWS_MAX    1000000
#define SHEET_COLUMNS_MAX 4
#define SHEET_TOLD_MAX    100  // rejected rows that are told; the rest is counted

enum sheet_kind {
  SHEET_INT,    // from min to max, without leading zeros; rule: what is said of anything else
  SHEET_KEY,    // an idempotency key
  SHEET_TEXT,   // UTF-8 up to max characters; empty: none
  SHEET_EXTRA,  // a JSON object, or a note that is kept as JSON text; empty: none
};
struct sheet_column {
  const char *name;  // in the header, as it stands
  enum sheet_kind kind;
  bool required;
  int64_t min, max;
  const char *rule;
};
struct sheet_columns {
  struct sheet_column items[SHEET_COLUMNS_MAX];
  size_t count;
};

struct sheet {
  const struct sheet_columns *columns;
  struct csv_reader *reader;
  bool has_header;
  size_t places[CSV_CELLS_MAX];  // which column each cell of a row is
  size_t cell_count;
  struct buf values[SHEET_COLUMNS_MAX];  // int64: the numbers; or where each text ends, −1 − that for none
  struct buf texts[SHEET_COLUMNS_MAX];
  struct buf lines;  // int64
  size_t row_count;  // good ones
  size_t bad_count;
  struct buf bad;  // JSON text: [{"line": 3, "reason": "…"}, …]; closed by sheet_end
  bool is_broken;  // what follows cannot be read
};
void sheet_init(struct sheet *s, const struct sheet_columns *columns);
void sheet_release(struct sheet *s);
// A piece of the file, of any size; without effect once the sheet is broken.
void sheet_feed(struct sheet *s, const char *bytes, size_t len);
void sheet_end(struct sheet *s);
// Something about the file as a whole.
void sheet_reject(struct sheet *s, int64_t line, const char *reason);
size_t sheet_rows(const struct sheet *s);  // read, without the header

// The next argument: a column as an array, null if the file has no such column; the lines as an array of int4.
void sheet_put(const struct sheet *s, size_t column, struct db_args *args);
void sheet_put_lines(const struct sheet *s, struct db_args *args);
