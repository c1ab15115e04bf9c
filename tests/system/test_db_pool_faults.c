// SPDX-License-Identifier: Apache-2.0
// The database pool while its server fails: killed backends, an immediate restart, a lost standby, and a crowd of
// requests through all of it. What was sent and not answered is unknown; what was not sent is known to have changed
// nothing.
// runs alone
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "common/mem.h"
#include "tests/support/db_probe.h"
#include "tests/support/support.h"

static int start(void **state)
{
  *state = db_fixture_start("db_faults", "create table mark (n bigint primary key)");
  return 0;
}

static int stop(void **state)
{
  db_fixture_stop(*state);
  return 0;
}

static const struct db_statement put_mark = {"put_mark", "insert into mark values ($1::bigint) returning n as number"};
static const struct db_statement put_slowly = {
    "put_slowly", "insert into mark select $1::bigint from pg_sleep($2::float8) returning n as number"};
static const struct db_statement plus_one = {"plus_one", "select $1::bigint + 1 as number"};

static void init_mark(struct db_fixture *f, struct db_probe *p, int64_t n)
{
  probe_init(p, &f->rig, &put_mark);
  db_args_i64(&p->req.args, n);
}

static void init_slow_mark(struct db_fixture *f, struct db_probe *p, int64_t n, const char *seconds)
{
  probe_init(p, &f->rig, &put_slowly);
  db_args_i64(&p->req.args, n);
  db_args_text(&p->req.args, seconds);
}

static void kill_backends(struct db_fixture *f)
{
  sql_exec(f->sql, "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'db_probe'");
}

static bool is_running(struct db_fixture *f, const char *what)
{
  return sql_int(f->sql,
                 "select count(*) from pg_stat_activity where application_name = 'db_probe' and state = 'active'"
                 " and query like '%%%s%%'",
                 what) > 0;
}

static void a_statement_whose_backend_dies_is_unknown_and_the_next_one_works(void **state)
{
  struct db_fixture *f = *state;
  f->rig.conf.pool_size = 1;
  rig_open_pool(&f->rig, NULL);
  struct db_probe warm, cut, waiting;
  init_mark(f, &warm, 1);
  assert_int_equal(probe_submit(&warm), RESULT_OK);
  probe_wait(&warm, 5);
  init_slow_mark(f, &cut, 2, "30");
  init_mark(f, &waiting, 3);  // prepared on the old connection, so it must be prepared again
  assert_int_equal(probe_submit(&cut), RESULT_OK);
  assert_int_equal(probe_submit(&waiting), RESULT_OK);
  RIG_WAIT(&f->rig, is_running(f, "pg_sleep"), 5);
  kill_backends(f);
  RIG_WAIT(&f->rig, f->rig.answers == 3, 10);
  assert_int_equal(cut.error_calls, 1);
  assert_int_equal(cut.failure, DB_FAILED_UNKNOWN);
  assert_string_equal(cut.sqlstate, "57P01");
  assert_int_equal(waiting.rows_calls, 1);
  assert_int_equal(sql_int(f->sql, "select count(*) from mark where n in (1, 2, 3)"), 2);
  probe_release(&warm);
  probe_release(&cut);
  probe_release(&waiting);
}

static void idle_connections_that_die_are_replaced_without_anybody_noticing(void **state)
{
  struct db_fixture *f = *state;
  f->rig.conf.pool_size = 3;
  rig_open_pool(&f->rig, NULL);
  for (int round = 0; round < 5; round++) {
    char *killed_at = sql_text(f->sql, "select clock_timestamp()");
    kill_backends(f);
    RIG_WAIT(&f->rig,
             sql_int(f->sql,
                     "select count(*) from pg_stat_activity where application_name = 'db_probe'"
                     " and backend_start > '%s'",
                     killed_at) == 3,
             5);
    mem_free(killed_at);
    struct db_probe p;
    probe_init(&p, &f->rig, &plus_one);
    db_args_i64(&p.req.args, round);
    assert_int_equal(probe_submit(&p), RESULT_OK);
    probe_wait(&p, 5);
    assert_int_equal(p.rows_calls, 1);
    assert_int_equal(p.first, round + 1);
    probe_release(&p);
    RIG_WAIT(&f->rig, rig_metric(&f->rig, "largesse_db_pool_connected ") == 3, 5);
  }
}

static void while_the_server_is_down_requests_fail_early_and_then_the_pool_comes_back(void **state)
{
  struct db_fixture *f = *state;
  f->rig.conf.pool_size = 1;
  rig_open_pool(&f->rig, NULL);
  struct db_probe cut, waiting, refused, again;
  init_slow_mark(f, &cut, 11, "30");
  init_mark(f, &waiting, 12);
  assert_int_equal(probe_submit(&cut), RESULT_OK);
  assert_int_equal(probe_submit(&waiting), RESULT_OK);
  RIG_WAIT(&f->rig, is_running(f, "pg_sleep"), 5);
  sql_close(f->sql);
  f->sql = NULL;
  server_postgres_stop(f->server, true);
  RIG_WAIT(&f->rig, f->rig.answers == 2, 5);
  assert_int_equal(cut.failure, DB_FAILED_UNKNOWN);
  assert_int_equal(waiting.failure, DB_FAILED_NOT_SENT);
  assert_false(db_pool_is_up(f->rig.pool));
  init_mark(f, &refused, 13);
  assert_int_equal(probe_submit(&refused), RESULT_UNAVAILABLE);

  server_postgres_start(f->server);
  RIG_WAIT(&f->rig, db_pool_is_up(f->rig.pool), 15);
  init_mark(f, &again, 14);
  assert_int_equal(probe_submit(&again), RESULT_OK);
  probe_wait(&again, 5);
  assert_int_equal(again.rows_calls, 1);
  assert_int_equal(probe_calls(&refused), 0);
  f->sql = server_open(f->server, f->database);
  assert_int_equal(sql_int(f->sql, "select sum(n)::bigint from mark where n between 11 and 14"), 14);
  probe_release(&cut);
  probe_release(&waiting);
  probe_release(&refused);
  probe_release(&again);
}

// A commit that waits for a standby and is cancelled there reports success with a warning: the row may be lost in a
// fail-over.
static void a_commit_whose_standby_did_not_answer_is_unknown(void **state)
{
  struct db_fixture *f = *state;
  rig_open_pool(&f->rig, NULL);
  sql_exec(f->sql, "alter system set synchronous_standby_names = 'nobody'");
  sql_exec(f->sql, "select pg_reload_conf()");
  WAIT_FOR(sql_bool(f->sql, "select setting = 'nobody' from pg_settings where name = 'synchronous_standby_names'"), 5);
  struct db_probe p;
  init_mark(f, &p, 21);
  assert_int_equal(probe_submit(&p), RESULT_OK);
  RIG_WAIT(&f->rig, sql_int(f->sql, "select count(*) from pg_stat_activity where wait_event = 'SyncRep'") == 1, 5);
  assert_int_equal(probe_calls(&p), 0);  // the rows have arrived, their commit has not
  sql_exec(f->sql, "select pg_cancel_backend(pid) from pg_stat_activity where wait_event = 'SyncRep'");
  probe_wait(&p, 5);
  sql_exec(f->sql, "alter system reset synchronous_standby_names");
  sql_exec(f->sql, "select pg_reload_conf()");
  assert_int_equal(p.rows_calls, 0);
  assert_int_equal(p.error_calls, 1);
  assert_int_equal(p.failure, DB_FAILED_UNKNOWN);
  assert_int_equal(sql_int(f->sql, "select count(*) from mark where n = 21"), 1);
  probe_release(&p);
}

// --- a crowd

enum { CROWD = 3000, FIRST_OF_CROWD = 100000, AT_ONCE = 40 };

static void submit_crowd_until(struct db_fixture *f, struct db_probe *crowd, int *submitted, int until)
{
  while (*submitted < until && *submitted - f->rig.answers < AT_ONCE) {
    if (probe_submit(&crowd[*submitted]) != RESULT_OK) return;  // the pool is down for the moment
    (*submitted)++;
  }
}

static void in_a_crowd_with_dying_backends_every_request_has_one_true_answer(void **state)
{
  struct db_fixture *f = *state;
  f->rig.conf.pool_size = 4;
  rig_open_pool(&f->rig, NULL);
  struct db_probe *crowd = MEM_ARRAY(struct db_probe, CROWD);
  for (int i = 0; i < CROWD; i++) init_mark(f, &crowd[i], FIRST_OF_CROWD + i);
  int submitted = 0, kills = 0;
  struct mono_time next_kill = mono_after(clk_mono(), span_ms(50));
  while (f->rig.answers < CROWD) {
    submit_crowd_until(f, crowd, &submitted, CROWD);
    loop_turn(f->rig.rt.loop, span_ms(5));
    if (mono_before(clk_mono(), next_kill)) continue;
    kill_backends(f);
    kills++;
    next_kill = mono_after(clk_mono(), span_ms(60));
  }
  for (int i = 0; i < 20; i++) loop_turn(f->rig.rt.loop, span_ms(2));
  assert_true(kills > 0);
  int unknown = 0;
  for (int i = 0; i < CROWD; i++) {
    const struct db_probe *p = &crowd[i];
    assert_int_equal(probe_calls(p), 1);
    bool is_there = sql_bool(f->sql, "select exists (select from mark where n = %d)", FIRST_OF_CROWD + i);
    if (p->rows_calls == 1)
      assert_true(is_there);
    else if (p->failure != DB_FAILED_UNKNOWN)
      assert_false(is_there);
    else
      unknown++;
    probe_release(&crowd[i]);
  }
  print_message("%d kills, %d of %d unknown\n", kills, unknown, CROWD);
  assert_int_equal(db_pool_open_requests(f->rig.pool), 0);
  mem_free(crowd);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, db_fixture_set_up, db_fixture_tear_down)

int main(void)
{
  const struct CMUnitTest tests[] = {
      CASE(a_statement_whose_backend_dies_is_unknown_and_the_next_one_works),
      CASE(idle_connections_that_die_are_replaced_without_anybody_noticing),
      CASE(in_a_crowd_with_dying_backends_every_request_has_one_true_answer),
      CASE(a_commit_whose_standby_did_not_answer_is_unknown),
      CASE(while_the_server_is_down_requests_fail_early_and_then_the_pool_comes_back),
  };
  return cmocka_run_group_tests(tests, start, stop);
}
