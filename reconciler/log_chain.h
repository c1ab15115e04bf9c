// SPDX-License-Identifier: Apache-2.0
// Proves the chain of the operator log, row by row: that each row is what it was when it was written, follows the one
// before it, and that none is missing. The hashes are reckoned here, not by the database that is under suspicion. Pure.
// Owner: the caller; any thread.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/result.h"
#include "common/signature.h"

#define LOG_HASH_BYTES  SIGNATURE_SHA256_BYTES
#define LOG_FAULT_BYTES 200

struct log_row {
  int64_t seq, at_us;  // microseconds since 1970
  const char *actor, *action, *target;
  const char *reason;  // NULL: none
  const char *detail;
  uint8_t before[LOG_HASH_BYTES], hash[LOG_HASH_BYTES];
};

struct log_anchor {  // what a row's hash was when somebody noted it elsewhere
  int64_t seq;       // 0: none
  uint8_t hash[LOG_HASH_BYTES];
};

struct log_chain {
  struct signature *signature;
  int64_t next;  // the number expected
  bool has_hash;
  uint8_t hash[LOG_HASH_BYTES];  // of the row before
  struct log_anchor anchor;
  int64_t fault_seq;
  char fault[LOG_FAULT_BYTES];  // "" while all is well
};

// from: the first row that will be given, 1 for the whole chain; what is before is then taken on trust.
void log_chain_init(struct log_chain *c, int64_t from, const struct log_anchor *anchor);
void log_chain_release(struct log_chain *c);
// The rows in their order. False: c->fault says what is wrong with the row fault_seq; no more is to be given.
bool log_chain_put(struct log_chain *c, const struct log_row *row);
// No more rows. head: number and hash of the newest row as the head of the log says; newest: the highest number there
// is.
bool log_chain_end(struct log_chain *c, const struct log_anchor *head, int64_t newest);
// A report that was made on that date notes another row of that number.
void log_chain_differs(struct log_chain *c, int64_t seq, const char *date);
// What a row's hash must be. RESULT_TOO_BIG: the row is larger than any that is written.
MUST_CHECK enum result log_chain_hash(struct signature *signature, const struct log_row *row,
                                      uint8_t out_hash[LOG_HASH_BYTES]);
// "17:9f86d0…" into an anchor. RESULT_INVALID.
MUST_CHECK enum result log_anchor_read(const char *text, struct log_anchor *out_anchor);
