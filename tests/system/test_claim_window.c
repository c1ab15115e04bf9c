// SPDX-License-Identifier: Apache-2.0
// Which instants a claim may have: from the start to before the end, and one period's allowance after the other, by the
// database's clock, whatever the status says and in whatever zone machines live. Field cases B25, B26, B27.
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/clk.h"
#include "common/mem.h"
#include "common/text.h"
#include "tests/support/claims.h"
#include "tests/support/stack.h"
#include "tests/support/support.h"

#define SCHEDULERS 2

// --- a clock that stands still

static void set_clock(struct stack *s, const char *at) { sql_exec(s->sql, "update largesse.frozen set at = '%s'", at); }

// Every instant in SQL is `at` before the first scheduler comes up, and stays so until set_clock.
static struct stack *start_frozen(struct server *server, const char *at)
{
  struct stack_options options = {
      .schedulers = STACK_NONE, .no_fulfiller = true, .no_reconciler = true, .no_simulator = true};
  struct stack *s = stack_start(server, &options);
  sql_exec(s->sql,
           "create table largesse.frozen (at timestamptz not null); insert into largesse.frozen values ('%s'); grant "
           "select on largesse.frozen to public;"
           "create or replace function largesse.clock_now() returns timestamptz language sql volatile as 'select at "
           "from largesse.frozen'",
           at);
  s->scheduler_count = SCHEDULERS;
  for (int i = 0; i < SCHEDULERS; i++) {
    s->scheduler_ports[i] = server_free_port(server);
    stack_start_scheduler(s, i);
  }
  return s;
}

static void expect(struct stack *s, int scheduler, const char *code, int64_t user, const char *biz_id, int status,
                   const char *refusal)
{
  struct claim_click click = claim_click(s->scheduler_ports[scheduler], code, user, "%s", biz_id);
  struct claim_answer a = claim_send(&click);
  if (a.status != status || strcmp(a.code, refusal) != 0)
    fail_msg("%s at scheduler %d: %d %s, not %d %s", biz_id, scheduler, a.status, a.code, status, refusal);
}

// B25: the clock's moves are held up by a lock on the row, so the status stays behind all the time.
static void the_window_counts_and_not_the_status(void **state)
{
  static const struct {
    const char *at;
    int status;
    const char *refusal;
  } steps[] = {{"2027-03-01T02:59:59.999Z", 409, "NOT_STARTED"},
               {"2027-03-01T03:00:00Z", 201, ""},
               {"2027-03-01T03:59:59.999Z", 201, ""},
               {"2027-03-01T04:00:00Z", 410, "ENDED"}};
  struct stack *s = start_frozen(*state, steps[0].at);
  activity_make(s->sql,
                &(struct activity_terms){
                    .code = "b25", .stock = 100, .start = "'2027-03-01T03:00:00Z'", .end = "'2027-03-01T04:00:00Z'"});
  struct sql *holder = server_open(s->server, s->database);
  sql_exec(holder, "begin; select 1 from largesse.activity where code = 'b25' for no key update");
  int64_t user = 1;
  for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
    set_clock(s, steps[i].at);
    for (int k = 0; k < SCHEDULERS; k++) {
      char biz_id[32];
      (void)snprintf(biz_id, sizeof biz_id, "b25-%zu-%d", i, k);
      expect(s, k, "b25", user++, biz_id, steps[i].status, steps[i].refusal);
      if (steps[i].status == 201)
        assert_true(
            sql_bool(s->sql, "select created_at = '%s' from largesse.claim where biz_id = '%s'", steps[i].at, biz_id));
    }
  }
  assert_int_equal(activity_claims(s->sql, "b25"), 2 * SCHEDULERS);
  assert_true(sql_bool(s->sql, "select status = 'published' from largesse.activity where code = 'b25'"));
  sql_exec(holder, "commit");
  sql_close(holder);
  WAIT_FOR(sql_bool(s->sql, "select status = 'finished' from largesse.activity where code = 'b25'"), 5);
  for (int k = 0; k < SCHEDULERS; k++) expect(s, k, "b25", 99, "b25-late", 410, "ENDED");
  stack_free(s);
}

// An activity that ends while its status says ongoing, and one whose status was moved too early by hand.
static void a_wrong_status_lets_nobody_in(void **state)
{
  struct stack *s = start_frozen(*state, "2027-03-01T03:30:00Z");
  activity_make(
      s->sql, &(struct activity_terms){
                  .code = "early", .stock = 9, .start = "'2027-03-01T03:30:00.001Z'", .end = "'2027-03-01T05:00:00Z'"});
  activity_make(s->sql,
                &(struct activity_terms){
                    .code = "over", .stock = 9, .start = "'2027-03-01T03:00:00Z'", .end = "'2027-03-01T04:00:00Z'"});
  WAIT_FOR(sql_bool(s->sql, "select status = 'ongoing' from largesse.activity where code = 'over'"), 5);
  sql_exec(s->sql,
           "update largesse.activity set status = 'ongoing', changed_at = largesse.clock_now() where code = 'early'");
  for (int k = 0; k < SCHEDULERS; k++) expect(s, k, "early", k + 1, "early", 409, "NOT_STARTED");
  struct sql *holder = server_open(s->server, s->database);
  sql_exec(holder, "begin; select 1 from largesse.activity for no key update");
  set_clock(s, "2027-03-01T04:00:00Z");
  for (int k = 0; k < SCHEDULERS; k++) expect(s, k, "over", k + 1, "over", 410, "ENDED");
  sql_exec(holder, "commit");
  sql_close(holder);
  assert_int_equal(sql_int(s->sql, "select count(*) from largesse.claim"), 0);
  stack_free(s);
}

// B27: the allowance begins anew at midnight where the activity is, not at UTC's and not 24 hours later; so do week and
// month. Berlin has a day of 25 hours.
static void allowances_begin_anew_by_the_activitys_calendar(void **state)
{
  static const struct {
    const char *period, *zone, *at;
    int status;
    const char *resets_at;
  } steps[] = {{"month", "Asia/Shanghai", "2026-04-30T15:59:59.999999Z", 201, NULL},
               {"month", "Asia/Shanghai", "2026-04-30T16:00:00Z", 201, NULL},
               {"day", "Asia/Shanghai", "2026-05-01T15:59:59Z", 201, NULL},
               {"day", "Asia/Shanghai", "2026-05-01T16:00:01Z", 201, NULL},
               {"day", "Asia/Shanghai", "2026-05-01T16:00:02Z", 409, "2026-05-02T16:00:00.000000Z"},
               {"day", "Asia/Shanghai", "2026-05-02T00:00:01Z", 409, "2026-05-02T16:00:00.000000Z"},
               {"day", "Asia/Shanghai", "2026-05-02T16:00:00Z", 201, NULL},
               {"week", "Asia/Shanghai", "2026-05-03T15:59:59Z", 201, NULL},  // a Sunday
               {"week", "Asia/Shanghai", "2026-05-03T16:00:00Z", 201, NULL},
               {"week", "Asia/Shanghai", "2026-05-10T15:59:59Z", 409, "2026-05-10T16:00:00.000000Z"},
               {"month", "Asia/Shanghai", "2026-05-31T15:59:59Z", 409, "2026-05-31T16:00:00.000000Z"},
               {"day", "Europe/Berlin", "2026-10-24T22:00:00Z", 201, NULL},
               {"day", "Europe/Berlin", "2026-10-25T22:59:59Z", 409, "2026-10-25T23:00:00.000000Z"},
               {"day", "Europe/Berlin", "2026-10-25T23:00:00Z", 201, NULL}};
  struct stack *s = start_frozen(*state, "2026-04-30T15:00:00Z");
  static const struct {
    const char *period, *zone;
  } kinds[] = {
      {"day", "Asia/Shanghai"}, {"week", "Asia/Shanghai"}, {"month", "Asia/Shanghai"}, {"day", "Europe/Berlin"}};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    char code[40], limits[64];
    (void)snprintf(code, sizeof code, "%s-%.4s", kinds[i].period, kinds[i].zone);
    (void)snprintf(limits, sizeof limits, "[{\"count\":1,\"period\":\"%s\"}]", kinds[i].period);
    activity_make(s->sql, &(struct activity_terms){.code = code,
                                                   .stock = 100,
                                                   .limits = limits,
                                                   .time_zone = kinds[i].zone,
                                                   .start = "'2026-04-01T00:00:00Z'",
                                                   .end = "'2026-12-31T00:00:00Z'"});
  }
  for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
    set_clock(s, steps[i].at);
    char body[256];
    (void)snprintf(body, sizeof body, "{\"activityCode\":\"%s-%.4s\",\"userId\":1,\"bizId\":\"b27-%zu\"}",
                   steps[i].period, steps[i].zone, i);
    struct http_answer a;
    // What the client says about its own zone does not matter.
    http_call(&(struct http_request){.port = s->scheduler_ports[i % SCHEDULERS],
                                     .path = "/v1/claims",
                                     .body = body,
                                     .headers = "Time-Zone: Pacific/Kiritimati\r\n"},
              &a);
    json_t *json = http_answer_json(&a);
    const char *resets_at = json_string_value(json_object_get(json, "resetsAt"));
    if (a.status != steps[i].status)
      fail_msg("%s in %s at %s: %d %s", steps[i].period, steps[i].zone, steps[i].at, a.status, a.body);
    if (steps[i].resets_at != NULL) {
      assert_non_null(resets_at);
      assert_string_equal(resets_at, steps[i].resets_at);
      assert_string_equal(json_string_value(json_object_get(json, "code")), "LIMIT_REACHED");
    }
    json_decref(json);
    http_answer_release(&a);
  }
  stack_free(s);
}

// --- machines in other zones

static struct process *start_in_zone(struct stack *s, int port, const char *zone)
{
  char *bin = support_bin("scheduler"), *listen = support_format("LARGESSE_SCHEDULER__LISTEN=127.0.0.1:%d", port),
       *tz = support_format("TZ=%s", zone);
  const char *env[32] = {0};
  size_t n = 0;
  while (s->env[n] != NULL && n < 28) {
    env[n] = s->env[n];
    n++;
  }
  env[n++] = listen;
  env[n] = tz;
  struct process *p =
      process_start(&(struct process_spec){.name = "scheduler-zone",
                                           .argv = (const char *[]){bin, "-c", s->config, "serve", NULL},
                                           .env = env,
                                           .ready_port = port});
  mem_free(tz);
  mem_free(listen);
  mem_free(bin);
  return p;
}

// B26
static void zones_of_machines_do_not_matter(void **state)
{
  struct stack_options options = {
      .schedulers = STACK_NONE, .no_fulfiller = true, .no_reconciler = true, .no_simulator = true};
  struct stack *s = stack_start(*state, &options);
  sql_exec(s->sql, "alter database %s set timezone to 'Asia/Tokyo'", s->database);
  activity_make(s->sql, &(struct activity_terms){.code = "ended",
                                                 .stock = 9,
                                                 .start = "now - interval '3 hours'",
                                                 .end = "now - interval '30 minutes'",
                                                 .draft = true});
  sql_exec(s->sql,
           "update largesse.activity set status = 'published' where code = 'ended'");  // its end has passed: publishing
                                                                                       // would be refused
  activity_make(s->sql, &(struct activity_terms){.code = "coming", .stock = 9, .start = "now + interval '30 minutes'"});
  activity_make(
      s->sql,
      &(struct activity_terms){
          .code = "open", .stock = 9, .start = "now - interval '30 minutes'", .end = "now + interval '30 minutes'"});
  static const char *const zones[] = {"America/Los_Angeles", "UTC", "Pacific/Auckland"};
  for (size_t i = 0; i < sizeof zones / sizeof *zones; i++) {
    s->scheduler_ports[0] = server_free_port(s->server);
    struct process *p = start_in_zone(s, s->scheduler_ports[0], zones[i]);
    char biz_id[32], *path;
    (void)snprintf(biz_id, sizeof biz_id, "b26-%zu", i);
    expect(s, 0, "ended", (int64_t)i + 1, biz_id, 410, "ENDED");
    expect(s, 0, "coming", (int64_t)i + 1, biz_id, 409, "NOT_STARTED");
    expect(s, 0, "open", (int64_t)i + 1, biz_id, 201, "");
    path = support_format("/v1/claims/open/%s", biz_id);
    json_t *claim = NULL;
    assert_int_equal(http_json(s->scheduler_ports[0], "GET", path, NULL, &claim), 200);
    const char *at = json_string_value(json_object_get(claim, "createdAt"));
    struct wall_time t;
    assert_non_null(at);
    assert_int_equal(text_to_time(at, strlen(at), &t), RESULT_OK);
    assert_true(clk_wall().us - t.us < 30 * 1000000 && t.us - clk_wall().us < 1000000);
    json_decref(claim);
    mem_free(path);
    assert_int_equal(process_stop(p, 10), 0);
    process_free(p);
  }
  assert_int_equal(sql_int(s->sql, "select count(*) from largesse.claim"), 3);
  stack_free(s);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_window_counts_and_not_the_status),
      cmocka_unit_test(a_wrong_status_lets_nobody_in),
      cmocka_unit_test(allowances_begin_anew_by_the_activitys_calendar),
      cmocka_unit_test(zones_of_machines_do_not_matter),
  };
  return cmocka_run_group_tests_name("claim window", tests, server_set_up, server_tear_down);
}
