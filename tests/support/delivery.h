// SPDX-License-Identifier: Apache-2.0
// Deliveries from a test's side: a stack whose provider counts every POST as an effect, what became of a claim, and the
// books of the client, the database and the provider side by side. What goes wrong outside the thing under test ends
// the program.
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "tests/support/broker.h"
#include "tests/support/stack.h"

// Providers of the stack's configuration, with delays short enough for a test and breakers that never open:
//   simulator    calls end after 600 ms; rungs 800 ms, 1200 ms, 1600 ms, 2500 ms; 4 attempts
//   simulator-b  calls end after 4 s; rungs 1 s, 4 s; 6 attempts; 3 messages at a time, 6 calls over all fulfillers
#define DELIVERY_LANE       "largesse.issuing.simulator"
#define DELIVERY_LANE_B     "largesse.issuing.simulator-b"
#define DELIVERY_DEAD       "largesse.dead"
#define DELIVERY_ATTEMPTS   4
#define DELIVERY_PREFETCH_B 3

// The options' config is set here; the simulator's `dedupe` is off when this returns.
struct stack *delivery_stack(struct server *server, const struct stack_options *options);
void delivery_stop_simulator(struct stack *s);
void delivery_start_simulator(struct stack *s);  // again with `dedupe` off; the books begin anew

// For cmocka: a group's server, such a stack without a reconciler, and a session with its broker.
struct delivery_rig {
  struct server *server;
  struct stack *stack;
  struct broker *broker;
};
int delivery_set_up(void **state);
int delivery_tear_down(void **state);

// Claims one of the activity and returns its id. Ends the program if the claim is not accepted.
struct delivery_claim {
  char id[48];
};
struct delivery_claim delivery_claim(struct stack *s, const char *activity, int64_t user);
// A number or truth of the claim's row by an SQL expression over it; a null is 0.
int64_t delivery_int(struct stack *s, const char *claim_id, const char *expression);
bool delivery_is(struct stack *s, const char *claim_id, const char *status);
int64_t delivery_effects(struct stack *s, const char *claim_id);  // in the provider's books
int64_t delivery_hits(struct stack *s, const char *claim_id);     // POSTs with this id, whatever they were answered

// A message as the scheduler would publish it.
char *delivery_message(const char *claim_id, int attempt);
void delivery_publish(struct broker *b, const char *provider, const char *claim_id, int attempt);
// The next announcement of a dead letter; NULL if there is none. json_decref.
json_t *delivery_take_dead(struct broker *b);
// Steps for the next POSTs of this user.
void delivery_script(struct stack *s, int64_t user, const char *steps);

// The provider's books as the temporary table test_ledger (claim_id, hits, effects, reversals) of the stack's session,
// and the clicks that a client recorded (bench/load --record) as test_record (biz_id, user_id, status, claim_id, code).
void delivery_import_ledger(struct stack *s);
void delivery_import_record(struct stack *s, const char *csv_path);
// What is wrong between claims and the provider's books, one line each, at most 20; "" if nothing is: each succeeded
// claim has exactly one effect, each failed one none, none is open, and the provider knows nothing else. Imports the
// ledger. Heap.
char *delivery_faults(struct stack *s);
// For cmocka: fails with what is wrong.
#define DELIVERY_BOOKS_AGREE(stack)                                                   \
  do {                                                                                \
    char *faults_ = delivery_faults(stack);                                           \
    if (faults_[0] != '\0') fail_msg("claim, status, cause, provider:\n%s", faults_); \
    mem_free(faults_);                                                                \
  } while (0)
