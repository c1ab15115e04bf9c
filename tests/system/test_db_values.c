// SPDX-License-Identifier: Apache-2.0
// Values on their way through common/db and a real server: scalars, arrays, very large ones; roles; blocking sessions.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "common/mem.h"
#include "tests/support/db_probe.h"
#include "tests/support/support.h"

static const char script[] =
    "create function refuse() returns bigint language plpgsql as $$ begin"
    " raise exception 'as asked' using errcode = 'P0007', detail = 'the detail', hint = 'the hint'; end $$;"
    "drop role if exists db_probe_role; create role db_probe_role;";

static int start(void **state)
{
  *state = db_fixture_start("db_values", script);
  return 0;
}

static int stop(void **state)
{
  struct db_fixture *f = *state;
  sql_exec(f->sql, "drop role db_probe_role");
  db_fixture_stop(f);
  return 0;
}

static const struct db_statement plus_one = {"plus_one", "select $1::bigint + 1 as number"};
static const struct db_statement who = {"who", "select current_user::text as text"};

// --- values

static void values_keep_their_value(void **state)
{
  struct db_fixture *f = *state;
  static const struct db_statement echo = {"echo",
                                           "select jsonb_build_array($1::bigint, $2::text, $3::boolean, "
                                           "$4::timestamptz at time zone 'UTC', $5::bytea, $6::text)::text as text,"
                                           " $1::bigint as number"};
  rig_open_pool(&f->rig, NULL);
  struct db_probe p;
  probe_init(&p, &f->rig, &echo);
  db_args_i64(&p.req.args, INT64_MIN);
  db_args_text(&p.req.args, "it's \"quoted\" \\ 抢购 %s $1");
  db_args_bool(&p.req.args, true);
  db_args_time(&p.req.args, (struct wall_time){1798718096123456});
  db_args_binary(&p.req.args, "\0\xff", 2);
  db_args_null(&p.req.args);
  assert_int_equal(probe_submit(&p), RESULT_OK);
  probe_wait(&p, 5);
  assert_int_equal(p.rows_calls, 1);
  assert_int_equal(p.first, INT64_MIN);
  assert_string_equal(buf_text(&p.text),
                      "[-9223372036854775808, \"it's \\\"quoted\\\" \\\\ 抢购 %s $1\", true,"
                      " \"2026-12-31T11:54:56.123456\", \"\\\\x00ff\", null]");
  probe_release(&p);
}

static void arrays_keep_their_elements(void **state)
{
  struct db_fixture *f = *state;
  static const struct db_statement echo = {
      "echo_arrays",
      "select jsonb_build_array($1::bigint[], $2::int[], $3::text[], $4::boolean[], $5::text[],"
      " (select array_agg(t at time zone 'UTC') from unnest($6::timestamptz[]) t))::text as text"};
  rig_open_pool(&f->rig, NULL);
  struct db_probe p;
  probe_init(&p, &f->rig, &echo);
  struct db_args *a = &p.req.args;
  db_args_array(a, DB_ARRAY_INT8);
  db_args_array_i64(a, INT64_MAX);
  db_args_array_null(a);
  db_args_array_i64(a, -1);
  db_args_array_end(a);
  db_args_array(a, DB_ARRAY_INT4);
  db_args_array_i64(a, INT32_MIN);
  db_args_array_end(a);
  db_args_array(a, DB_ARRAY_TEXT);
  db_args_array_text(a, "", 0);
  db_args_array_text(a, "a,b{\"}", 6);
  db_args_array_end(a);
  db_args_array(a, DB_ARRAY_BOOL);
  db_args_array_i64(a, 1);
  db_args_array_i64(a, 0);
  db_args_array_end(a);
  db_args_array(a, DB_ARRAY_TEXT);
  db_args_array_end(a);
  db_args_array(a, DB_ARRAY_TIMESTAMPTZ);
  db_args_array_time(a, (struct wall_time){946684800000001});
  db_args_array_time(a, (struct wall_time){0});
  db_args_array_end(a);
  assert_int_equal(probe_submit(&p), RESULT_OK);
  probe_wait(&p, 5);
  assert_int_equal(p.rows_calls, 1);
  assert_string_equal(buf_text(&p.text),
                      "[[9223372036854775807, null, -1], [-2147483648], [\"\", \"a,b{\\\"}\"], [true, false], [],"
                      " [\"2000-01-01T00:00:00.000001\", \"1970-01-01T00:00:00\"]]");
  probe_release(&p);
}

// B73: both sides have far more to send than any socket buffer holds, on every connection at once.
static void large_arrays_go_both_ways_without_a_standstill(void **state)
{
  struct db_fixture *f = *state;
  static const struct db_statement echo = {"echo_rows", "select t as text from unnest($1::text[]) t"};
  enum { REQUESTS = 4, ROWS = 50000, LARGE = 65536 };
  char *large = mem_zalloc(1, LARGE);
  memset(large, 'x', LARGE);
  f->rig.conf.statement_timeout = span_s(60);
  rig_open_pool(&f->rig, NULL);
  struct db_probe p[REQUESTS];
  for (int i = 0; i < REQUESTS; i++) {
    probe_init(&p[i], &f->rig, &echo);
    db_args_array(&p[i].req.args, DB_ARRAY_TEXT);
    for (int row = 0; row < ROWS; row++) db_args_array_text(&p[i].req.args, large, row % 500 == 0 ? LARGE : 20);
    db_args_array_end(&p[i].req.args);
    assert_int_equal(probe_submit(&p[i]), RESULT_OK);
  }
  RIG_WAIT(&f->rig, f->rig.answers == REQUESTS, 60);
  for (int i = 0; i < REQUESTS; i++) {
    assert_int_equal(p[i].rows_calls, 1);
    assert_int_equal(p[i].row_count, ROWS);
    assert_int_equal(p[i].text.len, LARGE);
    probe_release(&p[i]);
  }
  mem_free(large);
}

static void arguments_over_the_cap_are_refused_at_once(void **state)
{
  struct db_fixture *f = *state;
  rig_open_pool(&f->rig, NULL);
  struct db_probe p;
  probe_init(&p, &f->rig, &plus_one);
  char *large = mem_zalloc(1, DB_ARGS_BYTES_MAX / 2);
  for (int i = 0; i < 3; i++) db_args_binary(&p.req.args, large, DB_ARGS_BYTES_MAX / 2);
  assert_int_equal(probe_submit(&p), RESULT_TOO_BIG);
  for (int i = 0; i < 5; i++) loop_turn(f->rig.rt.loop, span_ms(2));
  assert_int_equal(probe_calls(&p), 0);
  mem_free(large);
  probe_release(&p);
}

// --- roles and sessions

static void connections_take_on_the_role(void **state)
{
  struct db_fixture *f = *state;
  rig_open_pool(&f->rig, "db_probe_role");
  struct db_probe p;
  probe_init(&p, &f->rig, &who);
  assert_int_equal(probe_submit(&p), RESULT_OK);
  probe_wait(&p, 5);
  assert_string_equal(buf_text(&p.text), "db_probe_role");
  WAIT_FOR(sql_int(f->sql,
                   "select count(*) from pg_stat_activity where application_name = 'db_probe' and datname = "
                   "current_database()") == 2,
           5);
  probe_release(&p);
}

static void a_session_runs_scripts_and_statements_and_keeps_the_servers_words(void **state)
{
  struct db_fixture *f = *state;
  char why[DB_WHY_BYTES] = "";
  struct db_session *s = NULL;
  assert_int_equal(db_session_open(&f->rig.conf, "db_probe", "db_probe_role", &s, why), RESULT_OK);
  assert_int_equal(db_session_script(s, "create table denied (n int)"), RESULT_DENIED);
  db_session_close(s);
  assert_int_equal(db_session_open(&f->rig.conf, "db_probe", NULL, &s, why), RESULT_OK);
  assert_int_equal(db_session_script(s, "create table by_script (n int); insert into by_script values (3), (4)"),
                   RESULT_OK);
  assert_int_equal(db_session_script(s, "insert into by_script values (5); select 1 / 0"), RESULT_INVALID);
  assert_string_equal(db_session_error(s)->sqlstate, "22012");
  struct db_args args;
  db_args_init(&args);
  db_args_i64(&args, 10);
  struct db_rows *rows = NULL;
  assert_int_equal(db_session_query(s, "select n + $1::int as n from by_script order by 1", &args, &rows), RESULT_OK);
  assert_int_equal(db_rows_count(rows), 2);  // the failed script was one transaction
  assert_int_equal(db_rows_i64(rows, 1, 0), 14);
  db_rows_free(rows);
  assert_int_equal(db_session_query(s, "select refuse()", NULL, &rows), RESULT_INVALID);
  assert_string_equal(db_session_error(s)->detail, "the detail");
  db_args_release(&args);
  db_session_close(s);

  struct db_conf nowhere = f->rig.conf;
  nowhere.conninfo = (char[]){"host=127.0.0.1 port=1 dbname=x"};
  assert_int_equal(db_session_open(&nowhere, "db_probe", NULL, &s, why), RESULT_UNAVAILABLE);
  assert_non_null(strstr(why, "port 1"));
  assert_null(strchr(why, '\n'));
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, db_fixture_set_up, db_fixture_tear_down)

int main(void)
{
  const struct CMUnitTest tests[] = {
      CASE(values_keep_their_value),
      CASE(arrays_keep_their_elements),
      CASE(large_arrays_go_both_ways_without_a_standstill),
      CASE(arguments_over_the_cap_are_refused_at_once),
      CASE(connections_take_on_the_role),
      CASE(a_session_runs_scripts_and_statements_and_keeps_the_servers_words),
  };
  return cmocka_run_group_tests(tests, start, stop);
}
