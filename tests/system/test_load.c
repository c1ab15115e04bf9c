// SPDX-License-Identifier: Apache-2.0
// The load generator against the simulator: what it reports and records must agree with the provider's books, also when
// answers are lost and the server goes away in the middle.
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <jansson.h>
#include <signal.h>

#include "common/mem.h"
#include "tests/support/http.h"
#include "tests/support/process.h"
#include "tests/support/support.h"

struct bench {
  int port;
  char *load, *simulator, *url, *listen, *record;
};

static struct process *start_simulator(const struct bench *b)
{
  const char *const argv[] = {b->simulator, "--listen", b->listen, NULL};
  const struct process_spec spec = {
      .name = "load-simulator", .argv = argv, .ready_port = b->port, .ready_path = "/sim/stats"};
  return process_start(&spec);
}

static int set_up(void **state)
{
  static struct bench b;
  int offset = 0;
  b.port = support_free_port(&offset);
  b.simulator = support_bin("simulator");
  b.load = support_bin("../bench/load");
  b.url = support_format("http://127.0.0.1:%d", b.port);
  b.listen = support_format("127.0.0.1:%d", b.port);
  char *dir = support_log_dir();
  b.record = support_format("%s/record.csv", dir);
  mem_free(dir);
  *state = &b;
  return 0;
}

static int tear_down(void **state)
{
  struct bench *b = *state;
  mem_free(b->load);
  mem_free(b->simulator);
  mem_free(b->url);
  mem_free(b->listen);
  mem_free(b->record);
  return 0;
}

// Options follow, ended by NULL. The report, or NULL if there is none.
static json_t *run_load(const struct bench *b, int expected_status, const char *const *options)
{
  const char *argv[32] = {b->load, "--url", b->url, "--activity", "voucher", "--credits", "--json"};
  size_t count = 7;
  while (*options != NULL && count < 31) argv[count++] = *options++;
  struct buf out, errors;
  buf_init(&out, 65536);
  buf_init(&errors, 65536);
  int status = process_run(argv, NULL, 60, &out, &errors);
  if (status != expected_status) fail_msg("load ended with %d: %s %s", status, buf_text(&out), buf_text(&errors));
  json_t *report = json_loads(buf_text(&out), JSON_REJECT_DUPLICATES, NULL);
  buf_release(&out);
  buf_release(&errors);
  return report;
}
#define RUN_LOAD(b, status, ...) run_load((b), (status), (const char *const[]){__VA_ARGS__, NULL})

static int64_t number(const json_t *object, const char *name)
{
  const json_t *value = json_object_get(object, name);
  assert_true(json_is_integer(value));
  return json_integer_value(value);
}

static int64_t stat_of(const struct bench *b, const char *name)
{
  json_t *stats = NULL;
  assert_int_equal(http_json(b->port, "GET", "/sim/stats", NULL, &stats), 200);
  int64_t value = number(stats, name);
  json_decref(stats);
  return value;
}

static void script(const struct bench *b, const char *json)
{
  struct http_answer answer;
  http_post(b->port, "/sim/script", json, &answer);
  assert_int_equal(answer.status, 200);
  http_answer_release(&answer);
}

// Lines of the record with this text in them.
static int64_t recorded(const struct bench *b, const char *text)
{
  FILE *file = fopen(b->record, "r");
  assert_non_null(file);
  char line[512];
  int64_t count = 0;
  while (fgets(line, sizeof line, file) != NULL) count += strstr(line, text) != NULL;
  assert_int_equal(fclose(file), 0);
  return count;
}

static void every_click_is_sent_once_and_counted(void **state)
{
  const struct bench *b = *state;
  struct process *simulator = start_simulator(b);
  json_t *report =
      RUN_LOAD(b, 0, "--requests", "5000", "--connections", "64", "--biz-prefix", "a-", "--record", b->record);
  assert_int_equal(number(report, "clicks"), 5000);
  assert_int_equal(number(report, "accepted"), 5000);
  assert_int_equal(number(report, "requests"), 5000);
  assert_int_equal(stat_of(b, "entries"), 5000);
  assert_int_equal(stat_of(b, "duplicates"), 0);
  assert_int_equal(recorded(b, ",200,"), 5000);
  assert_int_equal(recorded(b, "a-4999,"), 1);
  json_decref(report);
  assert_int_equal(process_stop(simulator, 5), 0);
  process_free(simulator);
}

static void refusals_are_counted_by_their_code(void **state)
{
  const struct bench *b = *state;
  struct process *simulator = start_simulator(b);
  script(b,
         "{\"match\":{\"any\":true},\"times\":30,\"steps\":[{\"status\":409,\"body\":{\"code\":\"SOLD_OUT\"},"
         "\"effect\":\"none\"}]}");
  script(b, "{\"match\":{\"any\":true},\"times\":20,\"steps\":[{\"status\":503,\"effect\":\"none\"}]}");
  json_t *report = RUN_LOAD(b, 0, "--requests", "100", "--connections", "4", "--biz-prefix", "b-");
  assert_int_equal(number(report, "accepted"), 50);
  assert_int_equal(number(report, "refusedTotal"), 50);
  assert_int_equal(number(json_object_get(report, "refused"), "SOLD_OUT"), 30);
  assert_int_equal(number(json_object_get(report, "refused"), "UNAVAILABLE"), 20);
  json_decref(report);
  assert_int_equal(process_stop(simulator, 5), 0);
  process_free(simulator);
}

static void unanswered_clicks_are_repeated_with_the_same_biz_id(void **state)
{
  const struct bench *b = *state;
  struct process *simulator = start_simulator(b);
  script(b,
         "{\"match\":{\"any\":true},\"times\":40,\"steps\":[{\"close\":true},{\"status\":503},{\"status\":500},{"
         "\"body\":\"{\"}]}");
  json_t *report = RUN_LOAD(b, 0, "--requests", "1000", "--connections", "32", "--biz-prefix", "c-",
                            "--repeat-unanswered", "--record", b->record);
  assert_int_equal(number(report, "accepted"), 1000);
  assert_int_equal(number(report, "repeats"), 160);
  assert_int_equal(number(report, "requests"), 1160);
  assert_int_equal(number(report, "unanswered"), 0);
  const json_t *causes = json_object_get(report, "repeatCauses");
  assert_int_equal(number(causes, "connection closed"), 40);
  assert_int_equal(number(causes, "status 503"), 40);
  assert_int_equal(number(causes, "status 500"), 40);
  assert_int_equal(number(causes, "broken answer"), 40);
  assert_int_equal(stat_of(b, "entries"), 1000);
  assert_int_equal(stat_of(b, "duplicates"), 160);
  assert_int_equal(recorded(b, ",200,"), 1000);
  json_decref(report);
  assert_int_equal(process_stop(simulator, 5), 0);
  process_free(simulator);
}

static void lost_answers_without_repeating_are_reported(void **state)
{
  const struct bench *b = *state;
  struct process *simulator = start_simulator(b);
  script(b, "{\"match\":{\"any\":true},\"times\":10,\"steps\":[{\"close\":true}]}");
  script(b, "{\"match\":{\"any\":true},\"times\":2,\"steps\":[{\"delayMs\":5000}]}");
  json_t *report = RUN_LOAD(b, 1, "--requests", "50", "--connections", "4", "--biz-prefix", "d-", "--timeout", "2",
                            "--record", b->record);
  assert_int_equal(number(report, "unanswered"), 12);
  assert_int_equal(number(report, "accepted"), 38);
  assert_int_equal(number(json_object_get(report, "errors"), "connection closed"), 10);
  assert_int_equal(number(json_object_get(report, "errors"), "answer time-out"), 2);
  assert_int_equal(recorded(b, ",0,,,"), 12);
  json_decref(report);
  assert_int_equal(process_stop(simulator, 5), 0);
  process_free(simulator);
}

static void a_server_that_goes_away_is_waited_for(void **state)
{
  const struct bench *b = *state;
  struct process *simulator = start_simulator(b);
  const char *const argv[] = {
      b->load,   "--url", b->url,          "--activity", "voucher",      "--credits", "--requests",          "3000",
      "--rate",  "1500",  "--connections", "16",         "--biz-prefix", "e-",        "--repeat-unanswered", "--record",
      b->record, NULL};
  struct process *load = process_start(&(struct process_spec){.name = "load", .argv = argv});
  WAIT_FOR(stat_of(b, "requests") > 500, 10);
  process_kill(simulator);
  process_free(simulator);
  support_sleep(0.3);
  simulator = start_simulator(b);
  int status = process_wait(load, 40);
  if (status != 0) process_show_log(load, 20);
  assert_int_equal(status, 0);
  assert_int_equal(recorded(b, ",200,"), 3000);
  process_free(load);
  assert_int_equal(process_stop(simulator, 5), 0);
  process_free(simulator);
}

static void the_rate_is_kept(void **state)
{
  const struct bench *b = *state;
  struct process *simulator = start_simulator(b);
  struct stopwatch watch = stopwatch_start();
  json_t *report = RUN_LOAD(b, 0, "--seconds", "2", "--rate", "500", "--connections", "16", "--biz-prefix", "f-");
  int64_t clicks = number(report, "clicks");
  if ((double)clicks < 900 / stopwatch_slowness(&watch) || clicks > 1001)
    fail_msg("%lld clicks in 2 s", (long long)clicks);
  json_decref(report);
  assert_int_equal(process_stop(simulator, 5), 0);
  process_free(simulator);
}

static void nobody_there_is_an_error_and_ends(void **state)
{
  const struct bench *b = *state;
  json_t *report = RUN_LOAD(b, 1, "--requests", "20", "--connections", "2");
  assert_int_equal(number(report, "unanswered"), 20);
  json_decref(report);
  report = RUN_LOAD(b, 1, "--requests", "2", "--connections", "2", "--repeat-unanswered", "--grace", "0.5");
  assert_int_equal(number(report, "unanswered"), 2);
  json_decref(report);
  assert_null(RUN_LOAD(b, 64, "--requests", "x"));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_click_is_sent_once_and_counted),
      cmocka_unit_test(refusals_are_counted_by_their_code),
      cmocka_unit_test(unanswered_clicks_are_repeated_with_the_same_biz_id),
      cmocka_unit_test(lost_answers_without_repeating_are_reported),
      cmocka_unit_test(a_server_that_goes_away_is_waited_for),
      cmocka_unit_test(the_rate_is_kept),
      cmocka_unit_test(nobody_there_is_an_error_and_ends),
  };
  return cmocka_run_group_tests_name("load", tests, set_up, tear_down);
}
