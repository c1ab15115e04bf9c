// SPDX-License-Identifier: Apache-2.0
// The file of an archived activity: lines of JSON, compressed with gzip. The first names the activity, the last is the
// manifest; between them, table by table, one line {"table":…,"row":…} per row. The manifest counts each table's rows
// and has the SHA-256 of their texts, each ended by a line feed. Owner: the command; blocking.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/limits.h"
#include "common/result.h"
#include "common/text.h"

#define ARCHIVE_TABLES_MAX     64
#define ARCHIVE_ROW_BYTES_MAX  (64u * 1024u * 1024u)
#define ARCHIVE_WHY_BYTES      512
#define ARCHIVE_HEX_BYTES      65  // of a SHA-256, with NUL
#define ARCHIVE_TABLE_NAME_MAX 63

struct archive_table {
  char name[ARCHIVE_TABLE_NAME_MAX + 1];
  int64_t rows;
  char sha256[ARCHIVE_HEX_BYTES];
};

// What a file says, and what it is.
struct archive_contents {
  int64_t activity_id;
  char code[CODE_BYTES_MAX + 1];
  char month[8];  // "2026-11", of the activity's partition
  char exported_at[TEXT_TIME_BYTES];
  struct archive_table tables[ARCHIVE_TABLES_MAX];
  size_t table_count;
  int64_t rows;
  int64_t bytes;  // of the file, and its sum
  char sha256[ARCHIVE_HEX_BYTES];
};
bool archive_is_month(const char *text);                                                                  // "2026-11"
const struct archive_table *archive_table_of(const struct archive_contents *contents, const char *name);  // or NULL

// --- counting

// Counts and sums rows, table by table, into contents.
struct archive_sums;
struct archive_sums *archive_sums_new(struct archive_contents *contents);
void archive_sums_free(struct archive_sums *sums);  // NULL is allowed
// RESULT_TOO_BIG: too many tables, or a name that is too long.
MUST_CHECK enum result archive_sums_table(struct archive_sums *sums, const char *name, size_t len);
void archive_sums_row(struct archive_sums *sums, const char *row, size_t len);
void archive_sums_end(struct archive_sums *sums);  // of the last table

// --- a file

struct archive_writer;
// Creates the file and writes what contents says of the activity.
MUST_CHECK enum result archive_writer_open(const char *path, const struct archive_contents *contents,
                                           struct archive_writer **out_writer, char out_why[ARCHIVE_WHY_BYTES]);
void archive_writer_row(struct archive_writer *w, const char *table, const char *row, size_t len);
// The manifest. The file is on the disk; the writer is gone, also after a failure.
MUST_CHECK enum result archive_writer_end(struct archive_writer *w, const struct archive_contents *contents,
                                          char out_why[ARCHIVE_WHY_BYTES]);
void archive_writer_free(struct archive_writer *w);  // without an end; NULL is allowed

// Reads a file from its beginning to its end, counts everything again and compares with its manifest.
// RESULT_UNAVAILABLE: it cannot be read; RESULT_INVALID: it is not whole, or not what its manifest says.
MUST_CHECK enum result archive_file_check(const char *path, struct archive_contents *out_contents,
                                          char out_why[ARCHIVE_WHY_BYTES]);
