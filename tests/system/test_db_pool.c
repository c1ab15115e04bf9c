// SPDX-License-Identifier: Apache-2.0
// The database pool against a real server: every request gets exactly one of rows, error and time-out; retries,
// deadlines and the queue's cap. Faults of the server are in test_db_pool_faults.c, values and sessions in
// test_db_values.c.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "common/db_internal.h"
#include "common/mem.h"
#include "tests/support/db_probe.h"
#include "tests/support/server.h"
#include "tests/support/support.h"

static const char tables[] =
    "create table item (id int primary key, n bigint not null default 0);"
    "insert into item select g, 0 from generate_series(1, 10) g;"
    "create table unique_late (n int unique deferrable initially deferred);"
    "create sequence tried;"
    "create function fail_with(state text) returns bigint language plpgsql as $$ begin perform nextval('tried');"
    " raise exception 'as asked' using errcode = state, detail = 'the detail', hint = 'the hint'; end $$;"
    "create function take_two(a int, b int) returns bigint language plpgsql as $$ begin"
    " update item set n = n + 1 where id = a; perform pg_sleep(0.3); update item set n = n + 1 where id = b; return 2; "
    "end $$;";

static int start(void **state)
{
  struct db_fixture *f = db_fixture_start("db_pool", tables);
  sql_exec(f->sql, "alter database %s set deadlock_timeout = '100ms'", f->database);
  *state = f;
  return 0;
}

static int stop(void **state)
{
  db_fixture_stop(*state);
  return 0;
}

static const struct db_statement plus_one = {"plus_one", "select $1::bigint + 1 as number"};
static const struct db_statement one_over = {"one_over", "select 1 / $1::bigint as number"};
static const struct db_statement sleep_for = {"sleep_for", "select 7::bigint as number from pg_sleep($1::float8)"};
static const struct db_statement fail_with = {"fail_with", "select fail_with($1::text) as number"};
static const struct db_statement take_two = {"take_two", "select take_two($1::int, $2::int) as number"};
static const struct db_statement insert_late = {
    "insert_late", "insert into unique_late select unnest($1::int[]) returning n as number"};

// --- one answer

static void rows_come_once(void **state)
{
  struct db_fixture *f = *state;
  rig_open_pool(&f->rig, NULL);
  assert_true(db_pool_is_up(f->rig.pool));
  struct db_probe p;
  probe_init(&p, &f->rig, &plus_one);
  db_args_i64(&p.req.args, 41);
  assert_int_equal(probe_submit(&p), RESULT_OK);
  assert_int_equal(probe_calls(&p), 0);  // never from inside submit
  assert_int_equal(db_pool_open_requests(f->rig.pool), 1);
  probe_wait(&p, 5);
  for (int i = 0; i < 5; i++) loop_turn(f->rig.rt.loop, span_ms(5));
  assert_int_equal(p.rows_calls, 1);
  assert_int_equal(probe_calls(&p), 1);
  assert_int_equal(p.first, 42);
  assert_int_equal(db_pool_open_requests(f->rig.pool), 0);
  probe_release(&p);
}

static void an_error_comes_once_with_its_state_and_the_connection_goes_on(void **state)
{
  struct db_fixture *f = *state;
  f->rig.conf.pool_size = 1;
  rig_open_pool(&f->rig, NULL);
  struct db_probe bad, good, raised;
  probe_init(&bad, &f->rig, &one_over);
  db_args_i64(&bad.req.args, 0);
  probe_init(&good, &f->rig, &one_over);
  db_args_i64(&good.req.args, 1);
  probe_init(&raised, &f->rig, &fail_with);
  db_args_text(&raised.req.args, "P0042");
  assert_int_equal(probe_submit(&bad), RESULT_OK);
  assert_int_equal(probe_submit(&good), RESULT_OK);
  assert_int_equal(probe_submit(&raised), RESULT_OK);
  RIG_WAIT(&f->rig, f->rig.answers == 3, 5);
  assert_int_equal(bad.error_calls, 1);
  assert_int_equal(bad.failure, DB_FAILED_STATEMENT);
  assert_string_equal(bad.sqlstate, "22012");
  assert_int_equal(good.rows_calls, 1);
  assert_string_equal(raised.sqlstate, "P0042");
  assert_string_equal(raised.message, "as asked");
  assert_string_equal(raised.detail, "the detail");
  assert_string_equal(raised.hint, "the hint");
  assert_true(rig_metric(&f->rig, "largesse_db_errors_total{statement=\"one_over\",sqlstate=\"22012\"}") == 1);
  probe_release(&bad);
  probe_release(&good);
  probe_release(&raised);
}

static void a_statement_that_cannot_be_prepared_is_an_error_each_time(void **state)
{
  struct db_fixture *f = *state;
  static const struct db_statement wrong = {"wrong", "select nothing from nowhere"};
  f->rig.conf.pool_size = 1;
  rig_open_pool(&f->rig, NULL);
  for (int i = 0; i < 2; i++) {
    struct db_probe p;
    probe_init(&p, &f->rig, &wrong);
    assert_int_equal(probe_submit(&p), RESULT_OK);
    probe_wait(&p, 5);
    assert_int_equal(p.error_calls, 1);
    assert_string_equal(p.sqlstate, "42P01");
    probe_release(&p);
  }
}

static void a_failure_at_commit_is_an_error_and_not_rows(void **state)
{
  struct db_fixture *f = *state;
  rig_open_pool(&f->rig, NULL);
  struct db_probe p;
  probe_init(&p, &f->rig, &insert_late);
  db_args_array(&p.req.args, DB_ARRAY_INT4);
  db_args_array_i64(&p.req.args, 1);
  db_args_array_i64(&p.req.args, 1);
  db_args_array_end(&p.req.args);
  assert_int_equal(probe_submit(&p), RESULT_OK);
  probe_wait(&p, 5);
  assert_int_equal(p.rows_calls, 0);
  assert_int_equal(p.error_calls, 1);
  assert_string_equal(p.sqlstate, "23505");
  assert_int_equal(sql_int(f->sql, "select count(*) from unique_late"), 0);
  probe_release(&p);
}

static void a_failed_request_does_not_undo_its_neighbours(void **state)
{
  struct db_fixture *f = *state;
  f->rig.conf.pool_size = 1;
  rig_open_pool(&f->rig, NULL);
  sql_exec(f->sql, "truncate unique_late");
  struct db_probe p[5];
  for (int i = 0; i < 5; i++) {
    probe_init(&p[i], &f->rig, &insert_late);
    db_args_array(&p[i].req.args, DB_ARRAY_INT4);
    db_args_array_i64(&p[i].req.args, 100 + i);
    if (i == 2) db_args_array_i64(&p[i].req.args, 100 + i);
    db_args_array_end(&p[i].req.args);
    assert_int_equal(probe_submit(&p[i]), RESULT_OK);
  }
  RIG_WAIT(&f->rig, f->rig.answers == 5, 5);
  for (int i = 0; i < 5; i++) {
    assert_int_equal(p[i].rows_calls, i == 2 ? 0 : 1);
    probe_release(&p[i]);
  }
  assert_int_equal(sql_int(f->sql, "select count(*) from unique_late"), 4);
}

// --- retries

static void a_deadlock_is_tried_again_inside(void **state)
{
  struct db_fixture *f = *state;
  rig_open_pool(&f->rig, NULL);
  int64_t before = sql_int(f->sql, "select sum(n)::bigint from item");
  struct db_probe p[2];
  for (int i = 0; i < 2; i++) {
    probe_init(&p[i], &f->rig, &take_two);
    db_args_i64(&p[i].req.args, 1 + i);
    db_args_i64(&p[i].req.args, 2 - i);
    assert_int_equal(probe_submit(&p[i]), RESULT_OK);
  }
  RIG_WAIT(&f->rig, f->rig.answers == 2, 10);
  assert_int_equal(p[0].rows_calls, 1);
  assert_int_equal(p[1].rows_calls, 1);
  assert_true(p[0].req.tries + p[1].req.tries >= 1);  // there was a deadlock
  assert_int_equal(sql_int(f->sql, "select sum(n)::bigint from item"), before + 4);
  probe_release(&p[0]);
  probe_release(&p[1]);
}

static void a_serialization_failure_that_stays_is_an_error_after_five_retries(void **state)
{
  struct db_fixture *f = *state;
  rig_open_pool(&f->rig, NULL);
  sql_exec(f->sql, "select setval('tried', 1000)");
  struct db_probe p;
  probe_init(&p, &f->rig, &fail_with);
  db_args_text(&p.req.args, "40001");
  assert_int_equal(probe_submit(&p), RESULT_OK);
  probe_wait(&p, 10);
  assert_int_equal(p.error_calls, 1);
  assert_string_equal(p.sqlstate, "40001");
  assert_int_equal(p.failure, DB_FAILED_STATEMENT);
  assert_int_equal(sql_int(f->sql, "select last_value from tried"), 1000 + 1 + DB_TRIES_MAX);
  probe_release(&p);
}

static void statements_survive_a_change_of_their_table_and_a_deallocate(void **state)
{
  struct db_fixture *f = *state;
  static const struct db_statement all = {"all_of_it", "select * from changing"};
  static const struct db_statement deallocate = {"deallocate", "deallocate all"};
  f->rig.conf.pool_size = 1;
  sql_exec(f->sql, "create table changing (number bigint); insert into changing values (5)");
  rig_open_pool(&f->rig, NULL);
  for (int round = 0; round < 3; round++) {
    struct db_probe p, d;
    probe_init(&p, &f->rig, &all);
    assert_int_equal(probe_submit(&p), RESULT_OK);
    probe_wait(&p, 10);
    assert_int_equal(p.rows_calls, 1);
    assert_int_equal(p.first, 5);
    probe_init(&d, &f->rig, &deallocate);
    if (round == 0) {
      sql_exec(f->sql, "alter table changing add extra text");
    } else {
      assert_int_equal(probe_submit(&d), RESULT_OK);
      probe_wait(&d, 5);
      assert_int_equal(d.rows_calls, 1);
    }
    probe_release(&p);
    probe_release(&d);
  }
}

// --- deadlines and caps

static void init_sleep(struct db_fixture *f, struct db_probe *p, const char *seconds, int64_t timeout_ms)
{
  probe_init(p, &f->rig, &sleep_for);
  db_args_text(&p->req.args, seconds);
  p->req.timeout = span_ms(timeout_ms);
}

static void a_timeout_comes_once_and_the_statement_runs_on(void **state)
{
  struct db_fixture *f = *state;
  static const struct db_statement slow_write = {
      "slow_write", "update item set n = n + 1000 where id = 9 and pg_sleep(2) is not null"};
  f->rig.conf.pool_size = 1;
  rig_open_pool(&f->rig, NULL);
  struct db_probe slow, next;
  probe_init(&slow, &f->rig, &slow_write);
  slow.req.timeout = span_ms(200);
  struct mono_time begin = clk_mono();
  assert_int_equal(probe_submit(&slow), RESULT_OK);
  probe_wait(&slow, 5);
  assert_in_range(mono_since(clk_mono(), begin).us, 190000, 1900000);
  assert_int_equal(slow.timeout_calls, 1);
  assert_int_equal(db_pool_open_requests(f->rig.pool), 0);
  db_args_release(&slow.req.args);  // the caller may let go of everything now

  probe_init(&next, &f->rig, &plus_one);
  db_args_i64(&next.req.args, 1);
  assert_int_equal(probe_submit(&next), RESULT_OK);
  probe_wait(&next, 5);
  assert_int_equal(next.rows_calls, 1);
  assert_true(mono_since(clk_mono(), begin).us >= 1990000);  // the connection was occupied until then
  assert_int_equal(probe_calls(&slow), 1);
  assert_int_equal(sql_int(f->sql, "select n from item where id = 9"), 1000);  // never cancelled
  buf_release(&slow.text);
  probe_release(&next);
}

static void a_statement_that_does_not_end_loses_its_connection_after_the_grace(void **state)
{
  struct db_fixture *f = *state;
  f->rig.conf.pool_size = 1;
  rig_open_pool(&f->rig, NULL);
  struct db_probe slow, next;
  init_sleep(f, &slow, "30", 50);
  assert_int_equal(probe_submit(&slow), RESULT_OK);
  probe_wait(&slow, 5);
  assert_int_equal(slow.timeout_calls, 1);
  struct db_ticket *orphan = &f->rig.pool->tickets[0];
  assert_int_equal(orphan->state, DB_TICKET_ORPHAN);
  db_pool_add_due(f->rig.pool, orphan, clk_mono());  // the grace is 30 s: let it end now
  init_sleep(f, &next, "0", 5000);
  assert_int_equal(probe_submit(&next), RESULT_OK);
  probe_wait(&next, 5);
  assert_int_equal(next.rows_calls, 1);
  assert_int_equal(probe_calls(&slow), 1);
  sql_exec(f->sql,
           "select pg_terminate_backend(pid) from pg_stat_activity where query like '%%pg_sleep(%%' and datname = "
           "current_database() and pid <> pg_backend_pid()");
  probe_release(&slow);
  probe_release(&next);
}

static void a_full_queue_refuses_and_a_request_that_never_got_a_connection_says_so(void **state)
{
  struct db_fixture *f = *state;
  f->rig.conf.pool_size = 1;
  f->rig.conf.queue_max = 2;
  rig_open_pool(&f->rig, NULL);
  struct db_probe p[4];
  init_sleep(f, &p[0], "1.5", 5000);
  init_sleep(f, &p[1], "0", 100);
  init_sleep(f, &p[2], "0", 5000);
  init_sleep(f, &p[3], "0", 5000);
  for (int i = 0; i < 3; i++) assert_int_equal(probe_submit(&p[i]), RESULT_OK);
  assert_int_equal(probe_submit(&p[3]), RESULT_FULL);
  assert_true(rig_metric(&f->rig, "largesse_db_pool_waiting ") == 2);
  RIG_WAIT(&f->rig, f->rig.answers == 3, 5);
  assert_int_equal(p[0].rows_calls, 1);
  assert_int_equal(p[1].error_calls, 1);
  assert_int_equal(p[1].failure, DB_FAILED_NOT_SENT);
  assert_int_equal(p[2].rows_calls, 1);
  assert_int_equal(probe_calls(&p[3]), 0);
  assert_true(rig_metric(&f->rig, "largesse_db_pool_waiting ") == 0);
  for (int i = 0; i < 4; i++) probe_release(&p[i]);
}

static void closing_the_pool_answers_everything_first(void **state)
{
  struct db_fixture *f = *state;
  f->rig.conf.pool_size = 1;
  rig_open_pool(&f->rig, NULL);
  struct db_probe p[3];
  for (int i = 0; i < 3; i++) {
    init_sleep(f, &p[i], "0.2", 5000);
    assert_int_equal(probe_submit(&p[i]), RESULT_OK);
  }
  rig_close_pool(&f->rig);
  for (int i = 0; i < 3; i++) {
    assert_int_equal(p[i].error_calls, 1);
    assert_int_equal(p[i].failure, i == 0 ? DB_FAILED_UNKNOWN : DB_FAILED_NOT_SENT);
    probe_release(&p[i]);
  }
}

// --- use from inside, pooler

struct chain {
  int left;
};

static void submit_again(struct db_probe *p)
{
  struct chain *c = p->ctx;
  if (--c->left == 0) return;
  db_args_clear(&p->req.args);
  db_args_i64(&p->req.args, p->first);
  assert_int_equal(probe_submit(p), RESULT_OK);
}

static void a_callback_may_submit_the_next_request(void **state)
{
  struct db_fixture *f = *state;
  rig_open_pool(&f->rig, NULL);
  struct chain chain = {500};
  struct db_probe p;
  probe_init(&p, &f->rig, &plus_one);
  p.on_answer = submit_again;
  p.ctx = &chain;
  db_args_i64(&p.req.args, 0);
  assert_int_equal(probe_submit(&p), RESULT_OK);
  RIG_WAIT(&f->rig, chain.left == 0, 20);
  assert_int_equal(p.rows_calls, 500);
  assert_int_equal(p.first, 500);
  probe_release(&p);
}

static void behind_a_pooler_statements_have_no_names(void **state)
{
  struct db_fixture *f = *state;
  static const struct db_statement prepared = {"prepared", "select count(*) as number from pg_prepared_statements"};
  f->rig.conf.pool_size = 1;
  f->rig.conf.pooler = true;
  rig_open_pool(&f->rig, NULL);
  struct db_probe p[4];
  probe_init(&p[0], &f->rig, &plus_one);
  db_args_i64(&p[0].req.args, 1);
  probe_init(&p[1], &f->rig, &insert_late);
  db_args_array(&p[1].req.args, DB_ARRAY_INT4);
  db_args_array_i64(&p[1].req.args, 7);
  db_args_array_i64(&p[1].req.args, 7);
  db_args_array_end(&p[1].req.args);
  probe_init(&p[2], &f->rig, &one_over);
  db_args_i64(&p[2].req.args, 0);
  probe_init(&p[3], &f->rig, &prepared);
  for (int i = 0; i < 4; i++) assert_int_equal(probe_submit(&p[i]), RESULT_OK);
  RIG_WAIT(&f->rig, f->rig.answers == 4, 10);
  assert_int_equal(p[0].first, 2);
  assert_string_equal(p[1].sqlstate, "23505");  // at commit
  assert_int_equal(p[1].rows_calls, 0);
  assert_string_equal(p[2].sqlstate, "22012");
  assert_int_equal(p[3].rows_calls, 1);
  assert_int_equal(p[3].first, 0);
  for (int i = 0; i < 4; i++) probe_release(&p[i]);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, db_fixture_set_up, db_fixture_tear_down)

int main(void)
{
  const struct CMUnitTest tests[] = {
      CASE(rows_come_once),
      CASE(an_error_comes_once_with_its_state_and_the_connection_goes_on),
      CASE(a_statement_that_cannot_be_prepared_is_an_error_each_time),
      CASE(a_failure_at_commit_is_an_error_and_not_rows),
      CASE(a_failed_request_does_not_undo_its_neighbours),
      CASE(a_deadlock_is_tried_again_inside),
      CASE(a_serialization_failure_that_stays_is_an_error_after_five_retries),
      CASE(statements_survive_a_change_of_their_table_and_a_deallocate),
      CASE(a_timeout_comes_once_and_the_statement_runs_on),
      CASE(a_statement_that_does_not_end_loses_its_connection_after_the_grace),
      CASE(a_full_queue_refuses_and_a_request_that_never_got_a_connection_says_so),
      CASE(closing_the_pool_answers_everything_first),
      CASE(a_callback_may_submit_the_next_request),
      CASE(behind_a_pooler_statements_have_no_names),
  };
  return cmocka_run_group_tests(tests, start, stop);
}
