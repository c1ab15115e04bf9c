// SPDX-License-Identifier: Apache-2.0
// The test support library itself: servers that stop and come back, children that end, HTTP that is cut off.
// runs alone
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "common/mem.h"
#include "tests/support/broker.h"
#include "tests/support/http.h"
#include "tests/support/process.h"
#include "tests/support/server.h"
#include "tests/support/support.h"

static void databases_are_fresh_and_apart(void **state)
{
  char *one = server_new_empty_database(*state, "support"), *two = server_new_empty_database(*state, "support");
  assert_string_not_equal(one, two);
  struct sql *a = server_open(*state, one), *b = server_open(*state, two);
  sql_exec(a, "create table t(n int); insert into t values (1), (2)");
  assert_int_equal(sql_int(a, "select sum(n) from t"), 3);
  assert_string_equal(sql_try(b, "select * from t"), "42P01");
  char *table = sql_table(a, "select n, null from t order by n");
  assert_string_equal(table, "1|\n2|\n");
  mem_free(table);
  sql_close(a);
  sql_close(b);
  mem_free(one);
  mem_free(two);
}

static void postgres_comes_back_after_a_crash(void **state)
{
  char *name = server_new_empty_database(*state, "support");
  struct sql *s = server_open(*state, name);
  sql_exec(s, "create table t as select 7 as n");
  server_postgres_restart(*state, true);
  char code[6];
  (void)snprintf(code, sizeof code, "%s", sql_try(s, "select 1"));
  assert_string_not_equal(code, "");
  sql_close(s);
  s = server_open(*state, name);
  assert_int_equal(sql_int(s, "select n from t"), 7);
  sql_close(s);
  mem_free(name);
}

static void broker_keeps_messages_over_a_restart(void **state)
{
  char *url = server_new_broker_url(*state);
  struct broker *b = broker_open(url);
  assert_false(broker_has_queue(b, "largesse.nothing"));
  broker_bind_queue(b, "support", "amq.direct", "key");
  broker_publish(b, "amq.direct", "key", "hello", 5);
  struct buf body;
  buf_init(&body, 1024);
  assert_true(broker_get(b, "support", &body));
  assert_string_equal(buf_text(&body), "hello");
  assert_false(broker_get(b, "support", &body));
  buf_release(&body);
  broker_close(b);
  server_broker_stop_app(*state);
  assert_int_equal(http_connect(server_mq_port(*state)), -1);
  server_broker_start_app(*state);
  broker_close(broker_open(url));
  server_broker_kill(*state);
  server_broker_start(*state);
  broker_close(broker_open(url));
  mem_free(url);
}

static void commands_have_output_status_and_an_end(void **state)
{
  (void)state;
  struct buf out, err;
  buf_init(&out, 1000);
  buf_init(&err, 1000);
  const char *const command[] = {"/bin/sh", "-c", "echo $GREETING; echo oops >&2; exit 7", NULL};
  assert_int_equal(process_run(command, (const char *const[]){"GREETING=no", "GREETING=hi", NULL}, 5, &out, &err), 7);
  assert_string_equal(buf_text(&out), "hi\n");
  assert_string_equal(buf_text(&err), "oops\n");
  double begin = support_now();
  assert_int_equal(process_run((const char *const[]){"/bin/sleep", "30", NULL}, NULL, 0.2, NULL, NULL), -1);
  assert_true(support_now() - begin < 5);
  buf_release(&out);
  buf_release(&err);
}

static void children_are_seen_to_end(void **state)
{
  (void)state;
  const char *const argv[] = {"/bin/sh", "-c", "echo started; exec sleep 30", NULL};
  struct process *p = process_spawn(&(struct process_spec){.name = "sleeper", .argv = argv});
  WAIT_FOR(process_log_has(p, "started\n"), 5);
  assert_true(process_is_alive(p));
  assert_int_equal(process_wait(p, 0.05), -1);
  assert_int_equal(process_stop(p, 5), 128 + SIGTERM);
  assert_false(process_is_alive(p));
  process_free(p);
}

static void nobody_listening_is_no_answer(void **state)
{
  struct http_answer a;
  http_get(server_free_port(*state), "/", &a);
  assert_int_equal(a.status, 0);
  assert_string_equal(a.body, "");
  http_answer_release(&a);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(databases_are_fresh_and_apart),
      cmocka_unit_test(postgres_comes_back_after_a_crash),
      cmocka_unit_test(broker_keeps_messages_over_a_restart),
      cmocka_unit_test(commands_have_output_status_and_an_end),
      cmocka_unit_test(children_are_seen_to_end),
      cmocka_unit_test(nobody_listening_is_no_answer),
  };
  return cmocka_run_group_tests(tests, server_set_up, server_tear_down);
}
