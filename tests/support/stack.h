// SPDX-License-Identifier: Apache-2.0
// A whole private stack for one test: a migrated database, a virtual host, the simulator and as many daemons as asked
// for, all on free ports. Daemons can be killed and started again on the same port.
#pragma once

#include <stdbool.h>

#include "common/buf.h"
#include "tests/support/process.h"
#include "tests/support/server.h"

#define STACK_SCHEDULERS_MAX 4

struct stack_options {
  int schedulers;  // 0: one; STACK_NONE: none
  bool no_fulfiller, no_reconciler, no_simulator;
  bool test_clock;         // installs tests/support/test_clock.sql
  const char *const *env;  // further NAME=value for every daemon, ended by NULL; they win over what stack_start sets
  const char *config;      // NULL: config/largesse.yaml
};
#define STACK_NONE (-1)

struct stack {
  struct server *server;  // borrowed
  char *database, *broker_url, *config;
  struct sql *sql;  // the owner's session
  int scheduler_count;
  struct process *schedulers[STACK_SCHEDULERS_MAX];
  int scheduler_ports[STACK_SCHEDULERS_MAX];
  struct process *fulfiller, *reconciler, *simulator;
  int fulfiller_port, reconciler_port, simulator_port;
  char *callback_secret;   // the file that the simulator signs with and both providers verify with
  char **env;              // what every daemon and command gets
  double command_seconds;  // how long a command may take; 0: two minutes
};

// Everything is ready when this returns. options may be NULL.
struct stack *stack_start(struct server *s, const struct stack_options *options);
void stack_free(struct stack *s);   // kills what still runs; NULL is allowed
int stack_tear_down(void **state);  // for cmocka: frees the stack that *state is, and its server

// Start again after process_kill or process_stop, on the same port, with the same settings.
void stack_start_scheduler(struct stack *s, int index);
void stack_start_fulfiller(struct stack *s);
void stack_start_reconciler(struct stack *s);
void stack_start_simulator(struct stack *s);  // with empty books
// One more instance of a daemon, on a free port; the caller frees it.
struct process *stack_start_another(struct stack *s, const char *name);

// Runs `NAME -c CONFIG args…` on this stack; returns its exit status. Its output goes to out (may be NULL), behind it
// what it said on standard error.
int stack_command(struct stack *s, const char *name, const char *const *args, struct buf *out);
// The same with a further port variable or setting: env is ended by NULL.
int stack_command_env(struct stack *s, const char *name, const char *const *args, const char *const *env,
                      struct buf *out);
