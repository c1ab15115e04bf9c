// SPDX-License-Identifier: Apache-2.0
// Protection of providers from a test's side: a stack with two fulfillers whose providers have short time-outs and
// breakers, what each fulfiller says in its metrics, and commands at the providers.
#pragma once

#include <stdint.h>

#include "tests/support/delivery.h"

// Providers of the stack's configuration; the simulator counts every POST as an effect:
//   simulator    calls end after 500 ms; 8 at a time; rungs 300 ms, 1 s; 30 attempts; breaker: 6 calls within 2 s, open
//                500 ms to 2 s
//   simulator-b  calls end after 4 s; 64 at a time; 50 messages; no breaker
//   nowhere      at a port of this machine that takes no connection; connecting ends after 1 s; no breaker
//   hanging      at a port where nobody ever answers; calls end after 3 s; 64 at a time; no breaker
struct protection_rig {
  struct server *server;
  struct stack *stack;
  struct process *second;  // fulfiller
  int second_port;
  int black_hole[2];  // a listening socket with a full queue, and what fills it
  int mute;           // a listening socket that nobody serves
  struct broker *broker;
};
int protection_set_up(void **state);
int protection_tear_down(void **state);
void protection_start_second(struct protection_rig *rig);

// The value of a series such as `largesse_breaker_state{provider="simulator"}`; -1 if there is none.
double protection_metric(int port, const char *series);
// The same of both fulfillers.
bool protection_both(struct protection_rig *rig, const char *series, double value);

// `fulfiller providers WHAT NAME …`, ended by NULL; ends the program if it fails.
void protection_command(struct stack *s, const char *const *args);
// How many claims of an activity are so, by an SQL condition over c.
int64_t protection_count(struct stack *s, const char *activity, const char *condition);
// Claims one after the other; all are accepted when this returns.
void protection_claims(struct stack *s, const char *activity, int64_t first_user, int count);
// Claims at a steady rate for some seconds, then waits until all are delivered; the time in ms from claim to recorded
// delivery that 99 of 100 had.
double protection_p99_ms(struct stack *s, const char *activity, const char *provider, int per_second, double seconds);
// The simulator's figures and scripts begin anew.
void protection_heal(struct stack *s);
