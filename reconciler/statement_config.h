// SPDX-License-Identifier: Apache-2.0
// How the statements of one provider are written: a block of `reconciler.statements`.
// Owner: the configuration; read only.
#pragma once

#include "common/conf.h"

enum statement_format { STATEMENT_CSV, STATEMENT_JSON, STATEMENT_JSONL };
enum statement_field {
  STATEMENT_REQUEST_ID,
  STATEMENT_USER,
  STATEMENT_TYPE,
  STATEMENT_STATUS,
  STATEMENT_AMOUNT,
  STATEMENT_CURRENCY,
  STATEMENT_AT,
  STATEMENT_REF,
  STATEMENT_FIELDS
};

struct statement_trailer_conf {
  int64_t row;           // of the footer rows, from 1
  int64_t count, total;  // columns from 1; 0: not checked
};

struct statement_fetch_conf {
  char *url;                  // with ${date}, ${date_compact}; NULL: it is not fetched
  struct conf_pairs headers;  // with ${secret}
  char *secret;               // file
  char *at;                   // local time of the next day from which it can be had
  struct span total_timeout;
  struct span retry_every;
  int64_t catch_up;  // days that are looked back for
};

struct statement_conf {
  int format;
  char *items;  // JSON pointer to the array
  char *delimiter, *encoding;
  bool header;
  int64_t skip_lines, footer_rows;
  char *comment, *strip;
  char *columns[STATEMENT_FIELDS];  // header names, numbers from 1, or JSON pointers; NULL: there is none
  char *decimal, *grouping;
  int unit;  // 0: minor, 1: major
  char *currency;
  char *time_zone, *time_format;
  struct conf_pairs types, statuses;
  int positive, negative;  // kinds where there is no type
  struct conf_texts covers, fallback, shared_with;
  struct span grace;
  struct statement_trailer_conf trailer;
  struct statement_fetch_conf fetch;
};

const struct conf_table *statement_conf_table(void);
