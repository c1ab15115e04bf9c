// SPDX-License-Identifier: Apache-2.0
// A paused provider with a long backlog: it lies in the broker, once, and costs nobody else anything. 20,000 claims;
// LARGESSE_CHAOS makes it 200,000. It looks at the broker's memory, so:
// runs alone
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/mem.h"
#include "common/text.h"
#include "tests/support/claims.h"
#include "tests/support/crowd.h"
#include "tests/support/protection.h"
#include "tests/support/simulator.h"
#include "tests/support/support.h"

#define COMMAND(s, ...) protection_command((s), (const char *const[]){__VA_ARGS__, NULL})
#define MIB             (1024 * 1024)

static const char paused[] = "largesse_provider_paused{provider=\"simulator-b\"}";
static const char swept[] = "largesse_claims_swept_total{outcome=\"published\"}";

static int64_t number_after(const char *text, const char *mark)
{
  const char *at = strstr(text, mark);
  int64_t number = 0;
  if (at == NULL) support_die("no '%s' in: %.200s", mark, text);
  at += strlen(mark);
  at += strspn(at, " \t\n");
  if (text_to_i64(at, strspn(at, "0123456789"), &number) != RESULT_OK) support_die("no number in: %.200s", text);
  return number;
}

// Bytes that a daemon has in memory.
static int64_t resident(struct process *p)
{
  char text[4096];
  char *path = support_format("/proc/%d/status", (int)process_pid(p));
  FILE *f = fopen(path, "re");
  size_t len = f == NULL ? 0 : fread(text, 1, sizeof text - 1, f);
  if (f != NULL) (void)fclose(f);
  text[len] = '\0';
  mem_free(path);
  return number_after(text, "VmRSS:") * 1024;
}

// What the broker has allocated, after tidying up.
static int64_t broker_memory(struct server *server)
{
  static const char code[] =
      "[erlang:garbage_collect(P) || P <- erlang:processes()], io:format(\"total ~b~n\", [erlang:memory(total)]).";
  struct buf out;
  buf_init(&out, 65536);
  server_rabbitmqctl(server, (const char *const[]){"eval", code, NULL}, &out);
  int64_t bytes = number_after(buf_text(&out), "total ");
  buf_release(&out);
  return bytes;
}

struct memory {
  int64_t first, second, broker;
};

static struct memory memory_now(struct protection_rig *rig)
{
  return (struct memory){resident(rig->stack->fulfiller), resident(rig->second), broker_memory(rig->server)};
}

static void assert_flat(const char *when, struct memory before, struct memory now, int64_t broker_max)
{
  print_message("%s: fulfillers %+.1f and %+.1f MiB, broker %+.1f MiB\n", when,
                (double)(now.first - before.first) / MIB, (double)(now.second - before.second) / MIB,
                (double)(now.broker - before.broker) / MIB);
  if (now.first - before.first > 16 * MIB || now.second - before.second > 16 * MIB)
    fail_msg("%s fulfillers grew", when);
  if (now.broker - before.broker > broker_max) fail_msg("%s the broker grew", when);
}

// Claims until there are so many, all of them in the queue.
static void fill(struct protection_rig *rig, int64_t wanted)
{
  struct stack *s = rig->stack;
  struct crowd *crowd = crowd_start(s, "backlog", 2500, 11);
  struct waiting w = waiting_start(300);
  while (activity_claims(s->sql, "backlog") < wanted) {
    if (!waiting_more(&w)) support_die("the backlog does not come together");
  }
  crowd_end(crowd);
  crowd_free(crowd);
}

// Writing what was just written to its place is work of the past, not of what waits.
static void settle_down(struct stack *s)
{
  sql_exec(s->sql, "checkpoint");
  sql_exec(s->sql, "vacuum analyze largesse.claim");
}

static double middle_of_three(struct stack *s, const char *prefix)
{
  double p99[3];
  for (int i = 0; i < 3; i++) {
    char *code = support_format("%s-%d", prefix, i);
    p99[i] = protection_p99_ms(s, code, "simulator", 50, 2);
    mem_free(code);
  }
  double low = p99[0] < p99[1] ? p99[0] : p99[1], high = p99[0] < p99[1] ? p99[1] : p99[0];
  return p99[2] < low ? low : p99[2] > high ? high : p99[2];
}

static void a_backlog_waits_in_the_broker_once_and_hurts_nobody(void **state)
{
  struct protection_rig *rig = *state;
  struct stack *s = rig->stack;
  bool is_long = getenv("LARGESSE_CHAOS") != NULL;
  int64_t wanted = is_long ? 200000 : 20000;
  activity_make(s->sql,
                &(struct activity_terms){.code = "backlog", .stock = CLAIM_STOCK_UNLIMITED, .provider = "simulator-b"});
  COMMAND(s, "set", "simulator-b", "--concurrency", "512", "--reason", "a test");
  COMMAND(s, "pause", "simulator-b", "--reason", "a test");
  WITHIN(protection_both(rig, paused, 1), 1);
  double before = middle_of_three(s, "before");
  struct memory empty = memory_now(rig);
  double swept_before = protection_metric(s->scheduler_ports[0], swept);
  fill(rig, wanted);
  struct memory full = memory_now(rig);
  assert_flat("filled", empty, full, (is_long ? 400 : 64) * MIB);
  int64_t depth = 0;
  WAIT_FOR((depth = broker_count(rig->broker, DELIVERY_LANE_B)) > 0 &&
               protection_metric(s->scheduler_ports[0], "largesse_publish_unconfirmed") <= 0,
           10);
  depth = broker_count(rig->broker, DELIVERY_LANE_B);

  settle_down(s);
  double beside = middle_of_three(s, "beside");
  print_message("%lld claims in %lld messages\n", (long long)activity_claims(s->sql, "backlog"), (long long)depth);
  // All of it is overdue, and nobody has published it again.
  WAIT_FOR(protection_count(s, "backlog", "c.next_attempt_at > largesse.clock_now() - interval '1 s'") == 0, 20);
  assert_int_equal(protection_count(s, "backlog", "c.attempts > 0 or c.sweeps > 0"), 0);
  assert_int_equal(broker_count(rig->broker, DELIVERY_LANE_B), depth);
  assert_true(protection_metric(s->scheduler_ports[0], swept) <= swept_before + 0.5);
  assert_flat("waiting", full, memory_now(rig), 32 * MIB);

  COMMAND(s, "resume", "simulator-b", "--reason", "a test");
  WAIT_FOR(protection_count(s, "backlog", "c.status <> 'succeeded'") == 0, is_long ? 400 : 90);
  assert_int_equal(protection_count(s, "backlog", "c.attempts <> 1"), 0);
  // What else this machine does is in all three; the larger of the two without a backlog is what counts.
  settle_down(s);
  double after = middle_of_three(s, "after"), usual = before > after ? before : after;
  print_message("p99 of the other lane %.1f ms before, %.1f ms beside, %.1f ms after\n", before, beside, after);
  if (beside > 2 * (usual > 50 ? usual : 50)) fail_msg("the other lane suffers: %.1f ms, then %.1f ms", usual, beside);
  DELIVERY_BOOKS_AGREE(s);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_backlog_waits_in_the_broker_once_and_hurts_nobody),
  };
  return cmocka_run_group_tests_name("protection backlog", tests, protection_set_up, protection_tear_down);
}
