// SPDX-License-Identifier: Apache-2.0
// Discounts on orders over HTTP: rules, quotes, and orders that are redeemed and released once however many ask at the
// same moment.
#include "tests/support/claims.h"
#include "tests/system/activity_calls.h"

#define PARALLEL 24

// Claims of the reward, one for each user, that have succeeded; ids in out.
static void make_coupons(struct fixture *f, const char *activity, size_t count, char out[][48])
{
  activity_make(f->stack->sql,
                &(struct activity_terms){.code = activity, .stock = CLAIM_STOCK_UNLIMITED, .limits = "[]"});
  sql_exec(f->stack->sql,
           "select largesse.claim_submit(id, array(select 'b' || n from generate_series(1, %zu) n), array(select "
           "n::bigint from generate_series(1, %zu) n), array_fill(1, array[%zu]), array_fill(null::text, array[%zu]), "
           "'5 s') from largesse.activity where code = '%s';"
           "select largesse.claim_move(array_agg(c.activity_id), array_agg(c.id), 'succeeded', null, null, null) from "
           "largesse.claim c join largesse.activity a on a.id = c.activity_id where a.code = '%s'",
           count, count, count, count, activity, activity);
  for (size_t i = 0; i < count; i++) {
    char *id = sql_text(f->stack->sql,
                        "select c.activity_id || '-' || c.id from largesse.claim c join largesse.activity a on a.id = "
                        "c.activity_id where a.code = '%s' and c.user_id = %zu",
                        activity, i + 1);
    (void)snprintf(out[i], sizeof out[i], "%s", id);
    mem_free(id);
  }
}

#define FESTIVAL                                                                                            \
  "{\"name\":\"100 off per 5,000\",\"threshold\":500000,\"discount\":{\"amount\":10000},\"maxPerOrder\":2," \
  "\"exclusiveGroup\":\"mall\",\"priority\":1,\"rewardCode\":\"voucher-100\",\"startAt\":\"2020-01-01T00:00:00Z\"}"

static void make_rules(struct fixture *f)
{
  struct call c = call_with(f, "PUT", "/v1/discount-rules/festival", FESTIVAL, NULL);
  assert_true(c.status == 201 || c.status == 200);
  call_release(&c);
  c = call_with(f, "PUT", "/v1/discount-rules/mall",
                "{\"name\":\"10 %\",\"threshold\":0,\"discount\":{\"percent\":10},\"exclusiveGroup\":\"mall\","
                "\"priority\":2}",
                NULL);
  assert_true(c.status == 201 || c.status == 200);
  call_release(&c);
}

static char *order_body(const char *amounts, const char *first, const char *second)
{
  return support_format("{\"lines\":[%s],\"coupons\":[\"%s\",\"%s\"]}", amounts, first, second);
}

#define TWO_LINES "{\"lineId\":\"a\",\"amount\":600000},{\"lineId\":\"b\",\"amount\":400000}"

// --- tests

static void rules_are_put_shown_and_listed(void **state)
{
  struct fixture *f = *state;
  activity_make(f->stack->sql, &(struct activity_terms){.code = "reward-of-rules", .stock = 1});
  struct call c = call_with(f, "PUT", "/v1/discount-rules/festival", FESTIVAL, NULL);
  assert_int_equal(c.status, 201);
  assert_string_equal(c.location, "/v1/discount-rules/festival");
  call_release(&c);
  put(f, "/v1/discount-rules/festival", FESTIVAL, 200);
  assert_int_equal(sql_int(f->stack->sql, "select count(*) from largesse.discount_rule"), 1);
  make_rules(f);
  c = call_with(f, "GET", "/v1/discount-rules/festival", NULL, NULL);
  assert_string_equal(text_at(&c, "/id"), "festival");
  assert_int_equal(number_at(&c, "/discount/amount"), 10000);
  assert_int_equal(number_at(&c, "/maxPerOrder"), 2);
  assert_null(jsonx_pointer(c.json, "/endAt"));
  call_release(&c);
  c = call_with(f, "GET", "/v1/discount-rules?limit=1", NULL, NULL);
  assert_string_equal(text_at(&c, "/items/0/id"), "festival");
  assert_string_equal(text_at(&c, "/next"), "festival");
  call_release(&c);
  c = call_with(f, "GET", "/v1/discount-rules?after=festival", NULL, NULL);
  assert_string_equal(text_at(&c, "/items/0/id"), "mall");
  assert_true(json_is_null(jsonx_pointer(c.json, "/next")));
  call_release(&c);
  assert_call(f, "GET", "/v1/discount-rules/nothing", NULL, 404, "NOT_FOUND");
  assert_call(f, "PUT", "/v1/discount-rules/bad", "{\"name\":\"x\"}", 400, "INVALID_REQUEST");
  c = call_with(f, "PUT", "/v1/discount-rules/bad",
                "{\"name\":\"x\",\"threshold\":0,\"discount\":{\"amount\":1},\"priority\":1,\"rewardCode\":\"none\"}",
                NULL);
  assert_int_equal(c.status, 400);
  assert_string_equal(text_at(&c, "/detail"), "rewardCode: there is no such reward");
  call_release(&c);
}

static void a_quote_is_explained_and_changes_nothing(void **state)
{
  struct fixture *f = *state;
  char coupons[3][48];
  make_coupons(f, "quoted", 3, coupons);
  make_rules(f);
  char *body = support_format("{\"orderId\":\"o\",\"currency\":\"CNY\",\"lines\":[" TWO_LINES
                              "],\"coupons\":[\"%s\",\"%s\",\"%s\"]}",
                              coupons[0], coupons[1], coupons[2]);
  struct call c = call_with(f, "POST", "/v1/discounts/quote", body, NULL);
  assert_int_equal(c.status, 200);
  assert_int_equal(json_array_size(jsonx_pointer(c.json, "/applied")), 2);
  assert_string_equal(text_at(&c, "/applied/0/ruleId"), "festival");
  assert_string_equal(text_at(&c, "/applied/1/coupon"), coupons[1]);
  assert_int_equal(number_at(&c, "/applied/1/lines/0/discount"), 6000);
  assert_string_equal(text_at(&c, "/rejected/0/coupon"), coupons[2]);
  assert_string_equal(text_at(&c, "/rejected/0/reason"), "MAX_PER_ORDER");
  assert_string_equal(text_at(&c, "/rejected/1/reason"), "EXCLUSIVE_GROUP");
  assert_string_equal(text_at(&c, "/rejected/1/detail"),
                      "not together with other offers of group mall: festival is applied");
  assert_int_equal(number_at(&c, "/total"), 1000000);
  assert_int_equal(number_at(&c, "/discount"), 20000);
  assert_int_equal(number_at(&c, "/payable"), 980000);
  call_release(&c);
  c = call_with(f, "POST", "/v1/discounts/quote", body, "Accept-Language: zh-CN, en;q=0.5\r\n");
  assert_string_equal(text_at(&c, "/rejected/0/detail"), "每个订单最多使用 2 次");
  call_release(&c);
  // At another time the rule does not count yet, and the other of its group does.
  c = call_with(f, "POST", "/v1/discounts/quote?at=2019-12-31T23:59:59Z", body, NULL);
  assert_string_equal(text_at(&c, "/applied/0/ruleId"), "mall");
  assert_string_equal(text_at(&c, "/rejected/0/reason"), "NOT_VALID_NOW");
  call_release(&c);
  assert_call(f, "POST", "/v1/discounts/quote?at=tomorrow", body, 400, "INVALID_REQUEST");
  assert_call(f, "POST", "/v1/discounts/quote", "{\"orderId\":\"o\",\"lines\":[]}", 400, "INVALID_REQUEST");

  char *file = support_write("order.json", "%s", body);
  struct buf out;
  buf_init(&out, 100000);
  const char *const args[] = {"discounts", "quote", file, "--format", "json", NULL};
  assert_int_equal(stack_command(f->stack, "scheduler", args, &out), 0);
  json_t *shown = json_loadb(buf_text(&out), out.len, 0, NULL);
  assert_int_equal(json_integer_value(json_object_get(shown, "payable")), 980000);
  json_decref(shown);
  buf_clear(&out);
  const char *const list[] = {"discounts", "list", NULL};
  assert_int_equal(stack_command(f->stack, "scheduler", list, &out), 0);
  assert_non_null(strstr(buf_text(&out), "100 off per 5,000"));
  buf_clear(&out);
  const char *const show[] = {"discounts", "show", "festival", NULL};
  assert_int_equal(stack_command(f->stack, "scheduler", show, &out), 0);
  assert_non_null(strstr(buf_text(&out), "rewardCode: voucher-100"));
  const char *const unknown[] = {"discounts", "show", "nothing", NULL};
  assert_int_equal(stack_command(f->stack, "scheduler", unknown, NULL), 65);
  char *faulty = support_write("order.json", "{\"orderId\":\"o\",\"lines\":[{\"lineId\":\"a\",\"amount\":0.5}]}");
  buf_clear(&out);
  assert_int_equal(stack_command(f->stack, "scheduler", args, &out), 65);
  assert_non_null(strstr(buf_text(&out), "order.json: lines[0].amount: must be an integer of at least 0"));
  buf_release(&out);
  mem_free(faulty);  // the same path
  mem_free(file);
  mem_free(body);
  assert_int_equal(sql_int(f->stack->sql, "select count(*) from largesse.coupon_use"), 0);
}

// Sends the same moment; counts answers that are new, replays, and refusals with COUPON_USED. Others end the test.
struct tally {
  int fresh, replayed, used;
};
static struct tally send_all(struct fixture *f, const char *method, char *const *paths, char *const *bodies)
{
  struct http_request requests[PARALLEL];
  struct http_answer answers[PARALLEL];
  struct tally t = {0};
  for (size_t i = 0; i < PARALLEL; i++)
    requests[i] = (struct http_request){
        .port = f->port, .method = method, .path = paths[i], .body = bodies != NULL ? bodies[i] : NULL};
  http_call_all(requests, PARALLEL, answers);
  for (size_t i = 0; i < PARALLEL; i++) {
    char *replayed = http_answer_header(&answers[i], "Idempotent-Replayed");
    if (answers[i].status == 409 && strstr(answers[i].body, "\"COUPON_USED\"") != NULL)
      t.used++;
    else if (answers[i].status == 200 && replayed != NULL)
      t.replayed++;
    else if (answers[i].status == (bodies != NULL ? 201 : 200))
      t.fresh++;
    else
      fail_msg("%s %s: %d %s", method, paths[i], answers[i].status, answers[i].body);
    mem_free(replayed);
    http_answer_release(&answers[i]);
  }
  return t;
}

static int64_t units_in_use(struct fixture *f, const char *claim_id)
{
  return sql_int(f->stack->sql,
                 "select count(*) from largesse.coupon_use where activity_id || '-' || claim_id = '%s' and released_at "
                 "is null",
                 claim_id);
}

static void assert_audits_clean(struct fixture *f)
{
  assert_int_equal(sql_int(f->stack->sql,
                           "select count(*) from largesse.activity a, unnest(array['coupon_use_not_matching', "
                           "'redemption_not_matching']) d, largesse.audit_run(d, a.id)"),
                   0);
}

static void one_order_is_redeemed_and_released_once(void **state)
{
  struct fixture *f = *state;
  char coupons[2][48], *paths[PARALLEL], *bodies[PARALLEL];
  make_coupons(f, "once", 2, coupons);
  make_rules(f);
  for (size_t i = 0; i < PARALLEL; i++) {
    paths[i] = support_format("/v1/orders/once/redemption");
    bodies[i] = order_body(TWO_LINES, coupons[0], coupons[1]);
  }
  for (int round = 0; round < 3; round++) {
    struct tally t = send_all(f, "PUT", paths, bodies);
    assert_int_equal(t.fresh, 1);
    assert_int_equal(t.replayed, PARALLEL - 1);
    assert_int_equal(units_in_use(f, coupons[0]), 1);
    t = send_all(f, "DELETE", paths, NULL);
    assert_int_equal(t.fresh, 1);
    assert_int_equal(t.replayed, PARALLEL - 1);
    assert_int_equal(units_in_use(f, coupons[0]) + units_in_use(f, coupons[1]), 0);
  }
  assert_int_equal(sql_int(f->stack->sql, "select count(*) from largesse.redemption where order_id = 'once'"), 3);
  assert_audits_clean(f);
  for (size_t i = 0; i < PARALLEL; i++) {
    mem_free(paths[i]);
    mem_free(bodies[i]);
  }
}

// Orders name the coupons in both orders: whoever is second waits, and nobody is told of a deadlock.
static void a_coupon_is_used_by_one_of_many_orders(void **state)
{
  struct fixture *f = *state;
  char coupons[2][48], *paths[PARALLEL], *bodies[PARALLEL];
  make_coupons(f, "many", 2, coupons);
  make_rules(f);
  for (size_t i = 0; i < PARALLEL; i++) {
    paths[i] = support_format("/v1/orders/many-%zu/redemption", i);
    bodies[i] = order_body(TWO_LINES, coupons[i % 2], coupons[1 - i % 2]);
  }
  struct tally t = send_all(f, "PUT", paths, bodies);
  assert_int_equal(t.fresh, 1);
  assert_int_equal(t.used, PARALLEL - 1);
  assert_int_equal(units_in_use(f, coupons[0]), 1);
  assert_int_equal(units_in_use(f, coupons[1]), 1);
  assert_audits_clean(f);
  for (size_t i = 0; i < PARALLEL; i++) {
    mem_free(paths[i]);
    mem_free(bodies[i]);
  }
}

static void a_redemption_is_shown_refused_and_released(void **state)
{
  struct fixture *f = *state;
  char coupons[2][48];
  make_coupons(f, "shown", 2, coupons);
  make_rules(f);
  char *body = order_body(TWO_LINES, coupons[0], coupons[1]), *other = order_body(TWO_LINES, coupons[1], coupons[0]);
  assert_call(f, "GET", "/v1/orders/shown/redemption", NULL, 404, "NOT_FOUND");
  assert_call(f, "DELETE", "/v1/orders/shown/redemption", NULL, 404, "NOT_FOUND");
  struct call c = call_with(f, "PUT", "/v1/orders/shown/redemption", body, NULL);
  assert_int_equal(c.status, 201);
  assert_string_equal(c.location, "/v1/orders/shown/redemption");
  assert_string_equal(text_at(&c, "/status"), "redeemed");
  struct call again = call_with(f, "PUT", "/v1/orders/shown/redemption", body, NULL);
  struct call got = call_with(f, "GET", "/v1/orders/shown/redemption", NULL, NULL);
  assert_string_equal(again.replayed, "true");
  assert_true(json_equal(c.json, again.json));
  assert_true(json_equal(c.json, got.json));
  call_release(&again);
  call_release(&got);
  call_release(&c);
  assert_call(f, "PUT", "/v1/orders/shown/redemption", other, 422, "BIZ_ID_REUSED");
  c = call_with(f, "PUT", "/v1/orders/shown-2/redemption", other, NULL);
  assert_int_equal(c.status, 409);
  assert_string_equal(text_at(&c, "/coupons/0"), coupons[1]);
  assert_string_equal(text_at(&c, "/coupons/1"), coupons[0]);
  call_release(&c);
  c = call_with(f, "DELETE", "/v1/orders/shown/redemption", NULL, NULL);
  assert_int_equal(c.status, 200);
  assert_string_equal(text_at(&c, "/status"), "released");
  call_release(&c);
  assert_call(f, "PUT", "/v1/orders/shown-2/redemption", other, 201, NULL);
  assert_call(f, "PUT", "/v1/orders/a%20b/redemption", body, 400, "INVALID_REQUEST");
  assert_audits_clean(f);
  mem_free(body);
  mem_free(other);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rules_are_put_shown_and_listed),
      cmocka_unit_test(a_quote_is_explained_and_changes_nothing),
      cmocka_unit_test(one_order_is_redeemed_and_released_once),
      cmocka_unit_test(a_coupon_is_used_by_one_of_many_orders),
      cmocka_unit_test(a_redemption_is_shown_refused_and_released),
  };
  return cmocka_run_group_tests(tests, start, stop);
}
