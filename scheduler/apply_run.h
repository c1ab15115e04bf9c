// SPDX-License-Identifier: Apache-2.0
// One event file on its way into the database. Private to apply*.c.
// Owner: the command; blocking.
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "common/clk.h"
#include "scheduler/command.h"
#include "scheduler/config.h"
#include "scheduler/event_file.h"

#define APPLY_REASON "event file"  // in history and log: why what a file says is done

struct apply_run {
  const struct command *command;
  struct cli *cli;  // its session; exit_code is set when a statement fails
  const struct scheduler_conf *conf;
  struct event_file *event;
  struct wall_time now;    // the database's, when the transaction began
  struct wall_time begin;  // of demonstrations named by their start: what their +5s is added to; 0: not known yet
  size_t refusals;         // named on stderr; the transaction is rolled back in the end
  json_t *items;           // what was done, for the report
};

// False when the transaction cannot go on (cli->exit_code is set). Refusals do not stop it: all of them are wanted.
bool apply_session(struct apply_run *run, struct event_session *s);
// apply_start.c: when it starts and ends; names demonstrations. *out_is_refused: there is no such instant.
bool apply_find_start(struct apply_run *run, struct event_session *s, bool *out_is_refused);

// apply_terms.c
bool apply_reward(struct apply_run *run, const struct event_reward *reward);
bool apply_discount(struct apply_run *run, const struct event_discount *discount);

void apply_refuse_at(struct apply_run *run, int line, const char *path, const char *reason);
void apply_refuse(struct apply_run *run, const struct event_session *s, const char *fault);
json_t *apply_note(struct apply_run *run, const char *type, const char *code, const char *outcome);

// apply_report.c
void apply_report_text(const struct apply_run *run);
json_t *apply_report_json(const struct apply_run *run);
