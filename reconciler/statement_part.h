// SPDX-License-Identifier: Apache-2.0
// How the reader of statements and its formats work together. For the files of statement_read only.
#pragma once

#include "reconciler/statement_read.h"

struct statement_sink {
  const struct statement_profile *profile;
  statement_line_fn *on_line;
  void *ctx;
  int64_t lines;                           // handed on
  int64_t total;                           // of their amounts as they stand
  bool has_total;                          // false: it did not fit
  char currency[STATEMENT_CURRENCY_SIZE];  // of the latest
  enum result result;                      // the first that is not RESULT_OK ends it
  int64_t fault_line;
  char why[STATEMENT_WHY_BYTES + 64];
};

void statement_sink_fields(struct statement_sink *s, const struct statement_text fields[STATEMENT_FIELDS],
                           int64_t line);
// Remembers the first fault; returns it.
enum result statement_sink_refuse(struct statement_sink *s, int64_t line, const char *why);

struct statement_csv;
struct statement_csv *statement_csv_new(struct statement_sink *sink);
void statement_csv_free(struct statement_csv *c);
void statement_csv_feed(struct statement_csv *c, const char *bytes, size_t len);  // UTF-8; what is wrong is in the sink
void statement_csv_end(struct statement_csv *c);

struct statement_json;
struct statement_json *statement_json_new(struct statement_sink *sink);
void statement_json_free(struct statement_json *j);
void statement_json_feed(struct statement_json *j, const char *bytes, size_t len);
void statement_json_end(struct statement_json *j);
