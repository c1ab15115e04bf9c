// SPDX-License-Identifier: Apache-2.0
// Metrics: the exposition stays readable whatever the labels hold (B103).
// One thread.
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <math.h>

#include "common/limits.h"
#include "common/metric.h"

enum { M_TAKEN, M_DEPTH, M_SECONDS, M_ROWS, M_CLAIMS, M_WAIT };
static const struct metric_def defs[] = {
    {"largesse_taken_total", METRIC_COUNTER, "", "units \\ taken\nso far \"quoted\""},
    {"largesse_depth", METRIC_GAUGE, "queue", "depth"},
    {"largesse_turn_seconds", METRIC_HISTOGRAM, "", "time"},
    {"largesse_batch_rows", METRIC_HISTOGRAM, "", "rows"},
    {"largesse_claims_total", METRIC_COUNTER, "activity,outcome", "claims"},
    {"largesse_wait_seconds", METRIC_HISTOGRAM, "route", "wait"},
};

static struct metric_set *new_set(void) { return metric_set_new(defs, ARRAY_LEN(defs)); }

static void assert_page_has(const struct metric_set *set, const char *expected)
{
  struct buf page;
  buf_init(&page, METRIC_PAGE_BYTES_MAX);
  metric_render(set, &page);
  assert_int_equal(buf_result(&page), RESULT_OK);
  if (strstr(buf_text(&page), expected) == NULL) fail_msg("missing: %s\nin:\n%s", expected, buf_text(&page));
  buf_release(&page);
}

static void unlabelled_metrics_show_from_the_start(void **state)
{
  (void)state;
  struct metric_set *set = new_set();
  assert_page_has(set,
                  "# HELP largesse_taken_total units \\\\ taken\\nso far \"quoted\"\n# TYPE largesse_taken_total "
                  "counter\nlargesse_taken_total 0\n");
  assert_page_has(
      set, "# TYPE largesse_depth gauge\n# HELP largesse_turn_seconds time\n# TYPE largesse_turn_seconds histogram\n");
  assert_page_has(set, "largesse_turn_seconds_bucket{le=\"0.0005\"} 0\n");
  metric_set_free(set);
  metric_set_free(NULL);
}

static void counters_add_and_gauges_move(void **state)
{
  (void)state;
  struct metric_set *set = new_set();
  metric_add(set, M_TAKEN, 2);
  metric_add(set, M_TAKEN, 0.5);
  struct metric_series *depth = METRIC_SERIES(set, M_DEPTH, "a");
  metric_series_put(depth, 7);
  metric_series_add(depth, -3);
  assert_page_has(set, "largesse_taken_total 2.5\n");
  assert_page_has(set, "largesse_depth{queue=\"a\"} 4\n");
  metric_set_free(set);
}

static void numbers_keep_their_value(void **state)
{
  (void)state;
  static const struct {
    double value;
    const char *text;
  } cases[] = {{0, "0"},
               {-1, "-1"},
               {1e6, "1000000"},
               {123456789012345, "123456789012345"},
               {0.1, "0.1"},
               {1e300, "1e+300"},
               {(double)INFINITY, "+Inf"},
               {-(double)INFINITY, "-Inf"},
               {(double)NAN, "NaN"},
               {1764417600.25, "1764417600.25"}};
  struct metric_set *set = new_set();
  for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
    char expected[80];
    metric_series_put(METRIC_SERIES(set, M_DEPTH, "q"), cases[i].value);
    snprintf(expected, sizeof(expected), "largesse_depth{queue=\"q\"} %s\n", cases[i].text);
    assert_page_has(set, expected);
  }
  metric_set_free(set);
}

static void labels_are_escaped(void **state)
{
  (void)state;
  struct metric_set *set = new_set();
  metric_series_add(METRIC_SERIES(set, M_CLAIMS, "a\"b\\c\nd", "accepted"), 1);
  metric_series_add(METRIC_SERIES(set, M_CLAIMS, "\xE4\xB8\xAD", ""), 2);
  assert_page_has(set, "largesse_claims_total{activity=\"a\\\"b\\\\c\\nd\",outcome=\"accepted\"} 1\n");
  assert_page_has(set, "largesse_claims_total{activity=\"\xE4\xB8\xAD\",outcome=\"\"} 2\n");
  metric_set_free(set);
}

static void labels_that_would_run_together_are_different(void **state)
{
  (void)state;
  struct metric_set *set = new_set();
  struct metric_series *a = METRIC_SERIES(set, M_CLAIMS, "x\",outcome=\"y", "z");
  struct metric_series *b = METRIC_SERIES(set, M_CLAIMS, "x", "y\",outcome=\"z");
  assert_ptr_not_equal(a, b);
  assert_ptr_equal(a, METRIC_SERIES(set, M_CLAIMS, "x\",outcome=\"y", "z"));
  metric_set_free(set);
}

static void a_series_keeps_its_address_as_others_come(void **state)
{
  (void)state;
  struct metric_set *set = new_set();
  struct metric_series *first = METRIC_SERIES(set, M_DEPTH, "first");
  for (int i = 0; i < 1000; i++) {
    char name[16];
    snprintf(name, sizeof(name), "q%d", i);
    metric_series_put(METRIC_SERIES(set, M_DEPTH, name), i);
  }
  assert_ptr_equal(first, METRIC_SERIES(set, M_DEPTH, "first"));
  metric_series_put(first, 42);
  assert_page_has(set, "largesse_depth{queue=\"first\"} 42\nlargesse_depth{queue=\"q0\"} 0\n");
  assert_page_has(set, "largesse_depth{queue=\"q999\"} 999\n");
  metric_set_free(set);
}

static void too_many_series_share_one(void **state)
{
  (void)state;
  struct metric_set *set = new_set();
  for (int i = 0; i < METRIC_SERIES_MAX + 500; i++) {
    char name[16];
    snprintf(name, sizeof(name), "a%d", i);
    metric_series_add(METRIC_SERIES(set, M_CLAIMS, name, "x"), 1);
  }
  assert_page_has(set, "largesse_claims_total{activity=\"other\",outcome=\"other\"} 501\n");
  metric_series_add(METRIC_SERIES(set, M_CLAIMS, "a0", "x"), 1);
  assert_page_has(set, "largesse_claims_total{activity=\"a0\",outcome=\"x\"} 2\n");
  metric_set_free(set);
}

static void histograms_cumulate(void **state)
{
  (void)state;
  struct metric_set *set = new_set();
  metric_observe(set, M_SECONDS, 0);
  metric_observe(set, M_SECONDS, 0.0005);  // a bound belongs to its bucket
  metric_observe(set, M_SECONDS, 0.0006);
  metric_observe(set, M_SECONDS, 1e9);
  assert_page_has(set, "largesse_turn_seconds_bucket{le=\"0.0005\"} 2\nlargesse_turn_seconds_bucket{le=\"0.001\"} 3\n");
  assert_page_has(set,
                  "largesse_turn_seconds_bucket{le=\"3600\"} 3\nlargesse_turn_seconds_bucket{le=\"+Inf\"} 4\n"
                  "largesse_turn_seconds_sum 1000000000.0011\nlargesse_turn_seconds_count 4\n");
  metric_observe(set, M_ROWS, 64);
  metric_observe(set, M_ROWS, 65);
  assert_page_has(set,
                  "largesse_batch_rows_bucket{le=\"32\"} 0\nlargesse_batch_rows_bucket{le=\"64\"} "
                  "1\nlargesse_batch_rows_bucket{le=\"128\"} 2\n");
  metric_series_observe(METRIC_SERIES(set, M_WAIT, "/v1/claims"), 0.2);
  assert_page_has(set, "largesse_wait_seconds_bucket{route=\"/v1/claims\",le=\"0.25\"} 1\n");
  assert_page_has(set, "largesse_wait_seconds_count{route=\"/v1/claims\"} 1\n");
  metric_set_free(set);
}

static void every_line_of_the_page_is_well_formed(void **state)
{
  (void)state;
  struct metric_set *set = new_set();
  metric_series_add(METRIC_SERIES(set, M_CLAIMS, "\n\n\"}", "\\"), 1);
  metric_series_observe(METRIC_SERIES(set, M_WAIT, "a\"b"), 3);
  struct buf page;
  buf_init(&page, METRIC_PAGE_BYTES_MAX);
  metric_render(set, &page);
  assert_int_equal(page.data[page.len - 1], '\n');
  for (char *line = page.data; *line != '\0';) {
    char *end = strchr(line, '\n');
    assert_non_null(end);
    *end = '\0';
    bool is_comment = strncmp(line, "# HELP largesse_", 16) == 0 || strncmp(line, "# TYPE largesse_", 16) == 0;
    const char *value = strrchr(line, ' ');
    assert_true(is_comment || (strncmp(line, "largesse_", 9) == 0 && value != NULL &&
                               strspn(value + 1, "0123456789.e+-InfNa") == strlen(value + 1)));
    line = end + 1;
  }
  buf_release(&page);
  metric_set_free(set);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(unlabelled_metrics_show_from_the_start),
      cmocka_unit_test(counters_add_and_gauges_move),
      cmocka_unit_test(numbers_keep_their_value),
      cmocka_unit_test(labels_are_escaped),
      cmocka_unit_test(labels_that_would_run_together_are_different),
      cmocka_unit_test(a_series_keeps_its_address_as_others_come),
      cmocka_unit_test(too_many_series_share_one),
      cmocka_unit_test(histograms_cumulate),
      cmocka_unit_test(every_line_of_the_page_is_well_formed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
