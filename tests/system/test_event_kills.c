// SPDX-License-Identifier: Apache-2.0
// No news is lost when processes are killed: under constant claims, each claim that succeeded is told on the bus and to
// the webhook endpoint at least once, always with the same id and the same bytes. `make chaos` kills more often. Owner:
// nobody; one thread, the receiver's, and bench/load.
// runs alone
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

#include "common/mem.h"
#include "common/text.h"
#include "tests/support/broker.h"
#include "tests/support/claims.h"
#include "tests/support/crowd.h"
#include "tests/support/hook.h"
#include "tests/support/hook_config.h"
#include "tests/support/stack.h"
#include "tests/support/support.h"

#define SECONDS      120
#define RATE         100
#define QUEUE        "bus"
#define PATH         "/hook"
#define ROWS_AT_ONCE 500
#define KILLS        12
#define KILLS_CHAOS  100
#define PAUSE_MAX_MS 900

static const char config[] =
    "$PROVIDER"
    "  webhooks:\n"
    "    all: { url: 'http://127.0.0.1:$PORT" PATH
    "', secrets: ['$DIR/secret'], allow: [127.0.0.1], types: [claim.*],"
    " ladder: [500ms], attempts: 1000, total_timeout: 5s }\n";

struct rig {
  struct stack *stack;
  struct hook *hook;
  struct broker *broker;
  struct crowd *crowd;
  uint64_t random;
};

static int set_up(void **state)
{
  static const char *const env[] = {"LARGESSE_SCHEDULER__EVENTS__LEASE=3s", NULL};
  static struct rig rig;
  const char *given = getenv("LARGESSE_SEED");
  int port = 0;
  rig.random = (uint64_t)time(NULL);
  if (given != NULL && text_to_u64(given, strlen(given), &rig.random) != RESULT_OK)
    support_die("LARGESSE_SEED must be a number");
  print_message("seed %llu\n", (unsigned long long)rig.random);
  rig.hook = hook_open(&port);
  hook_config_secret("secret", "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=\n");
  char *path = hook_config_write("event-kills", config, port);
  rig.stack = stack_start(server_start(), &(struct stack_options){.config = path, .env = env, .no_reconciler = true});
  rig.broker = broker_open(rig.stack->broker_url);
  broker_bind_queue(rig.broker, QUEUE, "largesse.events", "claim.*");
  mem_free(path);
  WAIT_FOR(sql_int(rig.stack->sql, "select count(*) from largesse.webhook_endpoint where is_configured") == 1, SECONDS);
  *state = &rig;
  return 0;
}

static int tear_down(void **state)
{
  struct rig *rig = *state;
  void *stack = rig->stack;
  crowd_free(rig->crowd);
  broker_close(rig->broker);
  (void)stack_tear_down(&stack);
  hook_close(rig->hook);
  return 0;
}

static uint64_t next_random(struct rig *rig, uint64_t below)  // splitmix64
{
  uint64_t z = (rig->random += UINT64_C(0x9e3779b97f4a7c15));
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return (z ^ (z >> 31)) % below;
}

// Two of three kills hit the scheduler.
static void kill_at_random_moments(struct rig *rig, int times)
{
  for (int i = 0; i < times; i++) {
    support_sleep((double)next_random(rig, PAUSE_MAX_MS) / 1000);
    if (next_random(rig, 3) == 0) {
      process_kill(rig->stack->fulfiller);
      stack_start_fulfiller(rig->stack);
    } else {
      process_kill(rig->stack->schedulers[0]);
      stack_start_scheduler(rig->stack, 0);
    }
  }
}

// --- what arrived, as the table heard (place, event_id, subject, body)

struct rows {
  struct sql *sql;
  struct buf text;
  size_t count;
};

static void flush_rows(struct rows *r)
{
  if (r->count > 0) sql_exec(r->sql, "insert into heard values %s", buf_text(&r->text));
  buf_clear(&r->text);
  r->count = 0;
}

static void add_row(struct rows *r, const char *place, const char *event_id, const char *body)
{
  char *id = sql_quote(r->sql, event_id), *text = sql_quote(r->sql, body);
  buf_printf(&r->text, "%s('%s',%s,%s)", r->count == 0 ? "" : ",", place, id, text);
  mem_free(id);
  mem_free(text);
  if (++r->count == ROWS_AT_ONCE) flush_rows(r);
}

static char *line_value(const char *headers, const char *name)
{
  char *mark = support_format("%s: ", name);
  const char *at = strstr(headers, mark);
  if (at == NULL) support_die("a message without %s", name);
  char *value = mem_strndup(at + strlen(mark), strcspn(at + strlen(mark), "\n"));
  mem_free(mark);
  return value;
}

static void import_bus(struct rig *rig, struct rows *rows)
{
  struct buf body, headers;
  buf_init(&body, 1 << 20);
  buf_init(&headers, 1 << 16);
  while (broker_get_all(rig->broker, QUEUE, &body, &headers)) {
    char *id = line_value(buf_text(&headers), "ce-id");
    add_row(rows, "bus", id, buf_text(&body));
    mem_free(id);
    buf_clear(&body);
    buf_clear(&headers);
  }
  buf_release(&body);
  buf_release(&headers);
}

static void import_hook(struct rig *rig, struct rows *rows)
{
  size_t count = hook_count(rig->hook, PATH);
  for (size_t i = 0; i < count; i++) {
    struct hook_call c = hook_get(rig->hook, PATH, i);
    char *id = hook_header(&c, "webhook-id");
    add_row(rows, "hook", id, c.body);
    mem_free(id);
  }
}

static void import_all(struct rig *rig)
{
  struct rows rows = {.sql = rig->stack->sql};
  buf_init(&rows.text, 64 << 20);
  sql_exec(rows.sql, "create temp table heard (place text, event_id text, body text)");
  import_bus(rig, &rows);
  import_hook(rig, &rows);
  flush_rows(&rows);
  buf_release(&rows.text);
}

static void assert_told(struct rig *rig, const char *place, const char *between)
{
  struct sql *sql = rig->stack->sql;
  int64_t lost =
      sql_int(sql,
              "select count(*) from largesse.claim c where c.status = 'succeeded' and not exists (select from heard h "
              "where h.place = '%s' and h.event_id = c.activity_id || '-' || c.id || '%ssucceeded')",
              place, between);
  int64_t invented =
      sql_int(sql,
              "select count(*) from heard h where h.place = '%s' and not exists (select from largesse.claim c "
              "where h.event_id = c.activity_id || '-' || c.id || '%s' || c.status)",
              place, between);
  int64_t changed = sql_int(
      sql,
      "select count(*) from (select from heard where place = '%s' group by event_id having count(distinct body) > 1) n",
      place);
  print_message("%s: %lld messages, %lld events\n", place,
                (long long)sql_int(sql, "select count(*) from heard where place = '%s'", place),
                (long long)sql_int(sql, "select count(distinct event_id) from heard where place = '%s'", place));
  assert_int_equal(lost, 0);
  assert_int_equal(invented, 0);
  assert_int_equal(changed, 0);
}

// B63
static void b63_no_news_is_lost(void **state)
{
  struct rig *rig = *state;
  struct sql *sql = rig->stack->sql;
  activity_make(sql, &(struct activity_terms){.code = "kills", .stock = 1000000});
  rig->crowd = crowd_start(rig->stack, "kills", RATE, rig->random);
  kill_at_random_moments(rig, getenv("LARGESSE_CHAOS") != NULL ? KILLS_CHAOS : KILLS);
  crowd_end(rig->crowd);
  WAIT_FOR(sql_int(sql, "select count(*) from largesse.claim where status = 'issuing'") == 0, SECONDS);
  WAIT_FOR(sql_int(sql, "select count(*) from largesse.event_out") == 0, SECONDS);
  WAIT_FOR(sql_int(sql, "select count(*) from largesse.webhook_out where state <> 'done'") == 0, SECONDS);
  assert_true(sql_int(sql, "select count(*) from largesse.claim where status = 'succeeded'") > RATE);
  import_all(rig);
  assert_told(rig, "bus", ".");
  assert_told(rig, "hook", "_");
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(b63_no_news_is_lost)};
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
