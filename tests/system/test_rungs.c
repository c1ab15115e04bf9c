// SPDX-License-Identifier: Apache-2.0
// takes long
// Rungs that change (B61, with 2 s and 4 s for 5 s and 8 s): another delay in the configuration meets the broker as it
// was left, and a queue of a rung's name with another delay is a fault that is told once, by its name, while everything
// else goes on.
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/mem.h"
#include "tests/support/claims.h"
#include "tests/support/delivery.h"
#include "tests/support/http.h"
#include "tests/support/support.h"

#define LADDER "LARGESSE_FULFILLER__PROVIDERS__SIMULATOR__LADDER="
#define FAILS  "[{\"status\":429,\"effect\":\"none\"}]"

// For the rest of the program.
static void set_env(struct stack *s, const char *setting)
{
  size_t count = 0;
  while (s->env[count] != NULL) count++;
  s->env = mem_resize(s->env, count + 2, sizeof *s->env);
  s->env[count] = mem_strdup(setting);
  s->env[count + 1] = NULL;
}

static void restart_with(struct stack *s, const char *setting)
{
  assert_int_equal(process_stop(s->fulfiller, 15), 0);
  set_env(s, setting);
  stack_start_fulfiller(s);
}

// The same without waiting for its readiness.
static void respawn_with(struct stack *s, const char *setting)
{
  assert_int_equal(process_stop(s->fulfiller, 15), 0);
  process_free(s->fulfiller);
  char *bin = support_bin("fulfiller"),
       *listen = support_format("LARGESSE_FULFILLER__LISTEN=127.0.0.1:%d", s->fulfiller_port);
  set_env(s, setting);
  set_env(s, listen);
  s->fulfiller = process_spawn(&(struct process_spec){.name = "fulfiller",
                                                      .argv = (const char *[]){bin, "-c", s->config, "serve", NULL},
                                                      .env = (const char *const *)s->env});
  mem_free(listen);
  mem_free(bin);
}

static bool ready_says(struct stack *s, int status, const char *text)
{
  struct http_answer answer;
  http_get(s->fulfiller_port, "/readyz", &answer);
  bool says = answer.status == status && strstr(answer.body, text) != NULL;
  http_answer_release(&answer);
  return says;
}

static int64_t waited_ms(struct stack *s, const char *claim_id)
{
  return sql_int(s->sql,
                 "select (extract(epoch from max(started_at) - min(started_at)) * 1000)::bigint from largesse.attempt "
                 "where activity_id || '-' || claim_id = '%s'",
                 claim_id);
}

static int lines_with(struct process *p, const char *text)
{
  struct buf log;
  int count = 0;
  buf_init(&log, 64 * 1024 * 1024);
  process_read_log(p, &log);
  for (const char *at = buf_text(&log); (at = strstr(at, text)) != NULL; at++) count++;
  buf_release(&log);
  return count;
}

static void what_waits_on_an_old_rung_comes_back_and_new_failures_take_the_new_one(void **state)
{
  struct delivery_rig *rig = *state;
  struct stack *s = rig->stack;
  restart_with(s, LADDER "[2s]");
  activity_make(s->sql, &(struct activity_terms){.code = "changed", .stock = 10});
  delivery_script(s, 1, FAILS);
  struct delivery_claim old = delivery_claim(s, "changed", 1);
  WAIT_FOR(broker_count(rig->broker, "largesse.retry.2s") == 1, 10);
  restart_with(s, LADDER "[4s]");
  pid_t pid = process_pid(s->fulfiller);
  delivery_script(s, 2, FAILS);
  struct delivery_claim new = delivery_claim(s, "changed", 2);
  WAIT_FOR(broker_count(rig->broker, "largesse.retry.4s") == 1, 10);
  WAIT_FOR(delivery_is(s, old.id, "succeeded"), 20);
  WAIT_FOR(delivery_is(s, new.id, "succeeded"), 30);
  assert_true(waited_ms(s, old.id) >= 2000);
  assert_true(waited_ms(s, new.id) >= 4000);
  assert_int_equal(delivery_effects(s, old.id), 1);
  assert_int_equal(delivery_effects(s, new.id), 1);
  WAIT_FOR(broker_count(rig->broker, "largesse.retry.2s") == 0, 10);
  // The same process all the while, and nothing to complain about.
  assert_true(process_is_alive(s->fulfiller));
  assert_int_equal(process_pid(s->fulfiller), pid);
  assert_int_equal(lines_with(s->fulfiller, "mq.topology_refused"), 0);
}

static void a_queue_with_another_delay_is_named_once_and_nothing_is_lost(void **state)
{
  struct delivery_rig *rig = *state;
  struct stack *s = rig->stack;
  broker_make_rung(rig->broker, "largesse.retry.3s", 60000, "largesse.fulfilment");
  respawn_with(s, LADDER "[3s]");
  pid_t pid = process_pid(s->fulfiller);
  WAIT_FOR(ready_says(s, 503, "queue largesse.retry.3s: PRECONDITION_FAILED"), 20);
  activity_make(s->sql, &(struct activity_terms){.code = "foreign", .stock = 10});
  struct delivery_claim plain = delivery_claim(s, "foreign", 11);
  WAIT_FOR(delivery_is(s, plain.id, "succeeded"), 10);
  // Its message may wait a minute in the queue as it is, or nowhere: the claim's due time brings it back all the same.
  delivery_script(s, 12, FAILS);
  struct delivery_claim failing = delivery_claim(s, "foreign", 12);
  WAIT_FOR(delivery_is(s, failing.id, "succeeded"), 30);
  assert_int_equal(delivery_effects(s, failing.id), 1);
  assert_int_equal(delivery_effects(s, plain.id), 1);
  assert_true(process_is_alive(s->fulfiller));
  assert_int_equal(process_pid(s->fulfiller), pid);
  assert_int_equal(lines_with(s->fulfiller, "mq.topology_refused"), 1);
  // Somebody removes it: the rung is declared as it should be, without a restart.
  char *vhost = strrchr(s->broker_url, '/') + 1;
  server_rabbitmqctl(rig->server, (const char *[]){"delete_queue", "-p", vhost, "largesse.retry.3s", NULL}, NULL);
  WAIT_FOR(ready_says(s, 200, "ready"), 40);
  delivery_script(s, 13, FAILS);
  struct delivery_claim mended = delivery_claim(s, "foreign", 13);
  WAIT_FOR(delivery_is(s, mended.id, "succeeded"), 20);
  assert_int_equal(process_pid(s->fulfiller), pid);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_waits_on_an_old_rung_comes_back_and_new_failures_take_the_new_one),
      cmocka_unit_test(a_queue_with_another_delay_is_named_once_and_nothing_is_lost),
  };
  return cmocka_run_group_tests_name("rungs", tests, delivery_set_up, delivery_tear_down);
}
