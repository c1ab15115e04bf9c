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

#define IMPORT_BYTES_MAX   (64 * 1024 * 1024)  // of a file
#define IMPORT_ROWS_MAX    1000000
#define IMPORT_COLUMNS_MAX 4
#define IMPORT_TOLD_MAX    100  // rejected rows that are told; the rest is counted

enum import_kind {
  IMPORT_ID,      // 1 … 2^63−1
  IMPORT_NUMBER,  // 0 … 999,999,999,999
  IMPORT_AMOUNT,  // 1 … POINTS_GRANT_MAX
  IMPORT_KEY,     // an idempotency key
  IMPORT_TEXT,    // UTF-8 up to chars_max; empty: none
  IMPORT_EXTRA,   // a JSON object, or a note that is kept as JSON text; empty: none
};
struct import_column {
  const char *name;  // in the header, as it stands
  enum import_kind kind;
  bool required;
  size_t chars_max;  // of IMPORT_TEXT
};
struct import_columns {
  struct import_column items[IMPORT_COLUMNS_MAX];
  size_t count;
};

struct import_sheet {
  const struct import_columns *columns;
  struct csv_reader *reader;
  bool has_header;
  size_t places[CSV_CELLS_MAX];  // which column each cell of a row is
  size_t cell_count;
  struct buf values[IMPORT_COLUMNS_MAX];  // int64: the numbers; or where each text ends, −1 − that for none
  struct buf texts[IMPORT_COLUMNS_MAX];
  struct buf lines;  // int64
  size_t row_count;  // good ones
  size_t bad_count;
  struct buf bad;  // JSON text: [{"line": 3, "reason": "…"}, …]; closed by import_sheet_end
  bool is_broken;  // what follows cannot be read
};
void import_sheet_init(struct import_sheet *s, const struct import_columns *columns);
void import_sheet_release(struct import_sheet *s);
// A piece of the file, of any size; without effect once the sheet is broken.
void import_sheet_feed(struct import_sheet *s, const char *bytes, size_t len);
void import_sheet_end(struct import_sheet *s);
// Something about the file as a whole.
void import_sheet_reject(struct import_sheet *s, int64_t line, const char *reason);
size_t import_sheet_rows(const struct import_sheet *s);  // read, without the header

// The next argument: a column as an array, null if the file has no such column; the lines as an array of int4.
void import_sheet_put(const struct import_sheet *s, size_t column, struct db_args *args);
void import_sheet_put_lines(const struct import_sheet *s, struct db_args *args);
