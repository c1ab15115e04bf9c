// SPDX-License-Identifier: Apache-2.0
// Before a claim is judged: dry runs, rate limits shared by two schedulers, requests that wait in a queue (also through
// the death of the scheduler that took them, and when it is full), warm-up, refusals counted by minute.
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/jsonx.h"
#include "common/mem.h"
#include "tests/support/claims.h"
#include "tests/support/simulator.h"
#include "tests/support/stack.h"
#include "tests/support/support.h"

#define QUEUE_MAX 20

static int set_up(void **state)
{
  static const char *const env[] = {"LARGESSE_SCHEDULER__INTAKE__QUEUE_MAX=20",
                                    "LARGESSE_SCHEDULER__CLAIMS__QUEUE_MAX=4", "LARGESSE_SCHEDULER__INTAKE__EVERY=50ms",
                                    NULL};
  static struct stack_options options = {.schedulers = 2, .no_reconciler = true, .env = env};
  *state = stack_start(server_start(), &options);
  return 0;
}

// --- helpers

struct reply {
  int status;
  json_t *json;
  char *location, *replayed, *retry_after, *limit, *policy;
};

static struct reply call(struct stack *s, int scheduler, const char *method, const char *path, const char *body)
{
  struct http_answer a;
  http_call(&(struct http_request){.port = s->scheduler_ports[scheduler], .method = method, .path = path, .body = body},
            &a);
  struct reply r = {a.status,
                    a.body_len > 0 ? http_answer_json(&a) : NULL,
                    http_answer_header(&a, "Location"),
                    http_answer_header(&a, "Idempotent-Replayed"),
                    http_answer_header(&a, "Retry-After"),
                    http_answer_header(&a, "RateLimit"),
                    http_answer_header(&a, "RateLimit-Policy")};
  http_answer_release(&a);
  return r;
}

static void release(struct reply *r)
{
  json_decref(r->json);
  mem_free(r->location);
  mem_free(r->replayed);
  mem_free(r->retry_after);
  mem_free(r->limit);
  mem_free(r->policy);
}

static const char *text_at(const struct reply *r, const char *pointer)
{
  const json_t *j = r->json ? jsonx_pointer(r->json, pointer) : NULL;
  return json_is_string(j) ? json_string_value(j) : "";
}

static int64_t number_at(const struct reply *r, const char *pointer)
{
  const json_t *j = r->json ? jsonx_pointer(r->json, pointer) : NULL;
  return json_is_integer(j) ? json_integer_value(j) : -1;
}

static struct reply post_claim(struct stack *s, int scheduler, const char *query, const char *code, int64_t user,
                               const char *biz_id)
{
  char *path = support_format("/v1/claims%s", query);
  char *body =
      support_format("{\"activityCode\":\"%s\",\"userId\":%lld,\"bizId\":\"%s\"}", code, (long long)user, biz_id);
  struct reply r = call(s, scheduler, "POST", path, body);
  mem_free(path);
  mem_free(body);
  return r;
}

static void assert_reply(struct reply *r, int status, const char *code)
{
  if (r->status != status || strcmp(text_at(r, "/code"), code) != 0)
    fail_msg("%d %s %s, expected %d %s", r->status, text_at(r, "/code"), text_at(r, "/detail"), status, code);
}

static void expect(struct stack *s, const char *query, const char *code, const char *biz_id, int status,
                   const char *problem)
{
  struct reply r = post_claim(s, 0, query, code, 7, biz_id);
  assert_reply(&r, status, problem);
  release(&r);
}

// What the rest of the API would set.
static void change(struct stack *s, const char *code, const char *what)
{
  char *sql = support_format("update largesse.activity set %s, changed_at = largesse.clock_now() where code = '%s'",
                             what, code);
  sql_exec(s->sql, "%s", sql);
  mem_free(sql);
}

// --- cases

static void a_dry_run_tells_and_changes_nothing(void **state)
{
  struct stack *s = *state;
  activity_make(s->sql,
                &(struct activity_terms){.code = "dry", .stock = 5, .limits = "[{\"count\":1,\"period\":\"day\"}]"});
  char *before = activity_books(s->sql, "dry");
  struct reply r = post_claim(s, 0, "?dryRun=true", "dry", 7, "d1");
  assert_reply(&r, 200, "");
  assert_true(json_is_true(json_object_get(r.json, "allowed")));
  assert_string_equal(text_at(&r, "/status"), "issuing");
  assert_string_equal(text_at(&r, "/checks/0/rule"), "idempotency");
  assert_true(json_array_size(json_object_get(r.json, "checks")) >= 6);
  release(&r);
  expect(s, "?dryRun=true&at=2099-01-01T00:00:00Z", "dry", "d1", 200, "ENDED");
  expect(s, "?dryRun=true&at=2001-01-01T00:00:00%2B08:00", "dry", "d1", 200, "NOT_STARTED");
  expect(s, "?dryRun=true", "nowhere", "d1", 200, "ACTIVITY_NOT_FOUND");
  expect(s, "?dryRun=yes", "dry", "d1", 400, "INVALID_REQUEST");
  expect(s, "?dryRun=true&at=2099-01-01T00:00:00+08:00", "dry", "d1", 200, "ENDED");  // + that was not escaped
  expect(s, "?dryRun=true&at=2099-01-01%2000:00:00Z", "dry", "d1", 400, "INVALID_REQUEST");
  expect(s, "?dryrun=true", "dry", "d1", 400, "INVALID_REQUEST");
  expect(s, "?at=2099-01-01T00:00:00Z", "dry", "d1", 400, "INVALID_REQUEST");
  expect(s, "?dryRun=true&at=tomorrow", "dry", "d1", 400, "INVALID_REQUEST");
  expect(s, "?dryRun=false&at=2099-01-01T00:00:00Z", "dry", "d1", 400, "INVALID_REQUEST");
  char *after = activity_books(s->sql, "dry");
  assert_string_equal(before, after);
  expect(s, "?dryRun=false", "dry", "d1", 201, "");
  r = post_claim(s, 1, "?dryRun=true", "dry", 7, "d1");
  assert_true(json_is_true(json_object_get(r.json, "replayed")));
  assert_string_equal(text_at(&r, "/claim/bizId"), "d1");
  release(&r);
  r = post_claim(s, 1, "?dryRun=true", "dry", 7, "d2");
  assert_string_equal(text_at(&r, "/code"), "LIMIT_REACHED");
  const json_t *limit = json_array_get(json_object_get(r.json, "checks"), 3);
  assert_string_equal(json_string_value(json_object_get(limit, "rule")), "limit.day");
  assert_int_equal(json_integer_value(json_object_get(limit, "count")), 1);
  assert_non_null(json_object_get(limit, "resetsAt"));
  release(&r);
  mem_free(before);
  mem_free(after);
}

static bool policy_is(struct stack *s, const char *code, const char *policy)
{
  struct reply r = post_claim(s, 0, "", code, 1, "first");
  bool is_it = r.policy != NULL && strcmp(r.policy, policy) == 0;
  release(&r);
  return is_it;
}

static void a_user_in_a_hurry_is_slowed_down_but_never_his_known_click(void **state)
{
  struct stack *s = *state;
  activity_make(s->sql, &(struct activity_terms){.code = "rate", .stock = 1000, .limits = "[]"});
  change(s, "rate", "rate_limit = '{\"perUser\":{\"rate\":1,\"burst\":4},\"total\":{\"rate\":1000,\"burst\":500}}'");
  // Two schedulers live, so that each gives half. The same click again and again burns nothing.
  WAIT_FOR(policy_is(s, "rate", "\"user\";q=2;w=4, \"activity\";q=250;w=1"), 10);
  struct reply r = {0};
  int passed = 0;
  for (int i = 0; i < 10 && r.status != 429; i++) {
    char biz_id[16];
    (void)snprintf(biz_id, sizeof biz_id, "r%d", i);
    release(&r);
    r = post_claim(s, 0, "", "rate", 2, biz_id);
    if (r.status == 201) passed++;
  }
  assert_reply(&r, 429, "RATE_LIMITED");
  assert_in_range(passed, 1, 4);
  assert_string_equal(text_at(&r, "/rule"), "rateLimit.perUser");
  assert_string_equal(text_at(&r, "/violated-policies/0"), "user");
  assert_true(json_is_true(json_object_get(r.json, "retryable")));
  assert_true(strcmp(r.retry_after, "1") == 0 || strcmp(r.retry_after, "2") == 0);
  assert_non_null(strstr(r.limit, "\"user\";r=0;t="));
  release(&r);
  r = post_claim(s, 0, "", "rate", 2, "r0");
  assert_int_equal(r.status, 200);
  assert_string_equal(r.replayed, "true");
  release(&r);
  r = post_claim(s, 0, "", "rate", 3, "r0");  // his click, another user: known too
  assert_reply(&r, 422, "BIZ_ID_REUSED");
  release(&r);
  r = post_claim(s, 0, "", "rate", 4, "r-4");  // another user is not in a hurry
  assert_int_equal(r.status, 201);
  release(&r);
  struct claim_click again = claim_click(s->scheduler_ports[0], "rate", 2, "r-later");
  WAIT_FOR(claim_send(&again).status == 201, 5);
  WAIT_FOR(
      sql_int(s->sql, "select coalesce(sum(refusals), 0) from largesse.refusal_count where code = 'RATE_LIMITED'") >= 1,
      5);
}

static void queue_some(struct stack *s, int scheduler, int from, int until, int status)
{
  for (int i = from; i < until; i++) {
    char biz_id[16];
    (void)snprintf(biz_id, sizeof biz_id, "q%d", i);
    struct reply r = post_claim(s, scheduler, "", "queue", 100 + i, biz_id);
    if (r.status != status) fail_msg("%s: %d %s, expected %d", biz_id, r.status, text_at(&r, "/code"), status);
    if (status == 202) assert_int_equal(number_at(&r, "/position"), i);
    if (status == 503) assert_non_null(r.retry_after);
    release(&r);
  }
}

static void assert_queued(struct stack *s)
{
  struct reply r = post_claim(s, 1, "", "queue", 103, "q3");
  assert_int_equal(r.status, 202);
  assert_string_equal(r.location, "/v1/claims/queue/q3");
  assert_string_equal(r.replayed, "true");
  assert_string_equal(text_at(&r, "/status"), "queued");
  assert_int_equal(number_at(&r, "/position"), 3);
  release(&r);
  r = call(s, 1, "GET", "/v1/claims/queue/q3", NULL);
  assert_int_equal(r.status, 200);
  assert_string_equal(text_at(&r, "/status"), "queued");
  assert_int_equal(number_at(&r, "/position"), 3);
  release(&r);
  r = post_claim(s, 1, "", "queue", 999, "q3");
  assert_reply(&r, 422, "BIZ_ID_REUSED");
  release(&r);
}

static void assert_refused(struct stack *s)
{
  struct reply r = call(s, 1, "GET", "/v1/claims/queue/q20", NULL);
  assert_int_equal(r.status, 200);
  assert_string_equal(text_at(&r, "/status"), "refused");
  assert_string_equal(text_at(&r, "/refusal/code"), "SOLD_OUT");
  assert_int_equal(number_at(&r, "/refusal/status"), 409);
  assert_int_equal(number_at(&r, "/refusal/remaining"), 0);
  release(&r);
  r = post_claim(s, 1, "", "queue", 120, "q20");
  assert_reply(&r, 409, "SOLD_OUT");
  release(&r);
  r = post_claim(s, 1, "", "queue", 101, "q1");
  assert_int_equal(r.status, 200);
  assert_string_equal(text_at(&r, "/bizId"), "q1");
  release(&r);
}

// The test holds back the judges by the lock that they take.
static void a_queue_outlives_the_scheduler_that_filled_it(void **state)
{
  struct stack *s = *state;
  activity_make(s->sql, &(struct activity_terms){.code = "queue", .stock = 5, .draft = true});
  change(s, "queue", "intake = 'queued'");
  assert_int_equal(activity_act(s->scheduler_ports[0], "queue", "publish"), 200);
  sql_exec(s->sql, "insert into largesse.claim_queue_tail select id, 0 from largesse.activity where code = 'queue'");
  sql_exec(
      s->sql,
      "insert into largesse.claim_queue_head select id, 0, '-infinity' from largesse.activity where code = 'queue'");
  struct sql *judge = server_open(s->server, s->database);
  sql_exec(judge, "begin");
  sql_exec(judge, "select 1 from largesse.claim_queue_head for update");
  queue_some(s, 0, 1, QUEUE_MAX + 1, 202);
  assert_queued(s);
  queue_some(s, 0, QUEUE_MAX + 1, QUEUE_MAX + 6, 503);  // full: nothing of these is kept
  assert_int_equal(sql_int(s->sql, "select count(*) from largesse.claim_queue"), QUEUE_MAX);
  process_kill(s->schedulers[0]);
  assert_int_equal(activity_claims(s->sql, "queue"), 0);
  sql_exec(judge, "commit");
  sql_close(judge);
  WAIT_FOR(sql_int(s->sql, "select count(*) from largesse.claim_queue where verdict is null") == 0, 10);
  assert_int_equal(activity_claims(s->sql, "queue"), 5);
  assert_int_equal(sql_int(s->sql,
                           "select count(*) from largesse.claim where biz_id in ('q1', 'q2', 'q3', 'q4', 'q5') and "
                           "activity_id = (select id from largesse.activity where code = 'queue')"),
                   5);
  assert_refused(s);
  WAIT_FOR(sql_int(s->sql,
                   "select count(*) from largesse.claim c join largesse.activity a on a.id = c.activity_id where "
                   "a.code = 'queue' and c.status = 'succeeded'") == 5,
           15);
  stack_start_scheduler(s, 0);
}

// Fifteen activities, twenty users each, every click at both schedulers at the same moment, two judges.
static void many_queues_have_two_judges_and_one_verdict_each(void **state)
{
  enum { ACTIVITIES = 15, USERS = 20, STOCK = 7 };
  struct stack *s = *state;
  char codes[ACTIVITIES][16];
  for (int k = 0; k < ACTIVITIES; k++) {
    (void)snprintf(codes[k], sizeof codes[k], "turn-%d", k);
    activity_make(s->sql, &(struct activity_terms){.code = codes[k], .stock = STOCK, .draft = true});
    change(s, codes[k], "intake = 'queued'");
    assert_int_equal(activity_act(s->scheduler_ports[k % 2], codes[k], "publish"), 200);
  }
  for (int user = 1; user <= USERS; user++) {
    struct claim_click clicks[2 * ACTIVITIES];
    struct claim_answer answers[2 * ACTIVITIES];
    for (int i = 0; i < 2 * ACTIVITIES; i++)
      clicks[i] = claim_click(s->scheduler_ports[i % 2], codes[i / 2], user, "t%d", user);
    claim_send_all(clicks, 2 * ACTIVITIES, answers);
    // Queued, or judged already by the time that the second copy came.
    for (int i = 0; i < 2 * ACTIVITIES; i++) {
      for (int n = 0; answers[i].status == 503 && n < 100; n++)
        answers[i] = claim_send(&clicks[i]);  // the line is short here
      bool is_good = answers[i].status == 202 || answers[i].status == 200 ||
                     (answers[i].status == 409 && strcmp(answers[i].code, "SOLD_OUT") == 0);
      if (!is_good) fail_msg("%s user %d: %d %s", clicks[i].code, user, answers[i].status, answers[i].code);
    }
  }
  WAIT_FOR(sql_int(s->sql, "select count(*) from largesse.claim_queue where verdict is null") == 0, 10);
  assert_int_equal(sql_int(s->sql,
                           "select count(*) from largesse.claim_queue_head join largesse.claim_queue_tail using "
                           "(activity_id) where queued <> judged"),
                   0);
  assert_int_equal(sql_int(s->sql,
                           "select count(*) from largesse.claim c join largesse.activity a on a.id = c.activity_id "
                           "where a.code like 'turn-%%'"),
                   ACTIVITIES * STOCK);
  assert_int_equal(sql_int(s->sql,
                           "select count(*) from largesse.stock s join largesse.activity a on a.id = s.activity_id "
                           "where a.code like 'turn-%%' and s.remaining <> 0"),
                   0);
  // Those who were queued and refused, and those whom memory told by then that nothing was left: each of the others.
  assert_int_equal(
      sql_int(s->sql, "select count(*) from largesse.claim_queue q join largesse.claim c using (activity_id, biz_id)"),
      0);
}

// Claims pile up behind a lock on the stock: a few wait, the others are told to come back, and nothing is half done.
static void a_full_line_is_told_at_once_and_nothing_is_half_done(void **state)
{
  enum { CLICKS = 24 };
  struct stack *s = *state;
  struct claim_click clicks[CLICKS];
  struct claim_answer answers[CLICKS];
  activity_make(s->sql, &(struct activity_terms){.code = "full", .stock = 100});
  struct claim_click first = claim_click(s->scheduler_ports[1], "full", 1, "f-first");
  assert_int_equal(claim_send(&first).status, 201);
  struct sql *lock = server_open(s->server, s->database);
  sql_exec(lock, "set idle_in_transaction_session_timeout = '700ms'");  // then the server itself lets go
  sql_exec(lock, "begin");
  sql_exec(lock,
           "select 1 from largesse.stock where activity_id = (select id from largesse.activity where code = 'full') "
           "for update");
  for (int i = 0; i < CLICKS; i++) clicks[i] = claim_click(s->scheduler_ports[1], "full", 100 + i, "f-%d", i);
  claim_send_all(clicks, CLICKS, answers);
  int accepted = 0, overloaded = 0;
  for (int i = 0; i < CLICKS; i++) {
    accepted += answers[i].status == 201;
    overloaded += answers[i].status == 503 && strcmp(answers[i].code, "OVERLOADED") == 0;
  }
  char *said = claim_summary(answers, CLICKS);
  if (accepted + overloaded != CLICKS || overloaded < 1) fail_msg("%s", said);
  mem_free(said);
  assert_int_equal(activity_claims(s->sql, "full"), accepted + 1);
  assert_int_equal(activity_remaining(s->sql, "full"), 100 - accepted - 1);
  for (int i = 0; i < CLICKS; i++) {
    struct claim_answer again = claim_send(&clicks[i]);
    assert_int_equal(again.status, answers[i].status == 201 ? 200 : 201);
  }
  assert_int_equal(activity_remaining(s->sql, "full"), 100 - CLICKS - 1);
  sql_close(lock);
}

static void refusals_are_told_by_the_minute(void **state)
{
  struct stack *s = *state;
  struct reply r = call(s, 1, "GET", "/v1/activities/queue/refusals?from=2020-01-01T00:00:00Z", NULL);
  int64_t sold_out = 0;
  size_t i;
  json_t *item;
  assert_int_equal(r.status, 200);
  json_array_foreach(json_object_get(r.json, "items"), i, item) sold_out +=
      json_integer_value(json_object_get(json_object_get(item, "codes"), "SOLD_OUT"));
  assert_true(sold_out >= QUEUE_MAX - 5);
  release(&r);
  struct buf out;
  buf_init(&out, 65536);
  assert_int_equal(stack_command(s, "scheduler", (const char *[]){"activity", "refusals", "queue", NULL}, &out), 0);
  assert_non_null(strstr(buf_text(&out), "SOLD_OUT"));
  buf_release(&out);
  r = call(s, 1, "GET", "/v1/activities/queue/refusals?until=2020-01-01T00:00:00Z", NULL);
  assert_int_equal(json_array_size(json_object_get(r.json, "items")), 0);
  release(&r);
  r = call(s, 1, "GET", "/v1/activities/queue/refusals?from=yesterday", NULL);
  assert_reply(&r, 400, "INVALID_REQUEST");
  release(&r);
  r = call(s, 1, "GET", "/v1/activities/nowhere/refusals", NULL);
  assert_reply(&r, 404, "ACTIVITY_NOT_FOUND");
  release(&r);
}

static void warming_up_reports_and_warns(void **state)
{
  struct stack *s = *state;
  activity_make(s->sql,
                &(struct activity_terms){
                    .code = "warm", .stock = 100, .start = "now + interval '30 s'", .end = "now + interval '1 h'"});
  change(s, "warm", "needs_qualification = true");
  char *before = activity_books(s->sql, "warm");
  struct reply r = call(s, 1, "POST", "/v1/activities/warm/warm-up", "{\"reason\":\"soon\"}");
  assert_reply(&r, 200, "");
  assert_int_equal(number_at(&r, "/capacity/stock/remaining"), 100);
  assert_int_equal(number_at(&r, "/connections/count"), 8);
  assert_int_equal(number_at(&r, "/connections/failed"), 0);
  assert_int_equal(number_at(&r, "/connections/statements"), 24);
  assert_true(number_at(&r, "/estimatedClaimsPerSecond") > 100);
  assert_string_equal(text_at(&r, "/lanes/0/provider"), "simulator");
  assert_string_equal(text_at(&r, "/warnings/0/code"), "NO_QUALIFICATIONS");
  assert_true(number_at(&r, "/timings/totalMs") >= 0);
  release(&r);
  char *after = activity_books(s->sql, "warm");
  assert_string_equal(before, after);
  r = call(s, 1, "POST", "/v1/activities/dry/warm-up", NULL);  // one that runs: nothing is claimed by it
  assert_reply(&r, 200, "");
  release(&r);
  assert_int_equal(activity_claims(s->sql, "dry"), 1);
  struct buf out;
  buf_init(&out, 65536);
  assert_int_equal(stack_command(s, "scheduler", (const char *[]){"activity", "warm-up", "warm", NULL}, &out), 0);
  assert_non_null(strstr(buf_text(&out), "warning: NO_QUALIFICATIONS: "));
  assert_non_null(strstr(buf_text(&out), "\"remaining\":100"));
  buf_release(&out);
  r = call(s, 1, "POST", "/v1/activities/nowhere/warm-up", NULL);
  assert_reply(&r, 404, "ACTIVITY_NOT_FOUND");
  release(&r);
  mem_free(before);
  mem_free(after);
  // By themselves, since it starts within a minute.
  WAIT_FOR(process_log_has(s->schedulers[0], "activity.warmed activity_code=warm") &&
               process_log_has(s->schedulers[1], "activity.warmed activity_code=warm"),
           10);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_dry_run_tells_and_changes_nothing),
      cmocka_unit_test(a_user_in_a_hurry_is_slowed_down_but_never_his_known_click),
      cmocka_unit_test(a_queue_outlives_the_scheduler_that_filled_it),
      cmocka_unit_test(many_queues_have_two_judges_and_one_verdict_each),
      cmocka_unit_test(a_full_line_is_told_at_once_and_nothing_is_half_done),
      cmocka_unit_test(refusals_are_told_by_the_minute),
      cmocka_unit_test(warming_up_reports_and_warns),
  };
  return cmocka_run_group_tests(tests, set_up, stack_tear_down);
}
