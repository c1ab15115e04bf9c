// SPDX-License-Identifier: Apache-2.0
// What people read comes in English and Chinese: a sample of refusals of all daemons, as each caller asked for it.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
// comes after the four above
#include <cmocka.h>

#include "common/compiler.h"
#include "common/jsonx.h"
#include "common/mem.h"
#include "tests/support/claims.h"
#include "tests/support/http.h"
#include "tests/support/stack.h"
#include "tests/support/support.h"

#define CSV "Content-Type: text/csv\r\n"

enum daemon { SCHEDULER, FULFILLER, RECONCILER };

static int set_up(void **state)
{
  struct server *server = server_start();
  struct stack *s = stack_start(server, NULL);
  activity_make(s->sql, &(struct activity_terms){.code = "empty", .stock = 0});
  activity_make(s->sql, &(struct activity_terms){.code = "open", .stock = 10});
  WAIT_FOR(sql_int(s->sql, "select count(*) from largesse.activity where status = 'ongoing'") == 2, 10);
  *state = s;
  return 0;
}

static int port_of(const struct stack *s, enum daemon daemon)
{
  return daemon == SCHEDULER ? s->scheduler_ports[0] : daemon == FULFILLER ? s->fulfiller_port : s->reconciler_port;
}

struct sample {
  enum daemon daemon;
  const char *method, *path, *headers, *body;
  const char *code;
  const char *pointer;  // of the text
  const char *english, *chinese;
};

static void assert_told(const struct stack *s, const struct sample *c, const char *language, const char *expected)
{
  struct http_answer a;
  char *headers = support_format("%sAccept-Language: %s\r\n", c->headers != NULL ? c->headers : "", language);
  http_call(
      &(struct http_request){
          .port = port_of(s, c->daemon), .method = c->method, .path = c->path, .headers = headers, .body = c->body},
      &a);
  json_t *doc = http_answer_json(&a);
  char *content_language = http_answer_header(&a, "Content-Language"), *vary = http_answer_header(&a, "Vary");
  const char *told = json_string_value(jsonx_pointer(doc, c->pointer));
  if (told == NULL || strcmp(told, expected) != 0) fail_msg("%s %s: %s", c->method, c->path, a.body);
  if (c->code != NULL) assert_string_equal(json_string_value(json_object_get(doc, "code")), c->code);
  assert_string_equal(content_language, expected == c->chinese ? "zh" : "en");
  assert_string_equal(vary, "Accept-Language");
  mem_free(vary);
  mem_free(content_language);
  json_decref(doc);
  http_answer_release(&a);
  mem_free(headers);
}

static const struct sample samples[] = {
    // composed here, by the library, and in SQL; with a path and without; titles; lists within an answer
    {SCHEDULER, "POST", "/v1/claims", NULL, "{\"activityCode\":\"empty\",\"userId\":1,\"bizId\":\"b\"}", "SOLD_OUT",
     "/detail", "there is not enough left", "库存不足"},
    {SCHEDULER, "POST", "/v1/claims", NULL, "{\"activityCode\":\"empty\",\"userId\":1,\"bizId\":\"b\"}", "SOLD_OUT",
     "/title", "Sold out", "已领完"},
    {SCHEDULER, "POST", "/v1/claims", NULL, "{\"activityCode\":\"none\",\"userId\":1,\"bizId\":\"b\"}",
     "ACTIVITY_NOT_FOUND", "/detail", "there is no such activity", "活动不存在"},
    {SCHEDULER, "POST", "/v1/claims", NULL, "{\"activityCode\":\"open\",\"bizId\":\"b\"}", "INVALID_REQUEST", "/detail",
     "userId: is missing", "userId：缺失"},
    {SCHEDULER, "POST", "/v1/claims", NULL, "{\"activityCode\":\"open\",\"userId\":1,\"bizId\":\"b\",\"quantity\":0}",
     "INVALID_REQUEST", "/detail", "quantity: must be an integer from 1 to 2147483647",
     "quantity：必须是 1 到 2147483647 的整数"},
    {SCHEDULER, "POST", "/v1/activities/open/stock-adjustments", NULL,
     "{\"key\":\"k\",\"by\":-11,\"reason\":\"too many\"}", "STOCK_IN_USE", "/detail", "only 10 units are free",
     "仅有 10 份空闲"},
    {SCHEDULER, "POST", "/v1/activities/open/publish", NULL, "{}", "STATE_CONFLICT", "/detail",
     "an activity that is ongoing cannot be changed by publish", "状态为 ongoing 的活动不能执行 publish"},
    {SCHEDULER, "GET", "/v1/activities?limit=0", NULL, NULL, "INVALID_REQUEST", "/detail",
     "limit: must be an integer from 1 to 1000", "limit：必须是 1 到 1000 的整数"},
    {SCHEDULER, "POST", "/v1/activities/open/qualifications", CSV, "userId,age\n", "INVALID_REQUEST",
     "/rejected/0/reason", "header: age: there is no such column", "header：age：没有这一列"},
    {SCHEDULER, "POST", "/v1/activities/empty/warm-up", NULL, "{}", NULL, "/warnings/0/detail",
     "nothing is left of its stock", "库存已空"},
    {SCHEDULER, "DELETE", "/v1/claims", NULL, NULL, "METHOD_NOT_ALLOWED", "/detail",
     "This path knows other methods only; see Allow.", "此路径不支持该方法，请参见 Allow。"},
    {SCHEDULER, "PUT", "/v1/orders/o-1/redemption", NULL,
     "{\"lines\":[{\"lineId\":\"a\",\"amount\":1}],\"coupons\":[\"1-1\"]}", "CLAIM_NOT_FOUND", "/detail",
     "1-1: there is no such claim", "1-1：没有这条领取记录"},
    {SCHEDULER, "POST", "/v1/discounts/quote", NULL,
     "{\"orderId\":\"o\",\"lines\":[{\"lineId\":\"a\",\"amount\":1}],\"coupons\":[\"1-1\"]}", NULL,
     "/rejected/0/detail", "there is no such claim", "没有这条领取记录"},
    {FULFILLER, "POST", "/v1/callbacks/nobody", NULL, "{}", "NOT_FOUND", "/detail",
     "no provider of this name sends callbacks", "没有以此名称发送回调的提供方"},
    {FULFILLER, "POST", "/v1/callbacks/simulator", NULL, "{}", "UNAUTHENTICATED", "/detail",
     "the callback is not signed by this provider", "该回调不是由此提供方签名的"},
    {RECONCILER, "POST", "/v1/claims/1-1/roll-back", NULL, "{}", "CLAIM_NOT_FOUND", "/detail", "there is no such claim",
     "没有这条领取记录"},
    {RECONCILER, "POST", "/v1/dead-letters/retry", NULL, "{\"ids\":[]}", "INVALID_REQUEST", "/detail",
     "ids: must have from 1 to 10000 entries", "ids：必须有 1 到 10000 项"},
    {RECONCILER, "POST", "/v1/providers/nobody/pause", NULL, "{}", "NOT_FOUND", "/detail",
     "no fulfiller has served such a provider", "没有 fulfiller 服务过这样的提供方"},
};

static void refusals_speak_the_callers_language(void **state)
{
  struct stack *s = *state;
  for (size_t i = 0; i < ARRAY_LEN(samples); i++) {
    const struct sample *c = &samples[i];
    assert_told(s, c, "zh-CN,zh;q=0.9,en;q=0.8", c->chinese);
    assert_told(s, c, "en", c->english);
    assert_told(s, c, "fr, zh;q=0", c->english);
  }
}

// --- findings

static const struct sample findings[] = {
    {RECONCILER, "GET", "/v1/findings?kind=stock_not_matching_claims", NULL, NULL, NULL, "/items/0/expected",
     "claims 0 + remaining 10 = total 10; taken 0", "领取 0 + 剩余 10 = 总量 10；已占用 0"},
    {RECONCILER, "GET", "/v1/findings?kind=stock_not_matching_claims", NULL, NULL, NULL, "/items/0/actual",
     "claims 0 + remaining 7 = 7; taken 0; set wrongly", "领取 0 + 剩余 7 = 7；已占用 0；设置错误"},
    {RECONCILER, "GET", "/v1/findings?kind=stock_not_matching_claims", NULL, NULL, NULL, "/items/0/cause",
     "the initial stock was set wrongly, or what is left was changed by hand",
     "初始库存设置错误，或有人手工修改了剩余库存"},
    {RECONCILER, "GET", "/v1/findings?kind=stock_not_matching_claims", NULL, NULL, NULL, "/items/0/repair/text",
     "sets what is left and what is taken by the claims that hold stock; who waits moves up",
     "按占用库存的领取记录重设剩余量和已占用量；候补者依次递补"},
    {RECONCILER, "POST", "/v1/findings/repair", NULL,
     "{\"filter\":{\"kind\":\"stock_not_matching_claims\"},\"dryRun\":true}", NULL, "/items/0/before",
     "remaining 7, taken 0", "剩余 7，已占用 0"},
};

static void findings_speak_the_callers_language(void **state)
{
  struct stack *s = *state;
  sql_exec(s->sql,
           "update largesse.stock s set remaining = s.remaining - 3 from largesse.activity a"
           " where a.code = 'open' and s.activity_id = a.id and s.segment = 0");
  assert_int_equal(stack_command(s, "reconciler", (const char *const[]){"audit", "--activity", "open", NULL}, NULL), 1);
  for (size_t i = 0; i < ARRAY_LEN(findings); i++) {
    assert_told(s, &findings[i], "zh-CN", findings[i].chinese);
    assert_told(s, &findings[i], "en", findings[i].english);
  }
}

static bool is_chinese(const char *text)
{
  for (; text != NULL && *text != '\0'; text++)
    if ((unsigned char)*text >= 0xE4) return true;
  return false;
}

// What the database of this build declares, also an equation that is new in it.
static void every_equation_is_told_in_chinese(void **state)
{
  struct stack *s = *state;
  static const char *const members[] = {"explanation", "cause", "nextStep"};
  struct http_answer a;
  http_call(&(struct http_request){.port = s->reconciler_port,
                                   .method = "GET",
                                   .path = "/v1/audits/definitions?limit=1000",
                                   .headers = "Accept-Language: zh\r\n"},
            &a);
  json_t *doc = http_answer_json(&a), *items = json_object_get(doc, "items");
  assert_int_equal(json_array_size(items), sql_int(s->sql, "select count(*) from largesse.audit_definition"));
  for (size_t i = 0; i < json_array_size(items); i++) {
    const json_t *item = json_array_get(items, i);
    for (size_t k = 0; k < ARRAY_LEN(members); k++) {
      const char *text = json_string_value(json_object_get(item, members[k]));
      if (!is_chinese(text)) fail_msg("%s: %s", json_string_value(json_object_get(item, "name")), text);
    }
  }
  json_decref(doc);
  http_answer_release(&a);
}

// --- reports

static char *told(const struct stack *s, const char *path, const char *language)
{
  struct http_answer a;
  char *headers = support_format("Accept-Language: %s\r\n", language);
  http_call(&(struct http_request){.port = s->reconciler_port, .method = "GET", .path = path, .headers = headers}, &a);
  if (a.status != 200) fail_msg("%s: %s", path, a.body);
  char *body = mem_strdup(a.body), *tag = http_answer_header(&a, "Content-Language");
  bool is_chinese = strstr(path, "language=zh") != NULL || (strcmp(language, "zh") == 0 && strstr(path, "=en") == NULL);
  if (strstr(path, "=csv") == NULL) assert_string_equal(tag, is_chinese ? "zh" : "en");
  mem_free(tag);
  mem_free(headers);
  http_answer_release(&a);
  return body;
}

static void assert_report(const struct stack *s, const char *date, const char *query, const char *language,
                          const char *expected)
{
  char *path = support_format("/v1/reports/%s?%s", date, query);
  char *first = told(s, path, language), *second = told(s, path, language);
  if (strstr(first, expected) == NULL) fail_msg("%s has no '%s': %s", path, expected, first);
  assert_string_equal(first, second);
  mem_free(first);
  mem_free(second);
  mem_free(path);
}

// What is kept of a night is one document; who reads it chooses the language, by header or in the link.
static void reports_speak_the_readers_language(void **state)
{
  struct stack *s = *state;
  sql_exec(s->sql, "update largesse.activity set start_at = start_at - interval '2 days' where code = 'open'");
  // The daemon may have made it before there was a finding, or may be making it now.
  WAIT_FOR(stack_command(s, "reconciler", (const char *const[]){"report", "night", "--again", NULL}, NULL) == 1, 20);
  char *date = sql_text(s->sql, "select max(business_date)::text from largesse.night");
  char *kept = sql_text(s->sql, "select md5(string_agg(n::text, '')) from largesse.night n");
  assert_report(s, date, "format=html", "zh", "<html lang=\"zh-CN\">");
  assert_report(s, date, "format=html", "zh", "夜间审计：1 项差异");
  assert_report(s, date, "format=html", "en", "night: 1 finding");
  assert_report(s, date, "format=html&language=zh", "en", "夜间审计：1 项差异");
  assert_report(s, date, "format=html&language=en", "zh", "<html lang=\"en\">");
  assert_report(s, date, "format=text", "zh", "下一步      将领取记录与提供方的对账单核对");
  assert_report(s, date, "format=json", "zh", "领取 0 + 剩余 7 = 7；已占用 0；设置错误");
  assert_report(s, date, "format=json", "en", "claims 0 + remaining 7 = 7; taken 0; set wrongly");
  assert_report(s, date, "format=csv", "zh", "claims 0 + remaining 7 = 7; taken 0; set wrongly");
  struct buf out;
  buf_init(&out, 1 << 20);
  const char *const mail[] = {"report", "night", date, "--language", "zh", NULL};
  assert_int_equal(stack_command(s, "reconciler", mail, &out), 1);
  assert_non_null(strstr(buf_text(&out), "\n夜间审计：1 项差异\n"));
  buf_release(&out);
  char *review = told(s, "/v1/activities/open/review?format=html", "zh");
  assert_non_null(strstr(review, "<h1>活动 open 的回顾</h1>"));
  char *still = sql_text(s->sql, "select md5(string_agg(n::text, '')) from largesse.night n");
  assert_string_equal(kept, still);
  mem_free(review);
  mem_free(still);
  mem_free(kept);
  mem_free(date);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(refusals_speak_the_callers_language),
      cmocka_unit_test(findings_speak_the_callers_language),
      cmocka_unit_test(every_equation_is_told_in_chinese),
      cmocka_unit_test(reports_speak_the_readers_language),
  };
  return cmocka_run_group_tests(tests, set_up, stack_tear_down);
}
