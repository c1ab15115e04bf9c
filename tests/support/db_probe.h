// SPDX-License-Identifier: Apache-2.0
// A rig for tests of common/db: a loop, a pool, and requests that remember every callback they get.
// It is driven by the test itself, which turns the loop until what it waits for has happened.
#pragma once

#include "common/db.h"
#include "common/loop.h"
#include "common/runtime.h"
#include "tests/support/server.h"

struct db_probe {
  struct db_request req;
  struct db_probe_rig *rig;
  int rows_calls, error_calls, timeout_calls;
  size_t row_count;
  int64_t first;    // first column of the first row, if it is an integer
  struct buf text;  // first column of the first row, if it is text
  enum db_failure failure;
  char sqlstate[6], message[200], detail[64], hint[64];
  void (*on_answer)(struct db_probe *p);  // may be NULL
  void *ctx;
};

struct db_probe_rig {
  struct runtime rt;
  struct db_conf conf;  // change it before rig_open_pool
  struct db_pool *pool;
  int answers;  // of all probes
};

void rig_init(struct db_probe_rig *rig, char *conninfo);         // conninfo stays the caller's
void rig_open_pool(struct db_probe_rig *rig, const char *role);  // and waits until every connection is up
void rig_close_pool(struct db_probe_rig *rig);
void rig_release(struct db_probe_rig *rig);
double rig_metric(struct db_probe_rig *rig,
                  const char *line_start);  // value of the first line that begins so; -1 if none

void probe_init(struct db_probe *p, struct db_probe_rig *rig, const struct db_statement *statement);
void probe_release(struct db_probe *p);
enum result probe_submit(struct db_probe *p);
int probe_calls(const struct db_probe *p);
void probe_wait(struct db_probe *p,
                double seconds);  // turns the loop until an answer has come; ends the program if none does

// The fixture of a program that tests common/db: a server, an empty database of its own, and per case a rig.
struct db_fixture {
  struct server *server;
  char *database, *conninfo;
  struct sql *sql;
  struct db_probe_rig rig;
};
struct db_fixture *db_fixture_start(const char *prefix, const char *script);  // the script is run in the new database
void db_fixture_stop(struct db_fixture *f);
int db_fixture_set_up(void **state);  // for cmocka; *state is the fixture
int db_fixture_tear_down(void **state);

#define RIG_WAIT(rig, condition, seconds)                                                                 \
  do {                                                                                                    \
    struct mono_time end_ = mono_after(clk_mono(), span_ms((int64_t)(waiting_patience(seconds) * 1000))); \
    while (!(condition) && mono_before(clk_mono(), end_)) loop_turn((rig)->rt.loop, span_ms(5));          \
    if (!(condition)) support_die("%s:%d: waited in vain for: %s", __FILE__, __LINE__, #condition);       \
  } while (0)
