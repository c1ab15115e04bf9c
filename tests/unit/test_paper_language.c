// SPDX-License-Identifier: Apache-2.0
// Tests of papers in Chinese: every name and title has its word, texts are told, data and programs' forms stay as they
// are, and a mail keeps its width. Owner: nobody; one thread.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "common/compiler.h"
#include "common/jsonx.h"
#include "common/mem.h"
#include "reconciler/night_paper.h"
#include "reconciler/paper_internal.h"
#include "reconciler/review_paper.h"

#define MESSAGE(english, chinese) {english, chinese},
#define TITLE(code, chinese)
#define WORD(name, chinese) {name, chinese},
static const struct message_text texts[] = {
#include "common/messages.def"
#include "reconciler/messages.def"
};
static const struct message_text words[] = {
#include "reconciler/words.def"
};
static const struct message_catalogue catalogue = {
    .texts = texts, .text_count = ARRAY_LEN(texts), .words = words, .word_count = ARRAY_LEN(words)};

static const char night[] =
    "{\"date\":\"2026-01-08\",\"timeZone\":\"Asia/Tokyo\",\"from\":\"2026-01-07T15:00:00.000000Z\",\"until\":"
    "\"2026-01-08T15:00:00.000000Z\",\"clean\":false,\"findings\":2,\"failed\":1,\"report\":{\"totals\":{\"claims\":{"
    "\"count\":12,\"quantity\":14},\"succeeded\":{\"count\":3},\"cancelled\":{\"count\":1},\"expired\":{\"count\":1},"
    "\"failed\":{\"count\":1},\"rolledBack\":{\"count\":1},\"points\":{\"taken\":5,\"returned\":2},\"claimsByHour\":[0,"
    "5],\"refusals\":{\"SOLD_OUT\":7},\"money\":{\"paid\":[{\"provider\":\"pay\",\"currency\":\"JPY\",\"count\":1,"
    "\"amount\":500}]},\"net\":[{\"of\":\"payments\",\"provider\":\"pay\",\"currency\":\"JPY\",\"amount\":500},{\"of\":"
    "\"deliveries\",\"provider\":\"pay\",\"currency\":\"JPY\",\"amount\":500}]},\"pointsGranted\":{\"points\":9},"
    "\"timeToDelivery\":{\"p50Ms\":1,\"p90Ms\":2,\"p99Ms\":3},\"activities\":[{\"code\":\"claims\",\"kind\":"
    "\"reward\",\"claims\":{\"count\":1,\"quantity\":1}}],\"byKind\":{\"reward\":{\"claims\":{\"count\":1}}},"
    "\"providers\":[{\"provider\":\"pay\",\"calls\":3,\"repeated\":1,\"outcomes\":{\"done\":2,\"retry\":1}}],"
    "\"deadLetters\":[{\"provider\":\"pay\",\"cause\":\"refused\",\"opened\":1}],\"returns\":{\"byDate\":[{\"what\":"
    "\"refunded\",\"madeOn\":\"2026-01-05\",\"provider\":\"pay\",\"currency\":\"USD\",\"count\":1,\"amount\":-500}],"
    "\"items\":[{\"what\":\"refunded\",\"claimId\":\"12-5\",\"madeOn\":\"2026-01-05\",\"amount\":-500,\"currency\":"
    "\"USD\"}]},\"redemptions\":[{\"what\":\"redeemed\",\"currency\":\"CNY\",\"count\":1,\"total\":5,\"discount\":1,"
    "\"payable\":4}]},\"moment\":{\"at\":\"2026-01-09T00:00:00.000000Z\",\"figuresUnchanged\":false,\"audited\":1,"
    "\"since\":{\"date\":\"2026-01-07\",\"opened\":1,\"gone\":2},\"statementsNotMatched\":[{\"provider\":\"pay\","
    "\"fault\":\"time-out\"}],\"log\":{\"seq\":3,\"hash\":"
    "\"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\"},\"deadLettersOpen\":{\"pay\":1},"
    "\"statements\":[{\"provider\":\"pay\",\"lines\":2,\"findings\":0,\"statementId\":\"1\",\"file\":\"claims\"}],"
    "\"findings\":[{\"key\":\"k\",\"kind\":\"stock_not_matching_claims\",\"severity\":\"critical\",\"state\":"
    "\"opened\","
    "\"activityCode\":\"claims\",\"expected\":\"claims 3 + remaining 7 = total 10; taken 3\",\"actual\":\"claims 3 + "
    "remaining 6 = 9; taken 4; taken without a record\",\"cause\":\"stock was taken without a record: a claim was "
    "removed, or stock was taken by hand\",\"nextStep\":\"compare the claims with the provider's statement; then run "
    "the repair that is offered (findings repair KEY --dry-run, then with --reason): claims decide what is left. Where "
    "claims hold more than there is, add stock (scheduler stock adjust) or take claims back (claims roll-back)\"}]}}";

static const char comparison[] =
    "{\"date\":\"2026-01-08\",\"with\":\"2026-01-07\",\"clean\":{\"before\":true,\"after\":false},\"totals\":{"
    "\"claims\":{\"before\":1,\"after\":2,\"change\":1},\"units\":{},\"succeeded\":{},\"cancelled\":{},\"expired\":{},"
    "\"failed\":{},\"rolledBack\":{},\"refused\":{},\"p50Ms\":{},\"p90Ms\":{},\"p99Ms\":{}},\"money\":[{\"what\":"
    "\"delivered\",\"provider\":\"pay\",\"currency\":\"CNY\",\"amount\":{\"before\":1,\"after\":2,\"change\":1}}],"
    "\"findings\":{\"opened\":1,\"open\":2,\"gone\":3,\"items\":[{\"key\":\"k\",\"kind\":\"claims_stuck\",\"state\":"
    "\"gone\",\"severity\":\"medium\",\"expected\":\"issued within an hour\",\"actual\":\"3\"}]},\"activities\":[{"
    "\"code\":\"claims\",\"figures\":{}}],\"providers\":[{\"provider\":\"pay\",\"calls\":{}}]}";

static const char review[] =
    "{\"at\":\"2026-01-09T00:00:00.000000Z\",\"bucketSeconds\":60,\"activity\":{\"code\":\"claims\",\"name\":\"none\","
    "\"kind\":\"number\",\"status\":\"ongoing\",\"eventCode\":\"e\",\"timeZone\":\"UTC\",\"startAt\":"
    "\"2026-01-08T00:00:00.000000Z\",\"endAt\":\"2026-01-09T00:00:00.000000Z\"},\"claims\":{\"count\":3,\"quantity\":3,"
    "\"underReview\":1,\"byStatus\":{\"succeeded\":{\"count\":2},\"rolled_back\":{\"count\":1}}},\"refused\":4,"
    "\"timeToDelivery\":{\"p50Ms\":1,\"p90Ms\":2,\"p99Ms\":3,\"maxMs\":4},\"stock\":{\"total\":9,\"adjustments\":0,"
    "\"held\":3,\"remaining\":6,\"difference\":2},\"refusals\":{\"SOLD_OUT\":3,\"PAUSED\":1},\"series\":[{\"at\":"
    "\"2026-01-08T00:00:00.000000Z\",\"claims\":3,\"outcomes\":{\"succeeded\":2},\"remaining\":6,\"succeeded\":2,"
    "\"ended\":1,\"refused\":4,\"refusals\":{\"SOLD_OUT\":3}}],\"sessions\":[{\"code\":\"claims\",\"name\":\"none\","
    "\"status\":\"ongoing\",\"claims\":3}],\"limits\":[{\"period\":\"day\",\"max\":1,\"users\":2,\"atLimit\":1}],"
    "\"money\":{\"paid\":[{\"provider\":\"pay\",\"currency\":\"JPY\",\"count\":1,\"amount\":500}]},"
    "\"providers\":[{\"provider\":\"pay\",\"calls\":3}],\"causes\":{\"failures\":[{\"code\":\"GIVEN_UP\",\"count\":1}],"
    "\"deadLetters\":[{\"fingerprint\":\"f\","
    "\"provider\":\"pay\",\"cause\":\"refused\",\"count\":1,\"open\":1}]}}";

static const struct {
  const char *doc;
  struct paper *(*fn)(const json_t *doc);
} papers[] = {{night, night_paper_new}, {comparison, night_paper_new_comparison}, {review, review_paper_new}};

static struct paper *paper_of(size_t i)
{
  json_t *json = NULL;
  char why[JSONX_WHY_BYTES] = "";
  if (jsonx_parse(papers[i].doc, strlen(papers[i].doc), &json, why) != RESULT_OK) fail_msg("%s", why);
  struct paper *p = papers[i].fn(json);
  json_decref(json);
  return p;
}

static char *put(size_t i, bool is_chinese, enum report_format format)
{
  struct buf out;
  struct paper *p = paper_of(i);
  if (is_chinese) paper_tell_chinese(p, &catalogue);
  buf_init(&out, 10000000);
  paper_put(p, format, papers[i].doc, strlen(papers[i].doc), &out);
  assert_int_equal(buf_result(&out), RESULT_OK);
  paper_free(p);
  return buf_take(&out);
}

static void assert_word(const char *text)
{
  if (text != NULL && message_word(&catalogue, PAPER_WORDS, text) == NULL) fail_msg("no word paper.%s", text);
}

static void assert_text(const char *text)
{
  struct buf b;
  buf_init(&b, 100000);
  if (!message_put_chinese(&catalogue, text, &b)) fail_msg("no row in reconciler/paper_messages.def for: %s", text);
  buf_release(&b);
}

static void assert_part(const struct paper_part *part)
{
  assert_word(part->title);
  assert_word(part->note);
  for (size_t i = 0; i < part->column_count; i++)
    if (message_word(&catalogue, "code", part->columns[i].title) == NULL) assert_word(part->columns[i].title);
  assert_true(paper_part_rows(part) > 0);  // or this looks at less than there is
  for (size_t i = 0; i < part->cell_count; i++) {
    struct paper_cell cell = part->cells[i];
    const char *sets = part->columns[i % part->column_count].words;
    if (sets == NULL || cell.text[0] == '\0') continue;
    if (sets[0] == '\0' && strpbrk(cell.text, "abcdefgh") != NULL) assert_text(cell.text);
    if (strcmp(sets, PAPER_WORDS) == 0) assert_word(cell.text);
  }
}

// Each section has a row in these documents, so a new one is seen here.
static void every_name_and_title_has_a_word(void **state)
{
  (void)state;
  for (size_t i = 0; i < ARRAY_LEN(papers); i++) {
    struct paper *p = paper_of(i);
    assert_text(p->title);
    assert_text(p->verdict);
    assert_word(p->drawn_note);
    for (size_t k = 0; k < p->fact_count; k++) {
      assert_word(p->facts[k].name);
      if (p->facts[k].words != NULL && p->facts[k].words[0] == '\0') assert_text(p->facts[k].value);
    }
    for (size_t k = 0; k < p->part_count; k++) assert_part(&p->parts[k]);
    paper_free(p);
  }
}

static void assert_has(const char *text, const char *const *pieces)
{
  for (; *pieces != NULL; pieces++)
    if (strstr(text, *pieces) == NULL) fail_msg("no '%s' in: %s", *pieces, text);
}

static void a_page_is_told_and_data_stays(void **state)
{
  (void)state;
  char *first = put(0, true, REPORT_HTML), *second = put(0, true, REPORT_HTML), *seen = put(2, true, REPORT_HTML);
  assert_has(first, (const char *const[]){
                        "<html lang=\"zh-CN\">", "<h1>2026-01-08 夜间报告（Asia/Tokyo）</h1>",
                        "夜间审计：2 项差异，1 项审计未完成，数据有变", "<dt>已审计</dt><dd>1 个活动</dd>",
                        "<h2>差异</h2>", "<th scope=\"row\">库存与领取不符</th>", "<td>严重</td>",
                        "领取 3 + 剩余 6 = 9；已占用 4；扣库存无记录", "<th scope=\"row\">claims</th>", "<td>奖励</td>",
                        "<td>被拒绝</td>", "<th scope=\"row\">已领完</th>", "收款净额", "<td>claims</td>", NULL});
  assert_string_equal(first, second);
  assert_has(seen, (const char *const[]){"<h1>活动 claims 的回顾</h1>", "库存与领取不符：多 2 份", "<dd>none</dd>",
                                         "<dd>选号</dd>", "<span>已撤回</span>", "<li>", "已领完", ">每天</th>",
                                         "数据见旁边的表格。", NULL});
  mem_free(first);
  mem_free(second);
  mem_free(seen);
}

// Columns of a terminal: a Chinese character takes two.
static size_t columns_of(const char *line, size_t len)
{
  size_t columns = 0;
  for (size_t i = 0; i < len; i++) {
    unsigned char c = (unsigned char)line[i];
    if ((c & 0xC0) != 0x80) columns += c >= 0xE3 && c < 0xF0 ? 2 : 1;
  }
  return columns;
}

static void a_mail_is_told_and_fits(void **state)
{
  (void)state;
  char *text = put(0, true, REPORT_TEXT);
  assert_int_equal(strncmp(text, "2026-01-08 夜间报告（Asia/Tokyo）\n夜间审计：2 项差异", 45), 0);
  for (const char *line = text; *line != '\0';) {
    size_t len = strcspn(line, "\n");
    if (columns_of(line, len) > PAPER_TEXT_WIDTH) fail_msg("too wide: %.*s", (int)len, line);
    assert_false(strncmp(line + strspn(line, " "), "，", 3) == 0);  // no line begins with a comma
    line += len + (line[len] == '\n');
  }
  assert_has(text,
             (const char *const[]){"\n  已审计      1 个活动\n", "\n    下一步      将领取记录与提供方的对账单核对；",
                                   "\n  成功              3\n", NULL});
  mem_free(text);
}

static void programs_read_the_same_in_every_language(void **state)
{
  (void)state;
  char *csv = put(0, false, REPORT_CSV), *json = put(0, false, REPORT_JSON);
  assert_has(csv,
             (const char *const[]){"\r\ntotals,claims,value,12,\r\n", "\r\nfindings,k,severity,critical,\r\n", NULL});
  assert_int_equal(strncmp(json, night, strlen(night)), 0);
  mem_free(csv);
  mem_free(json);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_name_and_title_has_a_word),
      cmocka_unit_test(a_page_is_told_and_data_stays),
      cmocka_unit_test(a_mail_is_told_and_fits),
      cmocka_unit_test(programs_read_the_same_in_every_language),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
