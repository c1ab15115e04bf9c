// SPDX-License-Identifier: Apache-2.0
// Buying numbers, from the click to the money: who gets them, who pays, who is paid back. Against a payment service
// that keeps books and calls back early, twice and late.
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/mem.h"
#include "tests/support/claims.h"
#include "tests/support/delivery.h"
#include "tests/support/protection.h"
#include "tests/support/simulator.h"
#include "tests/support/support.h"

#define BUYERS 50

static int set_up(void **state)
{
  static const char *const env[] = {"LARGESSE_SCHEDULER__SWEEP__EVERY=100ms",
                                    "LARGESSE_FULFILLER__PROVIDERS__SIMULATOR__PENDING_POLL=1s",
                                    "LARGESSE_FULFILLER__PROVIDERS__SIMULATOR__TOTAL_TIMEOUT=4s", NULL};
  *state = stack_start(server_start(), &(struct stack_options){.env = env});
  return 0;
}

// Numbers from 1 on; more are further members of the activity's configuration, each ended by a comma.
static void make(struct stack *s, const char *code, int numbers, const char *more)
{
  sql_exec(s->sql, "select largesse.reward_put('prize', 'simulator', 100, 'CNY', '{}')");
  char *made = sql_text(
      s->sql,
      "select p.outcome || coalesce(p.detail, '') from largesse.activity_put(jsonb_build_object('code', '%s', 'name', "
      "'n', 'kind', 'number', 'timeZone', 'UTC', %s 'startAt', now() - interval '1 hour', 'endAt', now() + interval "
      "'1 hour', 'stock', '{}'::jsonb, 'price', '{\"amount\": 500, \"currency\": \"JPY\"}'::jsonb, 'paymentProvider', "
      "'simulator'), 'test', null) p",
      code, more);
  assert_string_equal(made, "created");
  mem_free(made);
  sql_exec(s->sql, "select largesse.numbers_add('%s', null, 1, %d, 'test')", code, numbers);
  sql_exec(s->sql, "select largesse.activity_action('%s', 'publish', 'test', null, null)", code);
}

static char *body_of(const char *code, int user, const char *biz_id, const char *numbers)
{
  return support_format("{\"activityCode\":\"%s\",\"userId\":%d,\"bizId\":\"%s\",\"numbers\":[%s]}", code, user, biz_id,
                        numbers);
}

// The claim's id if it was accepted, else the refusal's code. Heap.
static char *buy(struct stack *s, const char *code, int user, const char *biz_id, const char *numbers)
{
  json_t *json = NULL;
  char *body = body_of(code, user, biz_id, numbers);
  int status = http_json(s->scheduler_ports[0], "POST", "/v1/claims", body, &json);
  char *said = mem_strdup(json_string_value(json_object_get(json, status == 201 ? "claimId" : "code")));
  json_decref(json);
  mem_free(body);
  return said;
}

static json_t *claim_of(struct stack *s, const char *id)
{
  json_t *json = NULL;
  char *path = support_format("/v1/claims/%s", id);
  assert_int_equal(http_json(s->scheduler_ports[0], "GET", path, NULL, &json), 200);
  mem_free(path);
  return json;
}

// Whether a member of the claim has this value: "status", "payment", "refund" (of these two, the status).
static bool shows(struct stack *s, const char *id, const char *name, const char *value)
{
  json_t *claim = claim_of(s, id), *member = json_object_get(claim, name);
  const char *said = json_string_value(json_is_object(member) ? json_object_get(member, "status") : member);
  bool is_so = said != NULL && strcmp(said, value) == 0;
  json_decref(claim);
  return is_so;
}

// What the person does at the pay page: "pay" or "fail".
static void at_the_page(struct stack *s, const char *id, const char *what)
{
  char *path = support_format("/payments/%s-p/%s", id, what);
  json_t *json = NULL;
  assert_int_equal(http_json(s->simulator_port, "POST", path, "{}", &json), 200);
  json_decref(json);
  mem_free(path);
}

static int64_t ledger(struct stack *s, const char *id, const char *suffix, const char *name)
{
  char *request_id = support_format("%s%s", id, suffix);
  int64_t value = simulator_ledger(s->simulator_port, request_id, name);
  mem_free(request_id);
  return value;
}

// "1:available,2:sold:12-3" of the numbers up to a last one. Heap.
static char *numbers_of(struct stack *s, const char *code, int last)
{
  return sql_text(
      s->sql,
      "select string_agg(concat_ws(':', n.number, n.status, n.activity_id || '-' || n.claim_id), ',' order by "
      "n.number) from largesse.activity_number n join largesse.activity a on a.id = n.activity_id where "
      "a.code = '%s' and n.number <= %d",
      code, last);
}

static void assert_numbers(struct stack *s, const char *code, int last, const char *expected, ...)
{
  char text[200];
  va_list args;
  va_start(args, expected);
  (void)vsnprintf(text, sizeof text, expected, args);
  va_end(args);
  char *actual = numbers_of(s, code, last);
  assert_string_equal(actual, text);
  mem_free(actual);
}

static char *callback_states(struct stack *s, const char *id)
{
  return sql_text(s->sql,
                  "select coalesce(string_agg(b.outcome || ' ' || b.state, ',' order by b.received_at), 'none') from "
                  "largesse.callback b where b.request_id = '%s-p'",
                  id);
}

// Whether the provider's statement has a line that begins like this.
static bool is_in_statement(struct stack *s, const char *id, const char *line)
{
  struct http_answer answer;
  char *begin = support_format("\n%s-p,%s,", id, line);
  http_get(s->simulator_port, "/sim/statement.csv", &answer);
  bool is_there = strstr(answer.body, begin) != NULL;
  http_answer_release(&answer);
  mem_free(begin);
  return is_there;
}

static int64_t charges_recorded(struct stack *s, const char *id)
{
  return sql_int(s->sql,
                 "select count(*) from largesse.attempt t where t.activity_id || '-' || t.claim_id = '%s' and t.step = "
                 "'charge'",
                 id);
}

// B12: one free number, 50 buyers: one sale, one charge.
static void one_number_is_sold_once_and_charged_once(void **state)
{
  struct stack *s = *state;
  struct http_request requests[BUYERS];
  struct http_answer answers[BUYERS];
  char *winner = NULL;
  make(s, "only", 1, "");
  simulator_config(s->simulator_port, "{\"autoPay\":true}");
  for (int i = 0; i < BUYERS; i++) {
    char biz_id[16];
    (void)snprintf(biz_id, sizeof biz_id, "b%d", i);
    requests[i] = (struct http_request){
        .port = s->scheduler_ports[0], .path = "/v1/claims", .body = body_of("only", 1000 + i, biz_id, "1")};
  }
  http_call_all(requests, BUYERS, answers);
  for (int i = 0; i < BUYERS; i++) {
    json_t *json = http_answer_json(&answers[i]);
    if (answers[i].status == 201 && winner == NULL)
      winner = mem_strdup(json_string_value(json_object_get(json, "claimId")));
    else
      assert_string_equal(json_string_value(json_object_get(json, "code")), "NUMBER_TAKEN");
    json_decref(json);
    http_answer_release(&answers[i]);
    mem_free((char *)requests[i].body);
  }
  assert_non_null(winner);
  WAIT_FOR(shows(s, winner, "status", "succeeded"), 15);
  assert_numbers(s, "only", 1, "1:sold:%s", winner);
  assert_int_equal(simulator_stat(s->simulator_port, "requests"), 1);
  assert_int_equal(ledger(s, winner, "-p", "effects"), 1);
  assert_int_equal(ledger(s, winner, "-p", "amount"), 500);
  simulator_config(s->simulator_port, "{\"autoPay\":false}");
  mem_free(winner);
}

// B10: three numbers fail together, and are all free again; B14: whose payment failed may try again.
static void a_failed_payment_frees_all_numbers_and_the_allowance(void **state)
{
  struct stack *s = *state;
  make(s, "three", 3, "'limits', '[{\"count\": 3, \"period\": \"total\"}]'::jsonb,");
  char *a = buy(s, "three", 1, "a1", "1,2,3");
  assert_numbers(s, "three", 3, "1:held:%s,2:held:%s,3:held:%s", a, a, a);
  WAIT_FOR(shows(s, a, "payment", "pending"), 15);
  json_t *claim = claim_of(s, a);
  char *url = support_format("http://127.0.0.1:%d/payments/%s-p/page", s->simulator_port, a);
  assert_string_equal(json_string_value(json_object_get(json_object_get(claim, "payment"), "url")), url);
  mem_free(url);
  json_decref(claim);
  at_the_page(s, a, "fail");
  WAIT_FOR(shows(s, a, "status", "expired"), 15);
  assert_numbers(s, "three", 3, "1:available,2:available,3:available");
  assert_int_equal(activity_remaining(s->sql, "three"), 3);
  char *again = buy(s, "three", 1, "a2", "3,1,2");
  WAIT_FOR(shows(s, again, "payment", "pending"), 15);
  at_the_page(s, again, "pay");
  WAIT_FOR(shows(s, again, "status", "succeeded"), 15);
  assert_true(is_in_statement(s, again, "1,payment,1500,JPY") && !is_in_statement(s, a, "1,payment,1500,JPY"));
  char *third = buy(s, "three", 1, "a3", "1");
  assert_string_equal(third, "LIMIT_REACHED");
  char *other = buy(s, "three", 2, "b1", "1");
  assert_true(strcmp(other, "NUMBER_TAKEN") == 0 || strcmp(other, "SOLD_OUT") == 0);
  mem_free(other);
  mem_free(third);
  mem_free(again);
  mem_free(a);
}

static int64_t calls_recorded(struct stack *s, const char *id, const char *step, const char *outcome)
{
  return sql_int(s->sql,
                 "select count(*) from largesse.attempt t where t.activity_id || '-' || t.claim_id = '%s' and t.step = "
                 "'%s' and t.outcome = '%s'",
                 id, step, outcome);
}

static int64_t letters_of(struct stack *s, const char *code)
{
  return sql_int(s->sql,
                 "select count(*) from largesse.dead_letter d join largesse.activity a on a.id = d.activity_id where "
                 "a.code = '%s'",
                 code);
}

// Who does not pay leaves nothing behind: the order is closed when the hold has ended, and nobody need look. An order
// that is still held is not; one whose answer got lost is asked about; one that is paid at that moment is late.
static void what_nobody_pays_is_closed_when_its_hold_has_ended(void **state)
{
  struct stack *s = *state;
  make(s, "left", 4, "");
  char *held = buy(s, "left", 20, "h", "4");
  sql_exec(s->sql, "update largesse.activity set hold_for = '1 second' where code = 'left'");
  simulator_script(s->simulator_port,
                   "{\"match\":{\"userId\":22,\"call\":\"close\"},\"steps\":[{\"status\":500,\"effect\":\"before\"}]}");
  simulator_script(
      s->simulator_port,
      "{\"match\":{\"userId\":23,\"call\":\"close\"},\"times\":100,\"steps\":[{\"status\":409,\"effect\":\"none\"}]}");
  char *left = buy(s, "left", 21, "l", "1"), *lost = buy(s, "left", 22, "o", "2"), *late = buy(s, "left", 23, "p", "3");
  WAIT_FOR(ledger(s, late, "-p", "closes") > 0, 15);
  at_the_page(s, late, "pay");
  WAIT_FOR(shows(s, left, "payment", "closed") && shows(s, lost, "payment", "refused"), 15);
  WAIT_FOR(shows(s, late, "status", "succeeded"), 15);
  assert_true(shows(s, left, "status", "expired") && shows(s, lost, "status", "expired"));
  json_t *claim = claim_of(s, left);
  assert_non_null(json_object_get(json_object_get(claim, "payment"), "closedAt"));
  json_decref(claim);
  assert_int_equal(calls_recorded(s, left, "close", "done"), 1);
  assert_int_equal(calls_recorded(s, lost, "close", "unknown"), 1);
  assert_true(calls_recorded(s, late, "close", "refused") > 0);
  assert_int_equal(ledger(s, left, "-p", "closes"), 1);
  assert_int_equal(ledger(s, lost, "-p", "closes"), 1);
  assert_int_equal(ledger(s, held, "-p", "closes"), 0);
  assert_true(shows(s, held, "payment", "pending"));
  assert_numbers(s, "left", 4, "1:available,2:available,3:sold:%s,4:held:%s", late, held);
  assert_int_equal(letters_of(s, "left"), 0);
  assert_true(protection_metric(
                  s->fulfiller_port,
                  "largesse_provider_actions_total{provider=\"simulator\",action=\"close\",outcome=\"done\"}") >= 1);
  at_the_page(s, held, "pay");
  WAIT_FOR(shows(s, held, "status", "succeeded"), 15);
  mem_free(held);
  mem_free(left);
  mem_free(lost);
  mem_free(late);
}

// B11: A's hold has ended, B has bought and paid; A pays. And who gave up what he then paid for is paid back as well.
// A's provider had even said that A's order was closed; C's could not be reached for that.
static void a_late_payment_never_moves_what_another_bought(void **state)
{
  struct stack *s = *state;
  make(s, "late", 2, "'holdFor', '1s',");
  simulator_script(
      s->simulator_port,
      "{\"match\":{\"userId\":1,\"call\":\"close\"},\"times\":100,\"steps\":[{\"status\":200,\"effect\":\"none\"}]}");
  simulator_script(
      s->simulator_port,
      "{\"match\":{\"userId\":3,\"call\":\"close\"},\"times\":100,\"steps\":[{\"status\":503,\"effect\":\"none\"}]}");
  char *a = buy(s, "late", 1, "a", "1"), *c = buy(s, "late", 3, "c", "2");
  WAIT_FOR(shows(s, a, "payment", "pending") && shows(s, c, "payment", "pending"), 15);
  WAIT_FOR(shows(s, a, "payment", "closed") && shows(s, c, "status", "expired"), 15);
  sql_exec(s->sql, "update largesse.activity set hold_for = '15 minutes' where code = 'late'");
  char *b = buy(s, "late", 2, "b", "1");
  WAIT_FOR(shows(s, b, "payment", "pending"), 15);
  at_the_page(s, b, "pay");
  WAIT_FOR(shows(s, b, "status", "succeeded"), 15);
  at_the_page(s, a, "pay");
  at_the_page(s, a, "pay");
  at_the_page(s, c, "pay");  // whose number is still free
  WAIT_FOR(shows(s, a, "refund", "done") && shows(s, c, "status", "succeeded"), 15);
  assert_true(shows(s, a, "status", "expired"));
  assert_numbers(s, "late", 2, "1:sold:%s,2:sold:%s", b, c);
  WAIT_FOR(calls_recorded(s, c, "close", "unknown") > 0, 15);
  assert_int_equal(ledger(s, a, "-p", "reversals"), 1);
  assert_true(is_in_statement(s, a, "1,payment,500,JPY") && is_in_statement(s, a, "1,refund,500,JPY"));
  assert_int_equal(ledger(s, b, "-p", "reversals"), 0);
  assert_int_equal(ledger(s, c, "-p", "reversals"), 0);
  mem_free(a);
  mem_free(b);
  mem_free(c);
}

// The news is there before the call that asked for it has returned, twice; failures that are told later move nothing
// (B40).
static void a_callback_that_is_early_doubled_and_contradicted_is_one_sale(void **state)
{
  struct stack *s = *state;
  make(s, "early", 1, "'rewardCode', 'prize',");
  simulator_script(
      s->simulator_port,
      "{\"match\":{\"userId\":5,\"call\":\"payment\"},\"steps\":[{\"delayMs\":700,\"callback\":{\"delayMs\":0,"
      "\"copies\":2,\"gapMs\":40,\"status\":\"SUCCESS\"}}]}");
  char *id = buy(s, "early", 5, "e", "1");
  WAIT_FOR(shows(s, id, "payment", "done"), 15);
  assert_int_equal(charges_recorded(s, id), 0);
  WAIT_FOR(shows(s, id, "status", "succeeded"), 15);
  WAIT_FOR(charges_recorded(s, id) == 1, 15);
  at_the_page(s, id, "fail");
  char *states = NULL;
  WAIT_FOR((mem_free(states), states = callback_states(s, id), strchr(states, ',') != NULL), 15);
  assert_string_equal(states, "done applied,refused contradicts");
  assert_true(shows(s, id, "status", "succeeded") && shows(s, id, "payment", "done"));
  assert_numbers(s, "early", 1, "1:sold:%s", id);
  assert_int_equal(ledger(s, id, "-p", "effects"), 1);
  assert_int_equal(ledger(s, id, "", "effects"), 1);
  mem_free(states);
  mem_free(id);
}

// What is paid for and can never be delivered is paid back, and the number is free; so is what the user gave up while
// the money was on its way.
static void what_nobody_gets_is_paid_back(void **state)
{
  struct stack *s = *state;
  make(s, "undelivered", 2, "'rewardCode', 'prize',");
  simulator_script(s->simulator_port,
                   "{\"match\":{\"userId\":6,\"call\":\"credit\"},\"steps\":[{\"status\":410,\"effect\":\"none\"}]}");
  simulator_script(s->simulator_port,
                   "{\"match\":{\"userId\":6,\"call\":\"refund\"},\"steps\":[{\"status\":500,\"effect\":\"before\"}]}");
  simulator_script(s->simulator_port,
                   "{\"match\":{\"userId\":7,\"call\":\"payment\"},\"steps\":[{\"delayMs\":500,\"status\":200}]}");
  char *failed = buy(s, "undelivered", 6, "f", "1"), *cancelled = buy(s, "undelivered", 7, "c", "2");
  WAIT_FOR(ledger(s, cancelled, "-p", "hits") == 1, 15);
  json_t *json = NULL;
  assert_int_equal(http_json(s->scheduler_ports[0], "POST", "/v1/claims/undelivered/c/cancel", "{}", &json), 200);
  json_decref(json);
  WAIT_FOR(shows(s, failed, "payment", "pending"), 15);
  at_the_page(s, failed, "pay");
  WAIT_FOR(shows(s, failed, "refund", "done") && shows(s, cancelled, "refund", "done"), 20);
  assert_true(shows(s, failed, "status", "failed") && shows(s, cancelled, "status", "cancelled"));
  assert_numbers(s, "undelivered", 2, "1:available,2:available");
  assert_int_equal(ledger(s, failed, "-p", "reversals"), 1);  // its answer was lost; asked, not repeated
  assert_int_equal(ledger(s, cancelled, "-p", "reversals"), 1);
  mem_free(failed);
  mem_free(cancelled);
}

// A payment in time gives nothing back and takes nothing: it waits for nobody who claims at the same moment.
static void a_payment_in_time_needs_no_stock(void **state)
{
  struct stack *s = *state;
  make(s, "rushed", 5, "'rewardCode', 'prize',");
  char *id = buy(s, "rushed", 1, "b", "3");
  WAIT_FOR(shows(s, id, "payment", "pending"), 10);
  struct sql *holder = server_open(s->server, s->database);
  sql_exec(holder,
           "begin; select from largesse.stock s join largesse.activity a on a.id = s.activity_id where a.code = "
           "'rushed' for update of s");
  at_the_page(s, id, "pay");
  WAIT_FOR(shows(s, id, "status", "succeeded"), 10);
  assert_true(shows(s, id, "payment", "done"));
  assert_numbers(s, "rushed", 3, "1:available,2:available,3:sold:%s", id);
  sql_exec(holder, "rollback");
  sql_close(holder);
  mem_free(id);
}

static void the_audit_agrees(void **state)
{
  struct stack *s = *state;
  struct buf out;
  buf_init(&out, 1024 * 1024);
  int status = stack_command(s, "reconciler", (const char *const[]){"audit", "--all", NULL}, &out);
  if (status != 0) fail_msg("%s", buf_text(&out));
  buf_release(&out);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(one_number_is_sold_once_and_charged_once),
      cmocka_unit_test(a_failed_payment_frees_all_numbers_and_the_allowance),
      cmocka_unit_test(what_nobody_pays_is_closed_when_its_hold_has_ended),
      cmocka_unit_test(a_late_payment_never_moves_what_another_bought),
      cmocka_unit_test(a_callback_that_is_early_doubled_and_contradicted_is_one_sale),
      cmocka_unit_test(what_nobody_gets_is_paid_back),
      cmocka_unit_test(a_payment_in_time_needs_no_stock),
      cmocka_unit_test(the_audit_agrees),
  };
  return cmocka_run_group_tests(tests, set_up, stack_tear_down);
}
