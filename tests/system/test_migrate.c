// SPDX-License-Identifier: Apache-2.0
// `scheduler migrate` on real databases: from nothing, two at once, and what it refuses.
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/mem.h"
#include "tests/support/process.h"
#include "tests/support/server.h"
#include "tests/support/support.h"

struct fixture {
  struct server *server;
  char *database, *setting, *scheduler;
  struct sql *sql;
};

static int start(void **state)
{
  struct fixture *f = MEM_NEW(struct fixture);
  f->server = server_start();
  f->scheduler = support_bin("scheduler");
  *state = f;
  return 0;
}

static int stop(void **state)
{
  struct fixture *f = *state;
  server_free(f->server);
  mem_free(f->scheduler);
  mem_free(f);
  return 0;
}

static int set_up(void **state)
{
  struct fixture *f = *state;
  f->database = server_new_empty_database(f->server, "migrate");
  char *conninfo = server_conninfo(f->server, f->database);
  f->setting = support_format("LARGESSE_DATABASE__CONNINFO=%s", conninfo);
  f->sql = server_open(f->server, f->database);
  mem_free(conninfo);
  return 0;
}

static int tear_down(void **state)
{
  struct fixture *f = *state;
  sql_close(f->sql);
  mem_free(f->database);
  mem_free(f->setting);
  return 0;
}

static int migrate(struct fixture *f, struct buf *out)
{
  return process_run((const char *[]){f->scheduler, "migrate", NULL}, (const char *[]){f->setting, NULL}, 120, out,
                     out);
}

static void assert_migrate(struct fixture *f, int status, const char *expected)
{
  struct buf out;
  buf_init(&out, 65536);
  int got = migrate(f, &out);
  if (got != status || strstr(buf_text(&out), expected) == NULL)
    fail_msg("status %d: %s (expected %d: %s)", got, buf_text(&out), status, expected);
  buf_release(&out);
}

static char *schema_of(struct fixture *f)
{
  return sql_table(
      f->sql,
      "select p.oid::regprocedure::text, md5(prosrc), p.prosecdef::text from pg_proc p where pronamespace = "
      "'largesse'::regnamespace"
      " union all select c.oid::regclass::text || '.' || a.attname, a.atttypid::regtype::text, a.attnotnull::text from "
      "pg_class c"
      " join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 where c.relnamespace = 'largesse'::regnamespace"
      " order by 1, 2");
}

static void a_second_run_changes_nothing(void **state)
{
  struct fixture *f = *state;
  assert_migrate(f, 0, "the schema is up to date");
  assert_true(sql_int(f->sql, "select count(*) from largesse.migration where path like 'schema/%%'") > 0);
  assert_true(sql_bool(f->sql, "select to_regprocedure('largesse.clock_now()') is not null"));
  char *before = schema_of(f);
  char *stamps = sql_table(f->sql, "select path, applied_at from largesse.migration order by 1");
  assert_migrate(f, 0, "0 files applied, the schema is up to date");
  char *after = schema_of(f);
  char *stamps_after = sql_table(f->sql, "select path, applied_at from largesse.migration order by 1");
  assert_string_equal(before, after);
  assert_string_equal(stamps, stamps_after);
  mem_free(before);
  mem_free(after);
  mem_free(stamps);
  mem_free(stamps_after);
}

static void two_at_once_are_safe(void **state)
{
  struct fixture *f = *state;
  struct process *runs[3];
  for (size_t i = 0; i < ARRAY_LEN(runs); i++) {
    runs[i] = process_spawn(&(struct process_spec){.name = "migrate",
                                                   .argv = (const char *[]){f->scheduler, "migrate", NULL},
                                                   .env = (const char *[]){f->setting, NULL}});
  }
  for (size_t i = 0; i < ARRAY_LEN(runs); i++) {
    int status = process_wait(runs[i], 120);
    if (status != 0) process_show_log(runs[i], 20);
    assert_int_equal(status, 0);
    process_free(runs[i]);
  }
  assert_migrate(f, 0, "0 files applied");
}

static void an_edited_old_migration_is_refused(void **state)
{
  struct fixture *f = *state;
  assert_migrate(f, 0, "up to date");
  sql_exec(f->sql, "update largesse.migration set checksum = repeat('0', 64) where path = 'schema/0001_base.sql'");
  sql_exec(f->sql, "update largesse.migration set checksum = repeat('0', 64) where path = 'functions/clock_now.sql'");
  assert_migrate(f, 65, "sql/schema/0001_base.sql was changed after it had been applied");
  // All of it is one transaction: the function was not applied again either.
  assert_int_equal(sql_int(f->sql, "select count(*) from largesse.migration where checksum = repeat('0', 64)"), 2);
}

static void a_changed_function_is_applied_again(void **state)
{
  struct fixture *f = *state;
  assert_migrate(f, 0, "up to date");
  sql_exec(f->sql,
           "create or replace function largesse.time_text(i_at timestamptz) returns text language sql stable strict "
           "parallel safe as $$ select 'old' $$");
  sql_exec(f->sql, "update largesse.migration set checksum = repeat('0', 64) where path = 'functions/time_text.sql'");
  assert_migrate(f, 0, "2 files applied");  // the function, and the grants that follow every change
  char *text = sql_text(f->sql, "select largesse.time_text('2026-11-29 12:00+00')");
  assert_string_equal(text, "2026-11-29T12:00:00.000000Z");
  mem_free(text);
}

static void a_newer_schema_is_refused(void **state)
{
  struct fixture *f = *state;
  assert_migrate(f, 0, "up to date");
  sql_exec(f->sql, "insert into largesse.migration (path, checksum) values ('schema/9999_future.sql', 'x')");
  assert_migrate(
      f, 65, "the database has sql/schema/9999_future.sql, which this version does not know; use the newer program");
}

static void a_fault_leaves_nothing_behind(void **state)
{
  struct fixture *f = *state;
  // A table of ours that somebody made by hand stands in the way of the first file.
  sql_exec(f->sql, "create schema largesse; create table largesse.event (x int)");
  assert_migrate(f, 65, "schema/0001_base.sql: relation \"event\" already exists (42P07)");
  assert_int_equal(
      sql_int(f->sql, "select count(*) from pg_class where relnamespace = 'largesse'::regnamespace and relkind = 'r'"),
      1);
  sql_exec(f->sql, "drop schema largesse cascade");
  assert_migrate(f, 0, "up to date");
}

static void an_absent_server_is_one_line_and_69(void **state)
{
  struct fixture *f = *state;
  struct buf out;
  buf_init(&out, 65536);
  char *setting =
      support_format("LARGESSE_DATABASE__CONNINFO=host=127.0.0.1 port=%d dbname=x user=x", server_free_port(f->server));
  int status =
      process_run((const char *[]){f->scheduler, "migrate", NULL}, (const char *[]){setting, NULL}, 60, &out, &out);
  assert_int_equal(status, 69);
  assert_non_null(strstr(buf_text(&out), "scheduler: migrate: "));
  assert_int_equal(strcspn(buf_text(&out), "\n"), out.len - 1);
  mem_free(setting);
  buf_release(&out);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(a_second_run_changes_nothing, set_up, tear_down),
      cmocka_unit_test_setup_teardown(two_at_once_are_safe, set_up, tear_down),
      cmocka_unit_test_setup_teardown(an_edited_old_migration_is_refused, set_up, tear_down),
      cmocka_unit_test_setup_teardown(a_changed_function_is_applied_again, set_up, tear_down),
      cmocka_unit_test_setup_teardown(a_newer_schema_is_refused, set_up, tear_down),
      cmocka_unit_test_setup_teardown(a_fault_leaves_nothing_behind, set_up, tear_down),
      cmocka_unit_test_setup_teardown(an_absent_server_is_one_line_and_69, set_up, tear_down),
  };
  return cmocka_run_group_tests(tests, start, stop);
}
