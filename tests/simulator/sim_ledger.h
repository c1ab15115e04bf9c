// SPDX-License-Identifier: Apache-2.0
// The simulated provider's books: one entry per request id with what was asked, how often, and what took effect. Pure:
// no clock, no I/O. Entries live in chunks and texts in an arena, so pointers to entries stay valid until
// sim_ledger_reset.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/clk.h"
#include "common/result.h"

#define SIM_REQUEST_ID_BYTES_MAX 128
#define SIM_USER_ID_BYTES_MAX    64
#define SIM_REWARD_BYTES_MAX     128
#define SIM_CURRENCY_BYTES_MAX   7
#define SIM_MERCHANT_BYTES_MAX   64

enum sim_kind { SIM_CREDIT, SIM_PAYMENT };
enum sim_status {
  SIM_NONE,     // asked for, nothing happened
  SIM_PENDING,  // accepted, money not moved yet
  SIM_SUCCESS,
  SIM_FAILED,
  SIM_CLOSED,  // a payment's order that can no longer be paid
};
enum sim_effect_type { SIM_EFFECT_CREDIT, SIM_EFFECT_PAYMENT, SIM_EFFECT_REVERSE, SIM_EFFECT_REFUND };

struct sim_text {
  const char *bytes;
  size_t len;
};

// What a POST /credits or /payments asks for. The texts are the caller's; the ledger copies them.
struct sim_order {
  struct sim_text request_id, user_id, reward_code, currency;
  int64_t amount;  // minor units
  int64_t quantity;
  struct sim_text merchant;  // whose account: callbacks go to this name at the caller; empty: the configured one
};

struct sim_entry {
  const char *texts;  // request id, user id, reward code, merchant, each with a NUL
  int64_t amount, quantity;
  uint32_t number;      // 1, 2, 3 … in the order of arrival
  uint32_t hash, next;  // chain of the bucket, by number; 0 ends it
  uint32_t hits;        // POSTs that asked for it
  uint32_t effects;     // times it was applied (a payment: orders made)
  uint32_t reversals;
  uint32_t reverse_hits;  // POSTs that asked for one
  uint32_t close_hits;    // POSTs that asked to close the order
  uint32_t first_effect;  // chain of its effects, by number; 0: none
  uint16_t in_flight;     // POSTs being handled now
  uint16_t coming;        // of these, the ones whose effect is still to come
  uint8_t kind, status;   // enum sim_kind, enum sim_status
  uint8_t request_len, user_len, reward_len;
  char currency[SIM_CURRENCY_BYTES_MAX + 1];
};

struct sim_effect {
  struct wall_time at;  // when the money moved; 0: it has not (an unpaid payment)
  const char *key;      // reverse and refund: the refund id; else NULL
  uint32_t entry;       // its entry's number
  uint32_t next;        // of the same entry
  uint32_t ordinal;     // 1st, 2nd … of its kind at this entry
  uint8_t type;         // enum sim_effect_type
  bool failed;          // a payment that was refused
};

struct sim_ledger_totals {
  uint64_t effects, reversals, duplicates;
};

struct sim_ledger;
struct sim_ledger *sim_ledger_new(size_t entries_max);
void sim_ledger_free(struct sim_ledger *l);  // NULL is allowed
void sim_ledger_reset(struct sim_ledger *l);

// Counts one POST and gives its entry, made when new. RESULT_FULL: too many entries, nothing counted. RESULT_CONFLICT:
// the id is known with another user, reward, amount or currency; the POST is counted.
MUST_CHECK enum result sim_ledger_hit(struct sim_ledger *l, enum sim_kind kind, const struct sim_order *o,
                                      struct sim_entry **out_entry);
struct sim_entry *sim_ledger_find(const struct sim_ledger *l, enum sim_kind kind, const char *request_id,
                                  size_t len);  // NULL: unknown

// Applies an entry once more, or (dedupe) only if it has not been applied. A credit moves money at once, a payment
// makes an order. False: nothing changed, because of dedupe or because the ledger is full.
bool sim_ledger_apply(struct sim_ledger *l, struct sim_entry *e, bool dedupe, struct wall_time at);
// What the person did at the pay page: SIM_SUCCESS or SIM_FAILED. Success is final, a failed payment may still succeed.
// What is closed stays so. False: nothing changed.
bool sim_ledger_settle(struct sim_ledger *l, struct sim_entry *e, enum sim_status status, struct wall_time at);
// Ends an order that is not paid, for good; again it changes nothing. RESULT_NOT_FOUND: there is no order;
// RESULT_CONFLICT: it is paid.
MUST_CHECK enum result sim_ledger_close(struct sim_entry *e);
// Takes an applied entry back. With dedupe a known refund id changes nothing. RESULT_NOT_FOUND: nothing was applied;
// RESULT_FULL.
MUST_CHECK enum result sim_ledger_reverse(struct sim_ledger *l, struct sim_entry *e, const char *refund_id, bool dedupe,
                                          struct wall_time at, uint32_t *out_ordinal);

// The ordinal of the reversal with this refund id; 0: none.
uint32_t sim_ledger_reversal(const struct sim_ledger *l, const struct sim_entry *e, const char *refund_id);

size_t sim_ledger_count(const struct sim_ledger *l);
size_t sim_ledger_effect_count(const struct sim_ledger *l);
struct sim_ledger_totals sim_ledger_totals(const struct sim_ledger *l);
struct sim_entry *sim_ledger_entry(const struct sim_ledger *l, size_t number);          // from 1
const struct sim_effect *sim_ledger_effect(const struct sim_ledger *l, size_t number);  // from 1, in the order of time

static inline const char *sim_entry_request(const struct sim_entry *e) { return e->texts; }
// What moves with it: of all units together; the most there is where that does not fit.
static inline int64_t sim_entry_total(const struct sim_entry *e)
{
  int64_t total = 0;
  return __builtin_mul_overflow(e->amount, e->quantity, &total) ? INT64_MAX : total;
}
static inline const char *sim_entry_user(const struct sim_entry *e) { return e->texts + e->request_len + 1; }
static inline const char *sim_entry_reward(const struct sim_entry *e)
{
  return e->texts + e->request_len + e->user_len + 2;
}
static inline const char *sim_entry_merchant(const struct sim_entry *e)
{
  return sim_entry_reward(e) + e->reward_len + 1;
}
