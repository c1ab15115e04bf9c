// SPDX-License-Identifier: Apache-2.0
// Tests of reports as papers: the same figures in text, CSV and pages; charts that are well-formed; data that stays
// data. Field cases B105, B107, B123. Owner: nobody; one thread.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "common/compiler.h"
#include "common/jsonx.h"
#include "common/mem.h"
#include "common/text.h"
#include "reconciler/night_paper.h"
#include "reconciler/review_paper.h"

#define NASTY      "<script>alert(1)</script>\"'&"
#define NASTY_JSON "<script>alert(1)</script>\\\"'&"

// --- well-formed: every element that is opened is closed in order, and nothing of what was put in opens one

#define DEPTH_MAX 64

static bool is_void(const char *name, size_t len)
{
  static const char *const names[] = {"meta", "!doctype"};
  for (size_t i = 0; i < ARRAY_LEN(names); i++) {
    if (strlen(names[i]) == len && strncmp(names[i], name, len) == 0) return true;
  }
  return false;
}

static void assert_well_formed(const char *html)
{
  char open[DEPTH_MAX][16];
  size_t depth = 0;
  for (const char *at = html; (at = strchr(at, '<')) != NULL; at++) {
    const char *end = strchr(at, '>');
    assert_non_null(end);
    bool is_end = at[1] == '/';
    const char *name = at + 1 + is_end;
    size_t len = strcspn(name, " />\n");
    assert_true(len > 0 && len < sizeof open[0]);
    if (is_end) {
      assert_true(depth > 0);
      depth--;
      if (strlen(open[depth]) != len || strncmp(open[depth], name, len) != 0)
        fail_msg("'%s' is open where '%.*s' ends", open[depth], (int)len, name);
    } else if (end[-1] != '/' && !is_void(name, len)) {
      assert_true(depth < DEPTH_MAX);
      memcpy(open[depth], name, len);
      open[depth++][len] = '\0';
    }
    at = end;
  }
  assert_int_equal(depth, 0);
}

static size_t count_of(const char *text, const char *what)
{
  size_t count = 0;
  for (const char *at = text; (at = strstr(at, what)) != NULL; at++) count++;
  return count;
}

// --- charts

static char *draw(enum chart_kind kind, const double *values, const char *const *labels, size_t points)
{
  struct buf out;
  const struct chart_series series[] = {{.name = "first " NASTY, .values = values, .tone = 0},
                                        {.name = "second", .values = values + points, .tone = 3}};
  const struct chart chart = {.kind = kind,
                              .title = "A " NASTY,
                              .description = "of " NASTY,
                              .labels = labels,
                              .points = points,
                              .series = series,
                              .series_count = 2};
  buf_init(&out, 1000000);
  chart_put_svg(&chart, "c1", &out);
  assert_int_equal(buf_result(&out), RESULT_OK);
  return buf_take(&out);
}

static void charts_are_well_formed_and_say_what_they_show(void **state)
{
  (void)state;
  static const char *const labels[] = {"00:00", "<b>", "02:00"};
  static const double values[] = {3, 0, 100, 7, NAN, -5};
  const enum chart_kind kinds[] = {CHART_BARS, CHART_STACKED, CHART_LINES};
  for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
    char *svg = draw(kinds[i], values, labels, 3);
    assert_well_formed(svg);
    assert_null(strstr(svg, "<script"));
    assert_null(strstr(svg, "<b>"));
    assert_null(strstr(svg, "nan"));
    assert_non_null(strstr(svg, "role=\"img\" aria-labelledby=\"c1-t c1-d\""));
    assert_non_null(strstr(svg, "<title id=\"c1-t\">A &lt;script&gt;"));
    assert_non_null(strstr(svg, "02:00, first &lt;script&gt;alert(1)&lt;/script&gt;&quot;&#39;&amp;: 100</title>"));
    // What is 0, below it or not known has no bar; in a line only what is not known has no dot.
    assert_int_equal(count_of(svg, "<rect class=\"mark"), kinds[i] == CHART_LINES ? 0 : 3);
    assert_int_equal(count_of(svg, "<circle"), kinds[i] == CHART_LINES ? 5 : 0);
    mem_free(svg);
  }
}

static void a_chart_of_nothing_is_an_empty_frame(void **state)
{
  (void)state;
  static const double zeros[] = {0, 0, 0, 0};
  static const char *const labels[] = {"a", "b"};
  char *svg = draw(CHART_STACKED, zeros, labels, 2), *none = draw(CHART_BARS, zeros, labels, 0);
  assert_well_formed(svg);
  assert_well_formed(none);
  assert_null(strstr(svg, "<rect"));
  mem_free(svg);
  mem_free(none);
}

static void axes_have_short_numbers(void **state)
{
  (void)state;
  static const struct {
    double value;
    const char *text;
  } cases[] = {{0, "0"},         {950, "950"}, {1000, "1k"},    {1500, "1.5k"},
               {250000, "250k"}, {2e6, "2M"},  {2.5e9, "2.5G"}, {1e12, "1T"}};
  for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
    struct buf out;
    buf_init(&out, 32);
    chart_put_short(cases[i].value, &out);
    assert_string_equal(buf_text(&out), cases[i].text);
    buf_release(&out);
  }
}

// --- papers

static const char night[] =
    "{\"date\":\"2026-01-08\",\"timeZone\":\"Asia/Tokyo\",\"from\":\"2026-01-07T15:00:00.000000Z\",\"until\":"
    "\"2026-01-08T15:00:00.000000Z\",\"clean\":false,\"findings\":1,\"failed\":0,\"report\":{\"totals\":{\"claims\":{"
    "\"count\":1234567,\"quantity\":1234567},\"succeeded\":{\"count\":3,\"quantity\":3},\"claimsByHour\":[0,5,0,0,0,0,"
    "0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,1],\"refusals\":{\"=1+1\":7,\"" NASTY_JSON
    "\":2},\"money\":{\"paid\":[{\"provider\":\"+cmd\",\"currency\":\"JPY\",\"count\":1,\"quantity\":1,\"amount\":500},"
    "{\"provider\":\"-2+3\",\"currency\":\"USD\",\"count\":1,\"quantity\":1,\"amount\":500},{\"provider\":\"@x\","
    "\"currency\":\"KWD\",\"count\":1,\"quantity\":1,\"amount\":500}]}},\"activities\":[{\"code\":\"a\",\"kind\":"
    "\"reward\",\"claims\":{\"count\":1,\"quantity\":1}}],\"returns\":{\"items\":[{\"what\":\"refunded\",\"claimId\":"
    "\"12-5\",\"madeOn\":\"2026-01-05\",\"amount\":-500,\"currency\":\"USD\"}]}},\"moment\":{\"figuresUnchanged\":true,"
    "\"audited\":1,\"findings\":[{\"key\":\"k\",\"kind\":\"stock_not_matching_claims\",\"severity\":\"critical\","
    "\"state\":\"opened\",\"expected\":\"\\t=HYPERLINK(1)\",\"actual\":\"" NASTY_JSON
    "\",\"cause\":\"a very long cause that does not fit into one line of a mail because it goes on and on\"}]}}";

static json_t *parse(const char *text)
{
  json_t *json = NULL;
  char why[JSONX_WHY_BYTES] = "";
  if (jsonx_parse(text, strlen(text), &json, why) != RESULT_OK) fail_msg("%s", why);
  return json;
}

static char *tell(const char *doc, struct paper *(*fn)(const json_t *doc), enum report_format format)
{
  struct buf out;
  json_t *json = parse(doc);
  struct paper *p = fn(json);
  json_decref(json);  // a paper keeps nothing of it
  buf_init(&out, 10000000);
  paper_put(p, format, doc, strlen(doc), &out);
  assert_int_equal(buf_result(&out), RESULT_OK);
  paper_free(p);
  return buf_take(&out);
}

static void csv_has_no_formulas_and_exact_numbers(void **state)  // B107, B123
{
  (void)state;
  char *csv = tell(night, night_paper_new, REPORT_CSV);
  static const char *const rows[] = {"section,item,figure,value,unit\r\n",
                                     "\r\ntotals,claims,value,1234567,\r\n",
                                     "\r\nrefusals,'=1+1,refused,7,\r\n",
                                     "\r\nmoney,paid/+cmd/JPY,amount,500,JPY\r\n",
                                     "\r\nmoney,paid/-2+3/USD,amount,5.00,USD\r\n",
                                     "\r\nmoney,paid/@x/KWD,amount,0.500,KWD\r\n",
                                     "\r\nreturned,12-5/refunded,amount,-5.00,USD\r\n",
                                     "\r\nfindings,k,expected,\"'\t=HYPERLINK(1)\",\r\n"};
  for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
    if (strstr(csv, rows[i]) == NULL) fail_msg("no '%s' in: %s", rows[i], csv);
  }
  for (const char *at = csv; (at = strpbrk(at, ",\n")) != NULL; at++) {
    bool is_formula = strchr("=+@\t\r", at[1]) != NULL && at[1] != '\0' && at[1] != '\r';
    if (is_formula) fail_msg("a formula: %.30s", at);
  }
  mem_free(csv);
}

static void a_page_shows_data_as_text(void **state)  // B105, B123
{
  (void)state;
  char *html = tell(night, night_paper_new, REPORT_HTML);
  assert_well_formed(html);
  assert_null(strstr(html, "<script"));
  assert_null(strstr(html, " style="));
  assert_null(strstr(html, "http-equiv"));
  static const char *const texts[] = {"&lt;script&gt;alert(1)&lt;/script&gt;",
                                      ">\u00A5500<",
                                      ">$5.00<",
                                      ">KD 0.500<",
                                      ">-$5.00<",
                                      "1,234,567",
                                      "<svg class=\"chart\"",
                                      "@media print",
                                      "prefers-color-scheme:dark",
                                      "23:00, claims: 1</title>",
                                      "2026-01-07 15:00:00 UTC"};
  for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
    if (strstr(html, texts[i]) == NULL) fail_msg("no '%s'", texts[i]);
  }
  mem_free(html);
}

static void a_mail_begins_with_the_verdict_and_fits(void **state)
{
  (void)state;
  char *text = tell(night, night_paper_new, REPORT_TEXT);
  static const char start[] = "Night of 2026-01-08 (Asia/Tokyo)\nnight: 1 finding\n";
  assert_memory_equal(text, start, sizeof start - 1);
  for (const char *line = text; *line != '\0';) {
    size_t len = strcspn(line, "\n");
    if (text_utf8_length(line, len) > PAPER_TEXT_WIDTH) fail_msg("too long: %.*s", (int)len, line);
    if (len > 0 && line[len - 1] == ' ') fail_msg("blanks at the end: %.*s", (int)len, line);
    line += len + (line[len] == '\n');
  }
  assert_non_null(strstr(text, "KD 0.500"));
  assert_null(strchr(text, '\t'));
  mem_free(text);
}

static void the_same_document_is_the_same_bytes(void **state)
{
  (void)state;
  for (int format = REPORT_TEXT; format <= REPORT_HTML; format++) {
    char *first = tell(night, night_paper_new, (enum report_format)format);
    char *second = tell(night, night_paper_new, (enum report_format)format);
    assert_string_equal(first, second);
    mem_free(first);
    mem_free(second);
  }
}

static void a_review_names_the_commonest_reasons(void **state)
{
  (void)state;
  static const char doc[] =
      "{\"activity\":{\"code\":\"a\",\"name\":\"" NASTY_JSON
      "\"},\"bucketSeconds\":60,\"claims\":{\"count\":2,\"quantity\":2,\"byStatus\":{\"succeeded\":{\"count\":2,"
      "\"quantity\":2}}},\"refused\":36,\"refusals\":{\"A\":1,\"B\":2,\"C\":3,\"D\":4,\"E\":5,\"F\":6,\"G\":7,\"H\":8},"
      "\"stock\":{\"total\":5,\"adjustments\":0,\"held\":2,\"remaining\":4,\"difference\":1},\"series\":[{\"at\":"
      "\"2026-01-01T10:00:00.000000Z\",\"claims\":2,\"succeeded\":2,\"ended\":0,\"outcomes\":{\"succeeded\":2},"
      "\"refused\":36,\"refusals\":{\"A\":1,\"B\":2,\"C\":3,\"D\":4,\"E\":5,\"F\":6,\"G\":7,\"H\":8},\"remaining\":3}]"
      "}";
  char *html = tell(doc, review_paper_new, REPORT_HTML), *csv = tell(doc, review_paper_new, REPORT_CSV);
  assert_well_formed(html);
  assert_null(strstr(html, "<script"));
  assert_non_null(strstr(html, "10:00, H: 8</title>"));
  assert_non_null(strstr(html, "10:00, others: 3</title>"));
  assert_null(strstr(html, "10:00, A: 1</title>"));
  assert_non_null(strstr(html, "class=\"verdict bad\""));
  assert_non_null(strstr(csv, "\r\ncurve,10:00,remaining,3,\r\n"));
  assert_non_null(strstr(csv, "\r\nrefusals,A,refused,1,\r\n"));
  mem_free(html);
  mem_free(csv);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(charts_are_well_formed_and_say_what_they_show),
      cmocka_unit_test(a_chart_of_nothing_is_an_empty_frame),
      cmocka_unit_test(axes_have_short_numbers),
      cmocka_unit_test(csv_has_no_formulas_and_exact_numbers),
      cmocka_unit_test(a_page_shows_data_as_text),
      cmocka_unit_test(a_mail_begins_with_the_verdict_and_fits),
      cmocka_unit_test(the_same_document_is_the_same_bytes),
      cmocka_unit_test(a_review_names_the_commonest_reasons),
  };
  return cmocka_run_group_tests_name("paper", tests, NULL, NULL);
}
