// SPDX-License-Identifier: Apache-2.0
// Log lines: one per event whatever the fields hold (B104), bounded, dropped and counted.
// One thread.
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <jansson.h>

#include "common/limits.h"
#include "common/log.h"
#include "common/mem.h"

static const struct log_event_def events[] = {
#define LOG_EVENT(id, level, name) {name, level},
#include "common/log_events.def"
#undef LOG_EVENT
};

// A log that writes to an unlinked file, and what is in it.
struct recorder {
  struct log *log;
  int fd;
};

static struct recorder recorder_new(enum log_level level, enum log_format format)
{
  char path[] = "/tmp/test_log_XXXXXX";
  struct recorder r = {.fd = mkstemp(path)};
  assert_true(r.fd >= 0);
  unlink(path);
  r.log = log_new("tester", events, ARRAY_LEN(events), r.fd);
  log_set(r.log, level, format);
  return r;
}

// Ends the log and returns its whole output; free with mem_free.
static char *recorder_finish(struct recorder *r)
{
  log_free(r->log);
  off_t size = lseek(r->fd, 0, SEEK_END);
  char *text = MEM_ARRAY(char, (size_t)size + 1);
  assert_int_equal(pread(r->fd, text, (size_t)size, 0), size);
  close(r->fd);
  return text;
}

// Behind time, level, daemon and pid.
static const char *from_event(const char *line, const char *event)
{
  const char *at = strstr(line, event);
  assert_non_null(at);
  return at;
}

static size_t count(const char *text, char c)
{
  size_t n = 0;
  for (; *text != '\0'; text++) n += *text == c;
  return n;
}

static void a_text_line_has_time_level_daemon_event_and_fields(void **state)
{
  (void)state;
  struct recorder r = recorder_new(LOG_INFO, LOG_FORMAT_TEXT);
  LOG(r.log, EV_DB_CONNECTED, F_STR("host", "db-1.example:5432"), F_INT("port", -5), F_UINT("id", UINT64_MAX),
      F_SPAN("took", span_us(-1500000)), F_SPAN("wait", span_us(1)), F_BOOL("tls", true), F_STR("left_out", NULL),
      F_STR("empty", ""), F_BYTES("part", "abcdef", 3));
  char *text = recorder_finish(&r);
  assert_int_equal(text[26], 'Z');
  assert_non_null(strstr(text, " info  tester["));
  assert_string_equal(from_event(text, "db.connected"),
                      "db.connected host=db-1.example:5432 port=-5 id=18446744073709551615 took=-1.500000 "
                      "wait=0.000001 tls=true empty=\"\" part=abc\n");
  mem_free(text);
}

static void a_json_line_is_json(void **state)
{
  (void)state;
  struct recorder r = recorder_new(LOG_INFO, LOG_FORMAT_JSON);
  LOG(r.log, EV_DB_CONNECTED, F_STR("host", "a\"b\\\n\x1b"), F_INT("port", INT64_MIN), F_BOOL("tls", false),
      F_SPAN("took", span_ms(2500)));
  char *text = recorder_finish(&r);
  assert_int_equal(count(text, '\n'), 1);
  json_t *json = json_loads(text, 0, NULL);
  assert_non_null(json);
  assert_string_equal(json_string_value(json_object_get(json, "event")), "db.connected");
  assert_string_equal(json_string_value(json_object_get(json, "level")), "info");
  assert_string_equal(json_string_value(json_object_get(json, "host")), "a\"b\\\n\x1b");
  assert_true(json_integer_value(json_object_get(json, "port")) == INT64_MIN);
  assert_true(json_is_false(json_object_get(json, "tls")));
  json_decref(json);
  mem_free(text);
}

static void text_from_outside_cannot_forge_a_line(void **state)
{
  (void)state;
  static const char evil[] =
      "x\r\n2026-01-01T00:00:00.000000Z error tester[1] daemon.failed\xC2\x85\xE2\x80\xA8\xE2\x80\xA9\x1b[31m\0 a=b \"";
  for (int format = LOG_FORMAT_TEXT; format <= LOG_FORMAT_JSON; format++) {
    struct recorder r = recorder_new(LOG_INFO, (enum log_format)format);
    LOG(r.log, EV_HTTP_REQUEST_REFUSED, F_BYTES("biz_id", evil, sizeof(evil) - 1), F_STR("reason", "bad"));
    char *text = recorder_finish(&r);
    assert_int_equal(count(text, '\n'), 1);
    assert_int_equal(count(text, '\r') + count(text, '\x1b'), 0);
    assert_null(strstr(text, "\xC2\x85"));
    assert_null(strstr(text, "\xE2\x80\xA8"));
    assert_non_null(strstr(text, "x\\r\\n2026-01-01"));
    assert_non_null(strstr(text, "\\u0085\\u2028\\u2029\\u001b[31m\\u0000 a=b \\\""));
    mem_free(text);
  }
}

static void what_could_be_mistaken_is_quoted(void **state)
{
  (void)state;
  struct recorder r = recorder_new(LOG_INFO, LOG_FORMAT_TEXT);
  LOG(r.log, EV_DAEMON_UP, F_STR("a", "x y"), F_STR("b", "k=v"), F_STR("c", "\xC3\xA9"), F_STR("d", "\xFF"));
  char *text = recorder_finish(&r);
  assert_string_equal(from_event(text, "daemon.up"),
                      "daemon.up a=\"x y\" b=\"k=v\" c=\"\xC3\xA9\" d=\"\xEF\xBF\xBD\"\n");
  mem_free(text);
}

static void levels_below_the_limit_are_left_out(void **state)
{
  (void)state;
  struct recorder r = recorder_new(LOG_WARN, LOG_FORMAT_TEXT);
  assert_true(log_wants(r.log, EV_DAEMON_FAILED));
  assert_true(log_wants(r.log, EV_DB_CONNECTION_LOST));
  assert_false(log_wants(r.log, EV_DAEMON_UP));
  assert_false(log_wants(r.log, EV_HTTP_REQUEST_SERVED));
  log_write(r.log, EV_DAEMON_UP, (const struct log_field[]){{0}});
  LOG(r.log, EV_DAEMON_FAILED, F_STR("a", "b"));
  char *text = recorder_finish(&r);
  assert_int_equal(count(text, '\n'), 1);
  assert_non_null(strstr(text, "daemon.failed"));
  mem_free(text);
}

static void long_fields_are_cut_between_characters(void **state)
{
  (void)state;
  char *value = MEM_ARRAY(char, LOG_FIELD_BYTES_MAX + 100);
  memset(value, 'a', LOG_FIELD_BYTES_MAX + 99);
  memcpy(value + LOG_FIELD_BYTES_MAX - 1, "\xE4\xB8\xAD", 3);
  struct recorder r = recorder_new(LOG_INFO, LOG_FORMAT_TEXT);
  LOG(r.log, EV_DAEMON_UP, F_STR("v", value));
  char *text = recorder_finish(&r);
  const char *at = from_event(text, "daemon.up v=\"") + strlen("daemon.up v=\"");
  assert_int_equal(strspn(at, "a"), LOG_FIELD_BYTES_MAX - 1);
  assert_string_equal(at + LOG_FIELD_BYTES_MAX - 1, "...\"\n");
  mem_free(text);
  mem_free(value);
}

static void a_line_over_its_maximum_says_so_and_keeps_short_fields(void **state)
{
  (void)state;
  char value[LOG_FIELD_BYTES_MAX + 1];
  memset(value, '\x01', LOG_FIELD_BYTES_MAX);  // six bytes each when escaped
  value[LOG_FIELD_BYTES_MAX] = '\0';
  for (int format = LOG_FORMAT_TEXT; format <= LOG_FORMAT_JSON; format++) {
    struct recorder r = recorder_new(LOG_INFO, (enum log_format)format);
    LOG(r.log, EV_DAEMON_UP, F_STR("one", value), F_STR("two", value), F_INT("three", 3));
    char *text = recorder_finish(&r);
    assert_true(strlen(text) <= LOG_LINE_BYTES_MAX);
    assert_null(strstr(text, "two"));
    assert_non_null(
        strstr(text, format == LOG_FORMAT_TEXT ? " three=3 truncated=true\n" : ",\"three\":3,\"truncated\":true}\n"));
    mem_free(text);
  }
}

static void lines_wait_for_the_flush(void **state)
{
  (void)state;
  struct recorder r = recorder_new(LOG_INFO, LOG_FORMAT_TEXT);
  LOG(r.log, EV_DAEMON_UP, F_INT("n", 1));
  LOG(r.log, EV_DAEMON_UP, F_INT("n", 2));
  assert_int_equal(lseek(r.fd, 0, SEEK_END), 0);
  log_flush(r.log);
  off_t after = lseek(r.fd, 0, SEEK_END);
  assert_true(after > 0);
  log_flush(r.log);
  assert_int_equal(lseek(r.fd, 0, SEEK_END), after);
  char *text = recorder_finish(&r);
  assert_int_equal(count(text, '\n'), 2);
  mem_free(text);
}

static void errno_is_preserved(void **state)
{
  (void)state;
  struct log *log = log_new("tester", events, ARRAY_LEN(events), -1);
  errno = EDOM;
  LOG(log, EV_DAEMON_FAILED, F_STR("a", "b"));
  assert_int_equal(errno, EDOM);
  log_flush(log);
  assert_int_equal(errno, EDOM);
  assert_int_equal(log_dropped(log), 1);
  log_free(log);
  log_free(NULL);
}

static void a_stuck_reader_costs_lines_not_memory(void **state)
{
  (void)state;
  int ends[2];
  assert_int_equal(pipe2(ends, O_NONBLOCK), 0);
  struct log *log = log_new("tester", events, ARRAY_LEN(events), ends[1]);
  char value[1000];
  memset(value, 'v', sizeof(value) - 1);
  value[sizeof(value) - 1] = '\0';
  const uint64_t written = 6000;  // about 6.4 MB, more than the buffer and the pipe hold
  for (uint64_t i = 0; i < written; i++) LOG(log, EV_DAEMON_UP, F_UINT("n", i), F_STR("v", value));
  log_flush(log);
  assert_true(log_dropped(log) > 1000);
  // The reader comes back: every line that was kept arrives whole, in order.
  char *all = MEM_ARRAY(char, 8 * 1024 * 1024);
  size_t len = 0;
  for (;;) {
    ssize_t n = read(ends[0], all + len, 8 * 1024 * 1024 - 1 - len);
    if (n > 0) {
      len += (size_t)n;
      log_flush(log);
      continue;
    }
    break;
  }
  assert_int_equal(count(all, '\n') + log_dropped(log), written);
  unsigned long expected = 0;
  for (const char *line = all; *line != '\0'; line = strchr(line, '\n') + 1, expected++) {
    char needle[64];
    snprintf(needle, sizeof(needle), " daemon.up n=%lu v=vvv", expected);
    const char *end = strchr(line, '\n');
    const char *found = strstr(line, needle);
    assert_true(end != NULL && found != NULL && found < end);
  }
  mem_free(all);
  log_free(log);
  close(ends[0]);
  close(ends[1]);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_text_line_has_time_level_daemon_event_and_fields),
      cmocka_unit_test(a_json_line_is_json),
      cmocka_unit_test(text_from_outside_cannot_forge_a_line),
      cmocka_unit_test(what_could_be_mistaken_is_quoted),
      cmocka_unit_test(levels_below_the_limit_are_left_out),
      cmocka_unit_test(long_fields_are_cut_between_characters),
      cmocka_unit_test(a_line_over_its_maximum_says_so_and_keeps_short_fields),
      cmocka_unit_test(lines_wait_for_the_flush),
      cmocka_unit_test(errno_is_preserved),
      cmocka_unit_test(a_stuck_reader_costs_lines_not_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
