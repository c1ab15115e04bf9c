// SPDX-License-Identifier: Apache-2.0
// Tests of common/message.c and of the catalogues: every text and every code in two languages.
// Owner: unit tests.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
// comes after the four above
#include <cmocka.h>

#include "common/compiler.h"
#include "common/mem.h"
#include "common/message.h"
#include "scheduler/claim.h"

#define MESSAGE(english, chinese) {english, chinese},
#define TITLE(code, chinese)
static const struct message_text scheduler_texts[] = {
#include "common/messages.def"
#include "scheduler/messages.def"
};
static const struct message_text fulfiller_texts[] = {
#include "common/messages.def"
#include "fulfiller/messages.def"
};
static const struct message_text reconciler_texts[] = {
#include "common/messages.def"
#include "reconciler/messages.def"
};
#undef MESSAGE
#undef TITLE
#define MESSAGE(english, chinese)
#define TITLE(code, chinese) {code, chinese},
static const struct message_text scheduler_titles[] = {
#include "common/messages.def"
#include "scheduler/messages.def"
};
#undef MESSAGE
#undef TITLE

static const struct message_catalogue scheduler_catalogue = {scheduler_texts, scheduler_titles,
                                                             ARRAY_LEN(scheduler_texts), ARRAY_LEN(scheduler_titles)};

static void assert_chinese(const struct message_catalogue *c, const char *english, const char *expected)
{
  struct buf b;
  buf_init(&b, 4096);
  buf_puts(&b, "before:");
  bool is_known = message_put_chinese(c, english, &b);
  if (is_known != (expected != NULL)) fail_msg("%s: %s", english, is_known ? "is known" : "has no Chinese text");
  assert_memory_equal(buf_text(&b), "before:", 7);
  assert_string_equal(buf_text(&b) + 7, expected != NULL ? expected : "");
  buf_release(&b);
}

// On the heap, so that a look behind their ends is seen.
static void short_texts_are_read_to_their_end_only(void **state)
{
  (void)state;
  static const char *const texts[] = {"", "x", "xy", "path: ", "path: x", "one: two: x"};
  for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
    char *text = mem_strdup(texts[i]);
    assert_chinese(&scheduler_catalogue, text, NULL);
    mem_free(text);
  }
}

static void marks_stand_for_what_differs(void **state)
{
  (void)state;
  static const struct message_text texts[] = {
      {"plain", "普通"},
      {"from %1 to %2", "%2 止于，%1 起"},
      {"from %1 to %2 only", "仅 %1–%2"},
      {"%1 of %2", "%2 中的 %1"},
      {"100% of it", "全部"},
  };
  const struct message_catalogue c = {texts, NULL, ARRAY_LEN(texts), 0};
  assert_chinese(&c, "plain", "普通");
  assert_chinese(&c, "plainer", NULL);
  assert_chinese(&c, "plai", NULL);
  assert_chinese(&c, "", NULL);
  assert_chinese(&c, "from 1 to 9", "9 止于，1 起");
  assert_chinese(&c, "from a to b to c", "b to c 止于，a 起");
  assert_chinese(&c, "from  to 9", NULL);  // a mark stands for something
  assert_chinese(&c, "from 1 to ", NULL);
  assert_chinese(&c, "3 of 4", "4 中的 3");
  assert_chinese(&c, "100% of it", "it 中的 100%");  // the first row that fits
  assert_chinese(NULL, "plain", NULL);
}

static void a_text_at_the_end_is_told_too(void **state)
{
  static const struct message_text texts[] = {{"line %1: %2 \"%3\": %4", "第 %1 行 %2“%3”：%4"},
                                              {"line %1: %2", "第 %1 行：%2"},
                                              {"is no number", "不是数字"},
                                              {"no column '%1'", "没有列“%1”"}};
  const struct message_catalogue c = {texts, NULL, ARRAY_LEN(texts), 0};
  assert_chinese(&c, "line 3: amount \"1x\": is no number", "第 3 行 amount“1x”：不是数字");
  assert_chinese(&c, "line 3: amount \"is no number\": odd", "第 3 行 amount“is no number”：odd");  // a value stays
  assert_chinese(&c, "line 1: no column 'x'", "第 1 行：没有列“x”");
  (void)state;
}

static void a_path_stays_in_front(void **state)
{
  (void)state;
  assert_chinese(&scheduler_catalogue, "limits[0].count: is missing", "limits[0].count：缺失");
  assert_chinese(&scheduler_catalogue, "header: amount: there is no such column", "header：amount：没有这一列");
  assert_chinese(&scheduler_catalogue, "stock.total: only 3 units are free", "stock.total：仅有 3 份空闲");
  assert_chinese(&scheduler_catalogue, "eligibility: is no jsonpath: syntax error at end of jsonpath input",
                 "eligibility：不是有效的 jsonpath：syntax error at end of jsonpath input");
  assert_chinese(&scheduler_catalogue, "two words: is missing", NULL);
  assert_chinese(&scheduler_catalogue, "path: nobody says this", NULL);
  assert_chinese(&scheduler_catalogue, ": is missing", NULL);
  assert_chinese(&scheduler_catalogue, "path: ", NULL);
}

// The list of the public interface.
static void every_code_has_a_title(void **state)
{
  (void)state;
  static const char *const codes[] = {"INVALID_REQUEST",
                                      "UNAUTHENTICATED",
                                      "FORBIDDEN",
                                      "BLOCKED",
                                      "NOT_QUALIFIED",
                                      "QUALIFICATION_USED",
                                      "NOT_ELIGIBLE",
                                      "NOT_FOUND",
                                      "ACTIVITY_NOT_FOUND",
                                      "CHANNEL_NOT_ALLOWED",
                                      "CLAIM_NOT_FOUND",
                                      "STALE",
                                      "NOT_STARTED",
                                      "METHOD_NOT_ALLOWED",
                                      "PAUSED",
                                      "SOLD_OUT",
                                      "LIMIT_REACHED",
                                      "NUMBER_TAKEN",
                                      "ALREADY_REGISTERED",
                                      "EXCLUSIVE_GROUP",
                                      "INSUFFICIENT_POINTS",
                                      "COUPON_USED",
                                      "STOCK_IN_USE",
                                      "STATE_CONFLICT",
                                      "ENDED",
                                      "TOO_LARGE",
                                      "BIZ_ID_REUSED",
                                      "RATE_LIMITED",
                                      "OVERLOADED",
                                      "UNAVAILABLE",
                                      "UNSUPPORTED_MEDIA_TYPE",
                                      "EXPECTATION_FAILED",
                                      "INTERNAL",
                                      "REQUEST_TIMEOUT",
                                      "URI_TOO_LONG",
                                      "HEADERS_TOO_LARGE",
                                      "VERSION_NOT_SUPPORTED"};
  for (size_t i = 0; i < ARRAY_LEN(codes); i++) {
    const char *title = message_title(&scheduler_catalogue, codes[i]);
    if (title == NULL || (unsigned char)title[0] < 0x80) fail_msg("%s has no Chinese title", codes[i]);
  }
  assert_null(message_title(&scheduler_catalogue, "NOT_A_CODE"));
  assert_null(message_title(NULL, "SOLD_OUT"));
}

static void every_verdict_has_a_text(void **state)
{
  (void)state;
  for (int v = 0; v < VERDICT_COUNT; v++) {
    const struct verdict_info *info = verdict_info((enum verdict)v);
    struct buf b;
    if (info->http_status < 400) continue;
    buf_init(&b, 4096);
    if (!message_put_chinese(&scheduler_catalogue, info->detail, &b)) fail_msg("%s: %s", info->code, info->detail);
    assert_non_null(message_title(&scheduler_catalogue, info->code));
    buf_release(&b);
  }
}

// What largesse.discount_reason_text says, with one value of each kind.
static void every_reason_of_a_discount_has_a_text(void **state)
{
  (void)state;
  static const char *const reasons[] = {
      "the rule is not valid at this time, it starts at 2026-10-01T00:00:00.000000Z",
      "the rule is not valid at this time, it ends at 2026-10-01T00:00:00.000000Z",
      ("the rule is not valid at this time, it starts at 2026-10-01T00:00:00.000000Z, it ends at "
       "2026-10-02T00:00:00.000000Z"),
      "the rule is for orders in CNY",
      "not together with other offers of group mall: mall-a is applied",
      "the order's total of 100 does not reach 500000",
      "it takes a coupon of voucher-100",
      "at most 2 per order",
      "nothing is left to pay",
      "the discount rounds to nothing",
      "there is no such claim",
      "the claim is no valid coupon: it is being taken back",
      "the coupon is used up by order o-1",
      "no rule takes coupons of voucher-100",
  };
  for (size_t i = 0; i < ARRAY_LEN(reasons); i++) {
    struct buf b;
    buf_init(&b, 4096);
    if (!message_put_chinese(&scheduler_catalogue, reasons[i], &b)) fail_msg("%s", reasons[i]);
    buf_release(&b);
  }
  assert_chinese(&scheduler_catalogue, reasons[2],
                 "不在有效期内，开始于 2026-10-01T00:00:00.000000Z，结束于 2026-10-02T00:00:00.000000Z");
  assert_chinese(&scheduler_catalogue, reasons[4], "不能与同组（mall）的优惠 mall-a 同时使用");
}

// Bit n for %n.
static unsigned marks_of(const char *text)
{
  unsigned marks = 0;
  for (; *text != '\0'; text++)
    if (text[0] == '%' && text[1] >= '1' && text[1] <= '9') marks |= 1u << (text[1] - '0');
  return marks;
}

static void check_rows(const struct message_text *rows, size_t count)
{
  for (size_t i = 0; i < count; i++) {
    bool has_chinese = false;
    for (const char *p = rows[i].chinese; *p != '\0'; p++) has_chinese = has_chinese || (unsigned char)*p >= 0xE3;
    if (!has_chinese) fail_msg("not Chinese: %s", rows[i].chinese);
    if (marks_of(rows[i].english) != marks_of(rows[i].chinese)) fail_msg("other marks: %s", rows[i].english);
    for (size_t k = 0; k < i; k++)
      if (strcmp(rows[k].english, rows[i].english) == 0) fail_msg("twice: %s", rows[i].english);
  }
}

// A row that an earlier one hides would never be shown.
static void check_order(const struct message_text *rows, size_t count)
{
  const struct message_catalogue all = {rows, NULL, count, 0};
  for (size_t i = 0; i < count; i++) {
    struct buf b;
    buf_init(&b, 4096);
    assert_true(message_put_chinese(&all, rows[i].english, &b));  // a mark stands for itself
    if (strcmp(buf_text(&b), rows[i].chinese) != 0) fail_msg("hidden by an earlier row: %s", rows[i].english);
    buf_release(&b);
  }
}

static void rows_are_whole(void **state)
{
  (void)state;
  check_rows(scheduler_texts, ARRAY_LEN(scheduler_texts));
  check_rows(fulfiller_texts, ARRAY_LEN(fulfiller_texts));
  check_rows(reconciler_texts, ARRAY_LEN(reconciler_texts));
  check_rows(scheduler_titles, ARRAY_LEN(scheduler_titles));
  check_order(scheduler_texts, ARRAY_LEN(scheduler_texts));
  check_order(fulfiller_texts, ARRAY_LEN(fulfiller_texts));
  check_order(reconciler_texts, ARRAY_LEN(reconciler_texts));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(short_texts_are_read_to_their_end_only),
      cmocka_unit_test(marks_stand_for_what_differs),
      cmocka_unit_test(a_text_at_the_end_is_told_too),
      cmocka_unit_test(a_path_stays_in_front),
      cmocka_unit_test(every_code_has_a_title),
      cmocka_unit_test(every_verdict_has_a_text),
      cmocka_unit_test(every_reason_of_a_discount_has_a_text),
      cmocka_unit_test(rows_are_whole),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
