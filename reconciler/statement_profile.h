// SPDX-License-Identifier: Apache-2.0
// What the fields of one line mean by a profile: pure, no I/O. A profile points into the configuration it was made of.
// Owner: whoever compiled it; any thread.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/money.h"
#include "common/result.h"
#include "reconciler/statement_config.h"

#define STATEMENT_WHY_BYTES     320
#define STATEMENT_WORDS_MAX     64
#define STATEMENT_TEXT_MAX      200  // bytes of an id in a line
#define STATEMENT_CURRENCY_SIZE 4

enum statement_kind { KIND_BY_REQUEST_ID, KIND_CREDIT, KIND_REVERSE, KIND_PAYMENT, KIND_REFUND, KIND_IGNORED };
enum statement_status { STATUS_DONE, STATUS_PENDING, STATUS_FAILED, STATUS_IGNORED };

struct statement_words {
  const char *words[STATEMENT_WORDS_MAX];
  int meanings[STATEMENT_WORDS_MAX];
  size_t count;
  int others;  // -1: there are none
};
struct statement_profile {
  const char *name;  // the provider's
  const struct statement_conf *conf;
  char delimiter;
  struct money_signs signs;
  struct statement_words types, statuses;
  bool is_local;  // times are those of the clocks in the profile's zone
  bool has_fraction;
};

// A field as it stands in the file, UTF-8; bytes NULL: it is not there.
struct statement_text {
  const char *bytes;
  size_t len;
};
struct statement_line {
  int64_t line;
  struct statement_text request_id, user, ref;
  bool has_claim, has_amount, has_at;
  int64_t activity_id, claim_id;
  enum statement_kind kind;
  enum statement_status status;
  int64_t amount;         // what moved, whichever way
  int64_t signed_amount;  // as it stands there
  char currency[STATEMENT_CURRENCY_SIZE];
  int64_t at_us;  // since 1970, in UTC or, is_local, as clocks showed it
};

// RESULT_INVALID: out_fault has one line "key: reason", relative to the block.
MUST_CHECK enum result statement_profile_compile(const char *name, const struct statement_conf *conf,
                                                 struct statement_profile *out_profile, struct conf_fault *out_fault);
// All profiles of a configuration: out_fault has file, line and key.
MUST_CHECK enum result statement_profile_check_all(const struct conf_map *profiles, const char *file,
                                                   struct conf_fault *out_fault);
// NULL: no such profile.
const struct statement_conf *statement_profile_find(const struct conf_map *profiles, const char *name);

// RESULT_INVALID: out_why says which column and why.
MUST_CHECK enum result statement_profile_line(const struct statement_profile *p,
                                              const struct statement_text fields[STATEMENT_FIELDS], int64_t line,
                                              struct statement_line *out_line, char out_why[STATEMENT_WHY_BYTES]);
// The total in a trailer, by the profile's signs and unit.
MUST_CHECK enum result statement_profile_total(const struct statement_profile *p, struct statement_text text,
                                               const char *currency, int64_t *out_total,
                                               char out_why[STATEMENT_WHY_BYTES]);

const char *statement_kind_name(enum statement_kind kind);
const char *statement_status_name(enum statement_status status);
bool statement_is_date(const char *text);  // "2026-11-29"
