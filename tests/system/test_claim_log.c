// SPDX-License-Identifier: Apache-2.0
// Whatever callers send, a log line stays one line and says only what the scheduler says. Field case B104.
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/mem.h"
#include "tests/support/claims.h"
#include "tests/support/stack.h"
#include "tests/support/support.h"

#define CODE  "log"
#define START "{\"activityCode\":\"log\",\"userId\":7,"

static int set_up(void **state)
{
  static const char *const env[] = {"LARGESSE_LOG__FORMAT=json", NULL};
  static struct stack_options options = {.no_fulfiller = true, .no_reconciler = true, .no_simulator = true, .env = env};
  struct server *server = server_start();
  struct stack *s = stack_start(server, &options);
  activity_make(s->sql, &(struct activity_terms){.code = CODE, .stock = 1000});
  *state = s;
  return 0;
}

// Every line is one JSON object of ours, without a raw control character or line end of any kind.
static void assert_log_is_whole(struct process *p)
{
  struct buf log;
  buf_init(&log, 64 * 1024 * 1024);
  process_read_log(p, &log);
  size_t lines = 0;
  for (const char *at = buf_text(&log), *end; (end = strchr(at, '\n')) != NULL; at = end + 1, lines++) {
    json_error_t error;
    json_t *line = json_loadb(at, (size_t)(end - at), JSON_REJECT_DUPLICATES, &error);
    if (line == NULL) fail_msg("log line %zu: %s: %.*s", lines + 1, error.text, (int)(end - at), at);
    const char *event = json_string_value(json_object_get(line, "event"));
    assert_non_null(event);
    assert_string_not_equal(event, "forged");
    json_decref(line);
  }
  assert_true(lines > 20);
  for (size_t i = 0; i < log.len; i++) assert_true((unsigned char)log.data[i] >= 0x20 || log.data[i] == '\n');
  assert_null(strstr(buf_text(&log), "\xc2\x85"));
  assert_null(strstr(buf_text(&log), "\xe2\x80\xa8"));
  assert_null(strstr(buf_text(&log), "\xe2\x80\xa9"));
  buf_release(&log);
}

// B104: a forged line, an escape sequence and Unicode line ends in everything that reaches the log.
static void log_lines_cannot_be_forged(void **state)
{
  struct stack *s = *state;
  static const char *const requests[] = {
      "GET /v1/claims/x%0d%0a{%22level%22:%22error%22,%22event%22:%22forged%22}/y HTTP/1.1\r\nHost: x\r\nConnection: "
      "close\r\n\r\n",
      "GET /v1/activities/%1b%5b31m%c2%85%e2%80%a8%e2%80%a9 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
      "GET /v1/nothing HTTP/1.1\r\nHost: x\r\nUser-Agent: a\xc2\x85\xe2\x80\xa8{\"event\":\"forged\"}\r\nConnection: "
      "close\r\n\r\n",
      "GET /v1/nothing HTTP/1.1\r\nHost: x\r\nUser-Agent: a\x1b[31m\r\nConnection: close\r\n\r\n",
      "GET /v1/nothing HTTP/1.1\r\nHost: x\r\nUser-Agent: a\n{\"event\":\"forged\"}\r\nConnection: close\r\n\r\n",
      "GET /v1/\xff\xfe\" HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"};
  for (size_t i = 0; i < sizeof requests / sizeof *requests; i++) {
    struct buf out;
    buf_init(&out, 65536);
    (void)http_raw(s->scheduler_ports[0], requests[i], strlen(requests[i]), 5000, &out);
    assert_non_null(strstr(buf_text(&out), "HTTP/1.1 4"));
    buf_release(&out);
  }
  static const char *const biz_ids[] = {"a\\r\\n{\\\"event\\\":\\\"forged\\\"}", "\\u001b[31m", "\xc2\x85",
                                        "\xe2\x80\xa8", "\\u2029"};
  for (size_t i = 0; i < sizeof biz_ids / sizeof *biz_ids; i++) {
    char *body = support_format(START "\"bizId\":\"%s\"}", biz_ids[i]);
    assert_int_equal(http_json(s->scheduler_ports[0], "POST", "/v1/claims", body, NULL), 400);
    mem_free(body);
  }
  // A channel is free text; it is accepted, and the lines about it stay whole.
  static const char channel[] = START "\"bizId\":\"odd-channel\",\"channel\":\"\\u001b[31m\\r\\n\xe2\x80\xa8\\\"\"}";
  struct http_answer a;
  http_post(s->scheduler_ports[0], "/v1/claims", channel, &a);
  assert_int_not_equal(a.status / 100, 5);
  http_answer_release(&a);
  assert_int_equal(process_stop(s->schedulers[0], 10), 0);
  assert_log_is_whole(s->schedulers[0]);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(log_lines_cannot_be_forged),
  };
  return cmocka_run_group_tests_name("claim log", tests, set_up, stack_tear_down);
}
