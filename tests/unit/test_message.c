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
#define WORD(name, chinese) {name, chinese},
static const struct message_text reconciler_words[] = {
#include "reconciler/words.def"
};
#undef WORD
#define MESSAGE(english, chinese)
#define TITLE(code, chinese) {code, chinese},
static const struct message_text scheduler_titles[] = {
#include "common/messages.def"
#include "scheduler/messages.def"
};
#undef MESSAGE
#undef TITLE

static const struct message_catalogue scheduler_catalogue = {.texts = scheduler_texts,
                                                             .titles = scheduler_titles,
                                                             .text_count = ARRAY_LEN(scheduler_texts),
                                                             .title_count = ARRAY_LEN(scheduler_titles)};
static const struct message_catalogue reconciler_catalogue = {.texts = reconciler_texts,
                                                              .text_count = ARRAY_LEN(reconciler_texts),
                                                              .words = reconciler_words,
                                                              .word_count = ARRAY_LEN(reconciler_words)};

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
  const struct message_catalogue c = {.texts = texts, .text_count = ARRAY_LEN(texts)};
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
  const struct message_catalogue c = {.texts = texts, .text_count = ARRAY_LEN(texts)};
  assert_chinese(&c, "line 3: amount \"1x\": is no number", "第 3 行 amount“1x”：不是数字");
  assert_chinese(&c, "line 3: amount \"is no number\": odd", "第 3 行 amount“is no number”：odd");  // a value stays
  assert_chinese(&c, "line 1: no column 'x'", "第 1 行：没有列“x”");
  (void)state;
}

static void words_of_closed_sets_are_told(void **state)
{
  static const struct message_text texts[] = {{"%1, due %2", "%1(claim)，到期 %2"},
                                              {"claims %1 + %2 left", "领取 %1 + 剩余 %2()"},
                                              {"never", "无"},
                                              {"unlimited", "不限"},
                                              {"open (%1", "（%1"}};
  static const struct message_text words[] = {{"claim.held", "保留中"}, {"claims.held", "错"}, {"state.open", "错"}};
  const struct message_catalogue c = {
      .texts = texts, .text_count = ARRAY_LEN(texts), .words = words, .word_count = ARRAY_LEN(words)};
  assert_chinese(&c, "held, due never", "保留中，到期 无");
  assert_chinese(&c, "open, due 3", "open，到期 3");  // no word of this set
  assert_chinese(&c, "claims 3 + unlimited left", "领取 3 + 剩余 不限");
  assert_chinese(&c, "claims never + 5 left", "领取 never + 剩余 5");  // in the middle only what asks for it
  assert_chinese(&c, "open (held", "（held");
  assert_string_equal(message_word(&c, "claim", "held"), "保留中");
  assert_null(message_word(&c, "claim", "open"));
  assert_null(message_word(NULL, "claim", "held"));
  (void)state;
}

// A sample of what audits and statements say, also with what is optional in it.
static void findings_are_told(void **state)
{
  static const struct message_text told[] = {
      {"claims 4 + remaining unlimited = total unlimited; taken 4", "领取 4 + 剩余 不限 = 总量 不限；已占用 4"},
      {"claims 3 + remaining 6 = 9; taken 4; taken without a record", "领取 3 + 剩余 6 = 9；已占用 4；扣库存无记录"},
      {"claims 3 + remaining unlimited = unlimited; taken no stock row",
       "领取 3 + 剩余 不限 = 不限；已占用 没有库存行"},
      {"failed, refund owed since 2026-11-29T00:00:00.000000Z, due never",
       "失败，退款自 2026-11-29T00:00:00.000000Z 起待退款，到期时间：无"},
      {"failed, refund refused since 2026-11-29T00:00:00.000000Z, under review: refused",
       "失败，退款自 2026-11-29T00:00:00.000000Z 起被拒绝，人工处理中：被拒绝"},
      {"failed, refund none, confirmed", "失败，退款无，已确认"},
      {"expired, payment due, refund none, although the provider confirmed the payment",
       "已过期，付款待付款，退款无，但提供方已确认付款"},
      {"no claim, yet attempt 1 (deliver) at p of T: done", "没有领取记录，但有T 向 p 的第 1 次尝试（发放）：成功"},
      {"done: payment of 5.00 USD on T, line 3, request 1-2-p, user 7",
       "对方已完成：T 付款 5.00 USD，第 3 行，请求编号 1-2-p，用户 7"},
      {"a line about the credit of 5 JPY on T", "应有一行：T 发放 5 JPY"},
      {"no amount in line 3", "第 3 行为 没有金额"},
      {"used 3 of at most 2", "已用 3，上限 2"},
      {"used by claim 5", "由领取 5 使用"},
      {"held by claim 5", "由领取 5 占用（保留）"},
      {"stuck at simulator: last outcome pending", "停滞于 simulator：最后结果：等待通知"},
      {"stuck at no provider: never tried", "停滞于 无提供方：从未尝试"},
      {"succeeded", "成功"},
      {"none of its 9 lines is: a file, statement 3", "9 行均无关：文件，对账单 3"},
      {"an audit found something: claims_stuck", "审计发现：领取停滞"},
  };
  for (size_t i = 0; i < ARRAY_LEN(told); i++) assert_chinese(&reconciler_catalogue, told[i].english, told[i].chinese);
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

static void check_once(const struct message_text *rows, size_t count)
{
  for (size_t i = 0; i < count; i++)
    for (size_t k = 0; k < i; k++)
      if (strcmp(rows[k].english, rows[i].english) == 0) fail_msg("twice: %s", rows[i].english);
}

static void check_rows(const struct message_text *rows, size_t count)
{
  for (size_t i = 0; i < count; i++) {
    bool has_chinese = false;
    for (const char *p = rows[i].chinese; *p != '\0'; p++) has_chinese = has_chinese || (unsigned char)*p >= 0xE3;
    if (!has_chinese) fail_msg("not Chinese: %s", rows[i].chinese);
    if (marks_of(rows[i].english) != marks_of(rows[i].chinese)) fail_msg("other marks: %s", rows[i].english);
  }
  check_once(rows, count);
}

// "%1(claim)" → "%1". Each set is one that has words.
static char *without_sets(const char *text)
{
  struct buf b;
  buf_init(&b, 4096);
  while (*text != '\0') {
    const char *end = text[0] == '%' && text[1] >= '1' && text[1] <= '9' && text[2] == '(' ? strchr(text, ')') : NULL;
    if (end == NULL) {
      buf_putc(&b, *text++);
      continue;
    }
    size_t len = (size_t)(end - text - 3), i = 0;
    while (i < ARRAY_LEN(reconciler_words) &&
           (strncmp(reconciler_words[i].english, text + 3, len) != 0 || reconciler_words[i].english[len] != '.'))
      i++;
    if (len > 0 && i == ARRAY_LEN(reconciler_words)) fail_msg("no words of the set %.*s", (int)len, text + 3);
    buf_append(&b, text, 2);
    text = end + 1;
  }
  return buf_take(&b);
}

// A row that an earlier one hides would never be shown.
static void check_order(const struct message_text *rows, size_t count)
{
  const struct message_catalogue all = {.texts = rows, .text_count = count};
  for (size_t i = 0; i < count; i++) {
    struct buf b;
    buf_init(&b, 4096);
    assert_true(message_put_chinese(&all, rows[i].english, &b));  // a mark stands for itself
    char *plain = without_sets(rows[i].chinese);
    if (strcmp(buf_text(&b), plain) != 0) fail_msg("hidden by an earlier row: %s", rows[i].english);
    mem_free(plain);
    buf_release(&b);
  }
}

static void rows_are_whole(void **state)
{
  (void)state;
  check_rows(scheduler_texts, ARRAY_LEN(scheduler_texts));
  check_rows(fulfiller_texts, ARRAY_LEN(fulfiller_texts));
  check_rows(reconciler_texts, ARRAY_LEN(reconciler_texts));
  check_once(reconciler_words, ARRAY_LEN(reconciler_words));
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
      cmocka_unit_test(words_of_closed_sets_are_told),
      cmocka_unit_test(findings_are_told),
      cmocka_unit_test(a_path_stays_in_front),
      cmocka_unit_test(every_code_has_a_title),
      cmocka_unit_test(every_verdict_has_a_text),
      cmocka_unit_test(every_reason_of_a_discount_has_a_text),
      cmocka_unit_test(rows_are_whole),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
