// SPDX-License-Identifier: Apache-2.0
// Fuzzes lists in CSV: no input crashes, pieces of any size give the same as the whole, what is told of rejected rows
// is JSON, and what is accepted fits the statement's arguments. libFuzzer entry; one thread.
#include <stdlib.h>
#include <string.h>

#include "common/jsonx.h"
#include "scheduler/import_target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CHECK(condition)       \
  do {                         \
    if (!(condition)) abort(); \
  } while (0)

static void read_all(struct sheet *s, enum import_what what, const char *bytes, size_t len, size_t piece)
{
  sheet_init(s, &import_target_of(what)->columns);
  for (size_t at = 0; at < len; at += piece) sheet_feed(s, bytes + at, len - at < piece ? len - at : piece);
  sheet_end(s);
}

static void check_rejected(const struct sheet *s)
{
  json_t *list = NULL;
  CHECK(buf_result(&s->bad) == RESULT_OK);
  CHECK(jsonx_parse(s->bad.data, s->bad.len, &list, NULL) == RESULT_OK);
  CHECK(json_array_size(list) == (s->bad_count < SHEET_TOLD_MAX ? s->bad_count : SHEET_TOLD_MAX));
  json_decref(list);
}

static void check_arguments(enum import_what what, const struct sheet *s)
{
  struct db_args args;
  db_args_init(&args);
  import_target_of(what)->put_args(s, "code", &(struct web_import_by){"actor", NULL}, &args);
  CHECK(buf_result(&args.bytes) == RESULT_OK);
  db_args_release(&args);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  if (size < 2) return 0;
  enum import_what what = (enum import_what)(data[size - 1] % 3);
  size_t piece = 1 + data[size - 2] % 16;
  struct sheet whole, pieces;
  read_all(&whole, what, (const char *)data, size, size);
  read_all(&pieces, what, (const char *)data, size, piece);
  CHECK(whole.row_count == pieces.row_count && whole.bad_count == pieces.bad_count);
  CHECK(strcmp(buf_text(&whole.bad), buf_text(&pieces.bad)) == 0);
  check_rejected(&whole);
  if (whole.bad_count == 0) check_arguments(what, &pieces);
  sheet_release(&whole);
  sheet_release(&pieces);
  return 0;
}
