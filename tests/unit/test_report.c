// SPDX-License-Identifier: Apache-2.0
// Tests of the forms of a report: JSON as the contract has it, CSV that a spreadsheet may open (B107), HTML and text in
// which data stays text (B105). Owner: nobody; one thread.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <string.h>
#include <cmocka.h>

#include "common/compiler.h"
#include "common/csv_out.h"
#include "common/html_out.h"
#include "common/jsonx.h"
#include "common/mem.h"
#include "reconciler/report.h"

static const char nasty[] = "<script>alert(1)</script> \"q\" \x1B[31m, =1+1\n\xC2\x9B";

static char *own(char *const *texts, size_t i) { return texts[i]; }

static void add(struct audit_report *report, const char *actual, enum finding_state finding_state, bool has_claim)
{
  char *texts[] = {mem_strdup("stock_not_matching_claims:683000001:stock"),
                   mem_strdup("stock_not_matching_claims"),
                   mem_strdup("festival-1"),
                   mem_strdup("claims 20"),
                   mem_strdup(actual),
                   mem_strdup("a cause"),
                   mem_strdup("a step")};
  const struct finding f = {.key = own(texts, 0),
                            .kind = own(texts, 1),
                            .severity = SEVERITY_CRITICAL,
                            .state = finding_state,
                            .activity_id = 683000001,
                            .activity_code = own(texts, 2),
                            .has_claim = has_claim,
                            .claim_id = 17,
                            .expected = own(texts, 3),
                            .actual = own(texts, 4),
                            .cause = own(texts, 5),
                            .next_step = own(texts, 6)};
  finding_set_add(&report->findings, &f);
  for (size_t i = 0; i < ARRAY_LEN(texts); i++) mem_free(texts[i]);
}

static void report_init(struct audit_report *report)
{
  audit_report_init(report);
  report->from = (struct wall_time){1793318400000000};  // 2026-10-30T00:00:00Z
  report->until = (struct wall_time){1793404800000000};
  report->activities = 3;
  report->audits = 5;
}

static char *render(const struct audit_report *report, enum report_format format)
{
  struct buf out;
  buf_init(&out, 100000);
  report_put(report, format, &out);
  assert_int_equal(buf_result(&out), RESULT_OK);
  return buf_take(&out);
}

static json_t *render_json(const struct audit_report *report)
{
  char *text = render(report, REPORT_JSON);
  json_t *json = NULL;
  assert_int_equal(jsonx_parse(text, strlen(text), &json, NULL), RESULT_OK);
  mem_free(text);
  return json;
}

static const char *member(const json_t *object, const char *name)
{
  return json_string_value(json_object_get(object, name));
}

static void json_of_a_clean_audit(void **state)
{
  (void)state;
  struct audit_report report;
  report_init(&report);
  json_t *json = render_json(&report);
  assert_string_equal(member(json, "from"), "2026-10-30T00:00:00.000000Z");
  assert_string_equal(member(json, "until"), "2026-10-31T00:00:00.000000Z");
  assert_true(json_is_true(json_object_get(json, "clean")));
  assert_true(json_is_array(json_object_get(json, "findings")));
  assert_int_equal(json_array_size(json_object_get(json, "findings")), 0);
  json_decref(json);
  add(&report, "x", FINDING_GONE, false);
  json = render_json(&report);
  assert_true(json_is_true(json_object_get(json, "clean")));
  assert_string_equal(member(json_array_get(json_object_get(json, "findings"), 0), "state"), "gone");
  json_decref(json);
  audit_report_release(&report);
}

static void json_has_the_members_of_the_contract(void **state)
{
  (void)state;
  struct audit_report report;
  report_init(&report);
  add(&report, nasty, FINDING_OPENED, true);
  add(&report, "y", FINDING_OPEN, false);
  json_t *json = render_json(&report);
  assert_true(json_is_false(json_object_get(json, "clean")));
  const json_t *first = json_array_get(json_object_get(json, "findings"), 0),
               *second = json_array_get(json_object_get(json, "findings"), 1);
  assert_string_equal(member(first, "key"), "stock_not_matching_claims:683000001:stock");
  assert_string_equal(member(first, "kind"), "stock_not_matching_claims");
  assert_string_equal(member(first, "severity"), "critical");
  assert_string_equal(member(first, "activityCode"), "festival-1");
  assert_string_equal(member(first, "claimId"), "683000001-17");
  assert_string_equal(member(first, "expected"), "claims 20");
  assert_string_equal(member(first, "actual"), nasty);
  assert_string_equal(member(first, "cause"), "a cause");
  assert_string_equal(member(first, "nextStep"), "a step");
  assert_string_equal(member(first, "state"), "opened");
  assert_null(json_object_get(second, "claimId"));
  assert_string_equal(member(second, "state"), "open");
  json_decref(json);
  audit_report_release(&report);
}

static void an_audit_that_did_not_finish_is_not_clean(void **state)
{
  (void)state;
  struct audit_report report;
  report_init(&report);
  report.failed = 1;
  report.failures = MEM_ARRAY(struct audit_failure, 1);
  report.failures[0] = (struct audit_failure){mem_strdup("k"), mem_strdup("a"), mem_strdup("statement timeout")};
  report.failure_count = 1;
  json_t *json = render_json(&report);
  assert_true(json_is_false(json_object_get(json, "clean")));
  assert_string_equal(member(json_array_get(json_object_get(json, "failures"), 0), "reason"), "statement timeout");
  json_decref(json);
  char *text = render(&report, REPORT_TEXT);
  assert_non_null(strstr(text, "not finished: k of activity a: statement timeout"));
  assert_null(strstr(text, "audit: clean"));
  mem_free(text);
  audit_report_release(&report);
}

static void text_ends_with_the_verdict(void **state)
{
  (void)state;
  struct audit_report report;
  report_init(&report);
  char *text = render(&report, REPORT_TEXT);
  assert_string_equal(text + strlen(text) - strlen("audit: clean\n"), "audit: clean\n");
  mem_free(text);
  add(&report, nasty, FINDING_OPENED, true);
  add(&report, "y", FINDING_OPEN, false);
  add(&report, "z", FINDING_GONE, false);
  text = render(&report, REPORT_TEXT);
  assert_non_null(strstr(text, "\naudit: 2 findings (2 critical; 1 opened, 1 open), 1 gone since the last audit\n"));
  assert_null(strchr(text, 0x1B));
  assert_null(strstr(text, "\xC2\x9B"));
  mem_free(text);
  audit_report_release(&report);
}

static void html_shows_data_as_text(void **state)
{
  (void)state;
  struct audit_report report;
  report_init(&report);
  add(&report, nasty, FINDING_OPENED, true);
  char *html = render(&report, REPORT_HTML);
  assert_null(strstr(html, "<script"));
  assert_non_null(strstr(html, "&lt;script&gt;alert(1)&lt;/script&gt; &quot;q&quot;"));
  mem_free(html);
  audit_report_release(&report);
}

static void check_cell(const char *text, const char *expected)
{
  struct buf out;
  buf_init(&out, 1000);
  csv_put_cell(&out, text);
  assert_string_equal(buf_text(&out), expected);
  buf_release(&out);
}

static void csv_cells_are_never_formulas(void **state)
{
  (void)state;
  check_cell("=1+1", "'=1+1");
  check_cell("+cmd", "'+cmd");
  check_cell("-2+3", "'-2+3");
  check_cell("@x", "'@x");
  check_cell("\tx", "\"'\tx\"");
  check_cell("\rx", "\"'\rx\"");
  check_cell("  =1", "\"'  =1\"");
  check_cell(
      "\xEF\xBC\x9D"
      "1",
      "'\xEF\xBC\x9D"
      "1");
  check_cell("=a,\"b\"", "\"'=a,\"\"b\"\"\"");
  check_cell("-", "'-");
  check_cell("-5.", "'-5.");
  check_cell("+5", "'+5");
}

static void csv_numbers_and_quotes_stay_what_they_are(void **state)
{
  (void)state;
  check_cell("-500", "-500");
  check_cell("-5.00", "-5.00");
  check_cell("9223372036854775807", "9223372036854775807");
  check_cell("", "");
  check_cell("plain", "plain");
  check_cell("a,b", "\"a,b\"");
  check_cell("a\"b", "\"a\"\"b\"");
  check_cell("two\nlines", "\"two\nlines\"");
  check_cell("a-b=c", "a-b=c");
}

static void csv_has_a_header_and_a_row_for_each(void **state)
{
  (void)state;
  struct audit_report report;
  report_init(&report);
  add(&report, "=1+1, \"x\"", FINDING_OPENED, true);
  char *csv = render(&report, REPORT_CSV);
  assert_string_equal(
      csv,
      "key,kind,severity,activityCode,claimId,expected,actual,cause,nextStep,state\r\n"
      "stock_not_matching_claims:683000001:stock,stock_not_matching_claims,critical,festival-1,683000001-17,claims 20,"
      "\"'=1+1, \"\"x\"\"\",a cause,a step,opened\r\n");
  mem_free(csv);
  audit_report_release(&report);
}

static void formats_are_a_closed_set(void **state)
{
  (void)state;
  enum report_format format = REPORT_TEXT;
  assert_int_equal(report_format_parse("html", &format), RESULT_OK);
  assert_int_equal(format, REPORT_HTML);
  assert_int_equal(report_format_parse("xml", &format), RESULT_INVALID);
  assert_int_equal(format, REPORT_HTML);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(json_of_a_clean_audit),
      cmocka_unit_test(json_has_the_members_of_the_contract),
      cmocka_unit_test(an_audit_that_did_not_finish_is_not_clean),
      cmocka_unit_test(text_ends_with_the_verdict),
      cmocka_unit_test(html_shows_data_as_text),
      cmocka_unit_test(csv_cells_are_never_formulas),
      cmocka_unit_test(csv_numbers_and_quotes_stay_what_they_are),
      cmocka_unit_test(csv_has_a_header_and_a_row_for_each),
      cmocka_unit_test(formats_are_a_closed_set),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
