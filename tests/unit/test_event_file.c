// SPDX-License-Identifier: Apache-2.0
// Event files: how they expand, and each fault with file, line and path (B28, B90, B92).
// One thread.
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/text.h"
#include "scheduler/activity_doc.h"
#include "scheduler/claim_id.h"
#include "scheduler/event_file.h"

// Line 1 to 3, then the given lines.
#define HEAD     "event: e\nname: Event\ntimeZone: Europe/Berlin\n"
#define SESSIONS HEAD "sessions:\n  - code: s-{date}-{time}\n    kind: reward\n    reward: r\n"  /* lines 4 to 7 */
#define DATED    SESSIONS "    dates: [2027-03-27]\n    times: [\"11:00\"]\n    duration: 30m\n" /* lines 8 to 10 */
#define WHOLE    DATED "    stock: { total: 5 }\n"                                               /* line 11 */

static struct event_file *parse(const char *yaml)
{
  struct event_file *event = NULL;
  struct conf_fault fault = {.text = ""};
  if (event_file_parse("e.yaml", yaml, strlen(yaml), &event, &fault) != RESULT_OK) fail_msg("%s\n%s", fault.text, yaml);
  return event;
}

static void assert_fault(const char *yaml, const char *expected)
{
  struct event_file untouched, *event = &untouched;
  struct conf_fault fault = {.text = ""};
  assert_int_equal(event_file_parse("e.yaml", yaml, strlen(yaml), &event, &fault), RESULT_INVALID);
  assert_string_equal(fault.text, expected);
  assert_ptr_equal(event, &untouched);
}

static const json_t *member(const struct event_session *s, const char *pointer)
{
  return jsonx_pointer(s->doc, pointer);
}

static void dates_and_times_become_sessions(void **state)
{
  (void)state;
  struct event_file *event = parse(
      HEAD
      "rewards:\n  r: { provider: simulator, amount: { amount: 100, currency: EUR }, params: { account: 007, n: 7, on: "
      "no } }\n"
      "sessions:\n  - code: s-{date}-{time}-{n}\n    kind: reward\n    name: Early\n    reward: r\n    dates: "
      "[2027-10-31, 2028-02-29]\n"
      "    times: [11:00, \"02:30+02:00\", 23:59:59]\n    duration: 90m\n    stock: { total: unlimited }\n    limits: "
      "[]\n    publish: true\n"
      "    attributes: { region: no, code: on, name: null, version: 1.10, count: 3, open: true, quoted: \"3\" }\n");
  static const struct {
    const char *code, *local, *offset;
  } expected[] = {
      {"s-20271031-1100-1", "2027-10-31 11:00:00", ""},       {"s-20271031-0230-2", "2027-10-31 02:30:00", "+02:00"},
      {"s-20271031-235959-3", "2027-10-31 23:59:59", ""},     {"s-20280229-1100-4", "2028-02-29 11:00:00", ""},
      {"s-20280229-0230-5", "2028-02-29 02:30:00", "+02:00"}, {"s-20280229-235959-6", "2028-02-29 23:59:59", ""},
  };
  assert_int_equal(event->session_count, ARRAY_LEN(expected));
  for (size_t i = 0; i < ARRAY_LEN(expected); i++) {
    assert_string_equal(event->sessions[i].code, expected[i].code);
    assert_string_equal(event->sessions[i].local, expected[i].local);
    assert_string_equal(event->sessions[i].offset, expected[i].offset);
    assert_int_equal(event->sessions[i].duration.us, INT64_C(5400000000));
    assert_true(event->sessions[i].publish);
  }
  const struct event_session *s = &event->sessions[0];
  assert_string_equal(json_string_value(member(s, "/code")), "s-20271031-1100-1");
  assert_string_equal(json_string_value(member(s, "/name")), "Early");
  assert_string_equal(json_string_value(member(s, "/eventCode")), "e");
  assert_string_equal(json_string_value(member(s, "/timeZone")), "Europe/Berlin");
  assert_string_equal(json_string_value(member(s, "/rewardCode")), "r");
  assert_true(json_is_null(member(s, "/stock/total")));
  assert_int_equal(json_array_size(member(s, "/limits")), 0);
  assert_string_equal(json_string_value(member(s, "/attributes/region")), "no");
  assert_string_equal(json_string_value(member(s, "/attributes/code")), "on");
  assert_string_equal(json_string_value(member(s, "/attributes/name")), "null");
  assert_string_equal(json_string_value(member(s, "/attributes/version")), "1.10");
  assert_string_equal(json_string_value(member(s, "/attributes/quoted")), "3");
  assert_int_equal(json_integer_value(member(s, "/attributes/count")), 3);
  assert_true(json_is_true(member(s, "/attributes/open")));
  assert_int_equal(event->reward_count, 1);
  assert_string_equal(event->rewards[0].code, "r");
  assert_string_equal(json_string_value(jsonx_pointer(event->rewards[0].body, "/params/account")), "007");
  assert_string_equal(json_string_value(jsonx_pointer(event->rewards[0].body, "/params/on")), "no");
  event_file_free(event);
}

static void the_name_of_the_event_is_the_default_and_limits_may_be_left_out(void **state)
{
  (void)state;
  struct event_file *event = parse(WHOLE);
  assert_string_equal(json_string_value(member(&event->sessions[0], "/name")), "Event");
  assert_int_equal(json_integer_value(member(&event->sessions[0], "/stock/total")), 5);
  assert_null(member(&event->sessions[0], "/limits"));
  assert_false(event->sessions[0].publish);
  event_file_free(event);
}

// B90: what is text stays text; what is a number, a truth or a duration has to be one.
static void rules_of_all_kinds_are_read(void **state)
{
  (void)state;
  struct event_file *event = parse(
      HEAD
      "discountRules:\n"
      "  off: { name: no, threshold: 5000, discount: { amount: 100 }, maxPerOrder: 2, exclusiveGroup: 1.10, "
      "priority: 1, rewardCode: r, currency: CNY }\n"
      "sessions:\n"
      "  - { code: a, kind: reward, reward: r, dates: [2027-03-27], times: [11:00], duration: 1m, stock: { total: "
      "9, segments: 3 }, limits: [{ count: 2, period: event }], needsQualification: true, eligibility: \"$.user.a "
      "> 1\", channels: [APP, no, 1.10, 7, null], exclusiveGroup: on, onRefused: review, intake: queued, "
      "rateLimit: { perUser: { rate: 1, burst: 3 } } }\n"
      "  - { code: b, kind: registration, dates: [2027-03-27], times: [11:00], duration: 1m, stock: { total: 9 }, "
      "signUpAgain: false, waitingList: { max: 5, acceptWithin: 90s } }\n"
      "  - { code: c, kind: number, dates: [2027-03-27], times: [11:00], duration: 1m, price: { amount: 200, "
      "currency: CNY }, paymentProvider: 007, holdFor: 10m, latePayment: refund, numbers: { from: 1, to: 100 } }\n"
      "  - { code: d, kind: exchange, reward: r, pointsCost: 299, dates: [2027-03-27], times: [11:00], duration: "
      "1m, stock: { total: unlimited } }\n");
  static const struct {
    size_t session;
    const char *pointer, *json;
  } expected[] = {
      {0, "/stock", "{\"total\":9,\"segments\":3}"},
      {0, "/limits", "[{\"count\":2,\"period\":\"event\"}]"},
      {0, "/needsQualification", "true"},
      {0, "/eligibility", "\"$.user.a > 1\""},
      {0, "/channels", "[\"APP\",\"no\",\"1.10\",\"7\",\"null\"]"},
      {0, "/exclusiveGroup", "\"on\""},
      {0, "/onRefused", "\"review\""},
      {0, "/intake", "\"queued\""},
      {0, "/rateLimit", "{\"perUser\":{\"rate\":1,\"burst\":3}}"},
      {1, "/signUpAgain", "false"},
      {1, "/waitingList", "{\"max\":5,\"acceptWithin\":\"90s\"}"},
      {2, "/price", "{\"amount\":200,\"currency\":\"CNY\"}"},
      {2, "/paymentProvider", "\"007\""},
      {2, "/holdFor", "\"10m\""},
      {2, "/latePayment", "\"refund\""},
      {3, "/pointsCost", "299"},
      {3, "/stock", "{\"total\":null}"},
  };
  for (size_t i = 0; i < ARRAY_LEN(expected); i++) {
    json_t *wanted = json_loads(expected[i].json, JSON_DECODE_ANY, NULL);
    const json_t *got = member(&event->sessions[expected[i].session], expected[i].pointer);
    if (got == NULL || !json_equal(got, wanted)) fail_msg("%s is not %s", expected[i].pointer, expected[i].json);
    json_decref(wanted);
  }
  assert_true(event->sessions[2].numbers.is_given);
  assert_int_equal(event->sessions[2].numbers.from, 1);
  assert_int_equal(event->sessions[2].numbers.to, 100);
  assert_false(event->sessions[3].numbers.is_given);
  assert_int_equal(event->discount_count, 1);
  assert_string_equal(event->discounts[0].id, "off");
  assert_string_equal(json_string_value(json_object_get(event->discounts[0].doc, "name")), "no");
  assert_string_equal(json_string_value(json_object_get(event->discounts[0].doc, "exclusiveGroup")), "1.10");
  event_file_free(event);
}

static void rules_are_refused_with_line_and_path(void **state)
{
  (void)state;
#define NUMBER \
  HEAD "sessions:\n  - code: n\n    kind: number\n    dates: [2027-03-27]\n    times: [11:00]\n    duration: 30m\n"
  assert_fault(WHOLE "    needsQualification: maybe\n",
               "e.yaml:12: sessions[0].needsQualification: must be true or false");
  assert_fault(WHOLE "    needsQualification: no\n",
               "e.yaml:12: sessions[0].needsQualification: must be true or false");
  assert_fault(WHOLE "    pointsCost: 5\n", "e.yaml:12: sessions[0].pointsCost: goes with kind exchange only");
  assert_fault(WHOLE "    channels: []\n", "e.yaml:12: sessions[0].channels: must name 1 to 64 channels");
  assert_fault(WHOLE "    channels:\n      - APP\n      - APP\n", "e.yaml:14: sessions[0].channels[1]: is named twice");
  assert_fault(WHOLE "    channels: APP\n", "e.yaml:12: sessions[0].channels: must be a list");
  assert_fault(WHOLE "    rateLimit:\n      perUser:\n        rate: 0\n        burst: 1\n",
               "e.yaml:14: sessions[0].rateLimit.perUser.rate: must be an integer from 1 to 1000000");
  assert_fault(WHOLE "    rateLimit:\n      everybody: {}\n",
               "e.yaml:13: sessions[0].rateLimit.everybody: is not known here");
  assert_fault(WHOLE "    numbers: { from: 1, to: 2 }\n", "e.yaml:12: sessions[0].numbers: goes with kind number only");
  assert_fault(NUMBER "    numbers: { from: 1 }\n", "e.yaml:10: sessions[0].numbers.to: is missing");
  assert_fault(NUMBER "    numbers: { from: 2, to: 1 }\n",
               "e.yaml:10: sessions[0].numbers: must be 1 to 1000000 numbers");
  assert_fault(NUMBER "    numbers: { from: 1, to: 1000001 }\n",
               "e.yaml:10: sessions[0].numbers: must be 1 to 1000000 numbers");
  assert_fault(NUMBER "    numbers:\n      from: 01\n      to: 5\n",
               "e.yaml:11: sessions[0].numbers.from: must be an integer from 0 to 999999999999");
  assert_fault(NUMBER "    numbers: { from: 1, to: 5, step: 2 }\n", "e.yaml:10: sessions[0].numbers.step: unknown key");
  assert_fault(NUMBER "    holdFor: 10\n",
               "e.yaml:10: sessions[0].holdFor: must be a duration with its unit, such as \"15m\"");
  assert_fault(NUMBER "    price: { amount: 1.5, currency: CNY }\n",
               "e.yaml:10: sessions[0].price.amount: must be an integer of at least 1");
  assert_fault(HEAD "discountRules: []\nsessions: []\n", "e.yaml:4: discountRules: must be key: value lines");
  assert_fault(HEAD "discountRules:\n  off: 5\n", "e.yaml:5: discountRules.off: must be key: value lines");
  assert_fault(HEAD "discountRules:\n  off:\n    name: x\n    threshold: five\n",
               "e.yaml:7: discountRules.off: threshold: must be an integer of at least 0");
#undef NUMBER
}

static void demonstrations_start_soon(void **state)
{
  (void)state;
  struct event_file *event = parse(HEAD
                                   "sessions:\n  - code: d-{n}\n    kind: reward\n    reward: r\n    start: +5s\n    "
                                   "every: 8s\n    count: 3\n    duration: 30s\n"
                                   "    stock: { total: 5 }\n  - code: l-{date}-{time}\n    kind: reward\n    reward: "
                                   "r\n    start: +250ms\n    duration: 1s\n"
                                   "    stock: { total: 5 }\n");
  assert_int_equal(event->session_count, 4);
  for (size_t i = 0; i < 3; i++) {
    char code[8];
    (void)snprintf(code, sizeof code, "d-%zu", i + 1);
    assert_true(event_session_is_demonstration(&event->sessions[i]));
    assert_string_equal(event->sessions[i].code, code);
    assert_int_equal(event->sessions[i].after.us, 5000000 + (int64_t)i * 8000000);
  }
  struct event_session *late = &event->sessions[3];
  struct conf_fault fault = {.text = ""};
  assert_string_equal(late->code, "");
  assert_int_equal(late->after.us, 250000);
  assert_int_equal(event_session_name(event, late, "20261001", "110005", &fault), RESULT_OK);
  assert_string_equal(late->code, "l-20261001-110005");
  assert_string_equal(json_string_value(member(late, "/code")), "l-20261001-110005");
  event_file_free(event);
}

static void yaml_that_surprises_is_refused_with_its_line(void **state)
{
  (void)state;
  assert_fault(HEAD "event: f\n", "e.yaml:4: key event is repeated (first on line 1)");
  assert_fault(HEAD "sessions:\n\t- code: x\n", "e.yaml:5: a tab is used as indentation; use spaces");
  assert_fault(HEAD "sessions: &a\n  - code: x\n", "e.yaml:4: anchors are not allowed");
  assert_fault(HEAD "sessions: *a\n", "e.yaml:4: aliases are not allowed");
  assert_fault(HEAD "session: []\n", "e.yaml:4: session: unknown key");
  assert_fault("- 1\n", "e.yaml:1: must be key: value lines");
  assert_fault("", "e.yaml:1: event: is missing");
  assert_fault(HEAD, "e.yaml:1: sessions: is missing");
  assert_fault(HEAD "sessions: []\n", "e.yaml:4: sessions: there is none");
  assert_fault(HEAD "sessions: {}\n", "e.yaml:4: sessions: must be a list");
  assert_fault(HEAD "sessions: [x]\n", "e.yaml:4: sessions[0]: must be key: value lines");
  assert_fault("event: e\nname: [x]\n", "e.yaml:2: name: must be a single value");
  assert_fault("event: e\nname:\n", "e.yaml:2: name: has no value");
  assert_fault("event: e\nname: \"\"\n", "e.yaml:2: name: must have 1 to 128 characters");
  assert_fault("event: a b\n",
               "e.yaml:1: event: must be 1 to 64 characters of A-Z a-z 0-9 . _ - that begin with a letter or digit");
}

static void values_are_typed_exactly(void **state)
{
  (void)state;
  static const char TOTAL[] = "e.yaml:11: sessions[0].stock.total: must be an integer from 0 to 1000000000000";
  assert_fault(DATED "    stock: { total: \"010\" }\n", TOTAL);
  assert_fault(DATED "    stock: { total: 010 }\n", TOTAL);
  assert_fault(DATED "    stock: { total: 0x10 }\n", TOTAL);
  assert_fault(DATED "    stock: { total: \"10\" }\n", TOTAL);
  assert_fault(DATED "    stock: { total: 1.0 }\n", TOTAL);
  assert_fault(DATED "    stock: { total: -1 }\n", TOTAL);
  assert_fault(DATED "    stock: { total: yes }\n", TOTAL);
  assert_fault(DATED "    stock: { total: }\n", TOTAL);
  assert_fault(DATED "    stock: 5\n", "e.yaml:11: sessions[0].stock: must be an object");
  assert_fault(DATED "    stock:\n      total: 5\n      extra: 1\n",
               "e.yaml:13: sessions[0].stock.extra: is not known here");
  assert_fault(WHOLE "    publish: yes\n", "e.yaml:12: sessions[0].publish: must be true or false");
  assert_fault(WHOLE "    publish: \"true\"\n", "e.yaml:12: sessions[0].publish: must be true or false");
  assert_fault(WHOLE "    limits:\n      - { count: 1, period: total }\n      - { count: one, period: day }\n",
               "e.yaml:14: sessions[0].limits[1].count: must be an integer from 1 to 2147483647");
  assert_fault(WHOLE "    limit: 1\n", "e.yaml:12: sessions[0].limit: unknown key");
  assert_fault(DATED, "e.yaml:5: sessions[0].stock: is missing");
  assert_fault(HEAD "rewards:\n  r: { provider: p, amount: { amount: 1.5, currency: CNY } }\nsessions: []\n",
               "e.yaml:5: rewards.r: amount.amount: must be an integer of at least 0");
  assert_fault(HEAD "rewards:\n  a b: { provider: p }\nsessions: []\n",
               "e.yaml:5: rewards.a b: code: is no valid code");
  assert_fault(HEAD "rewards:\n  r: p\n", "e.yaml:5: rewards.r: must be key: value lines");
}

static void dates_and_times_must_exist(void **state)
{
  (void)state;
  static const char DATES[] = "e.yaml:8: sessions[0].dates: must be existing dates such as 2026-10-01";
  static const char TIMES[] =
      "e.yaml:9: sessions[0].times: must be times such as \"11:00\", or \"02:30+02:00\" where a local time repeats";
  static const char *const dates[] = {"2027-02-29",    "2027-13-01", "2027-1-1", "20270101",
                                      "2027-01-01T00", "2027-01-32", "tomorrow"};
  static const char *const times[] = {"24:00",   "11",          "11:60",  "1:00", "11:00:60",
                                      "11:00+8", "11:00+25:00", "11:00 ", "noon", "660"};
  char yaml[1024];
  for (size_t i = 0; i < ARRAY_LEN(dates); i++) {
    (void)snprintf(yaml, sizeof yaml,
                   SESSIONS "    dates: [\"%s\"]\n    times: [\"11:00\"]\n    duration: 1m\n    stock: { total: 1 }\n",
                   dates[i]);
    assert_fault(yaml, DATES);
  }
  for (size_t i = 0; i < ARRAY_LEN(times); i++) {
    (void)snprintf(yaml, sizeof yaml,
                   SESSIONS "    dates: [2027-01-01]\n    times: [\"%s\"]\n    duration: 1m\n    stock: { total: 1 }\n",
                   times[i]);
    assert_fault(yaml, TIMES);
  }
  assert_fault(SESSIONS "    dates: []\n    times: [\"11:00\"]\n    duration: 1m\n",
               "e.yaml:8: sessions[0].dates: is empty");
  assert_fault(SESSIONS "    dates: [[1]]\n    times: [\"11:00\"]\n    duration: 1m\n",
               "e.yaml:8: sessions[0].dates: must be a list of single values");
  assert_fault(SESSIONS "    times: [\"11:00\"]\n    duration: 1m\n", "e.yaml:5: sessions[0].dates: is missing");
  assert_fault(SESSIONS "    duration: 30\n",
               "e.yaml:8: sessions[0].duration: must be a duration with its unit, such as 30m");
  assert_fault(SESSIONS "    duration: 0s\n",
               "e.yaml:8: sessions[0].duration: must be more than 0 and at most 366 days");
  assert_fault(SESSIONS "    duration: 367d\n",
               "e.yaml:8: sessions[0].duration: must be more than 0 and at most 366 days");
}

static void demonstrations_are_complete_or_refused(void **state)
{
  (void)state;
#define DEMO SESSIONS "    duration: 30s\n" /* line 8 */
  assert_fault(DEMO "    start: 5s\n", "e.yaml:9: sessions[0].start: must be a + and a duration, such as +5s");
  assert_fault(DEMO "    start: +5\n", "e.yaml:9: sessions[0].start: must be a + and a duration, such as +5s");
  assert_fault(DEMO "    start: +5s\n    dates: [2027-01-01]\n", "e.yaml:10: sessions[0].dates: goes without start");
  assert_fault(DEMO "    start: +5s\n    count: 2\n", "e.yaml:10: sessions[0].count: needs every");
  assert_fault(DEMO "    start: +5s\n    every: 1s\n    count: 0\n",
               "e.yaml:11: sessions[0].count: must be an integer from 1 to 5000");
  assert_fault(DEMO "    start: +5s\n    every: 1s\n    count: 010\n",
               "e.yaml:11: sessions[0].count: must be an integer from 1 to 5000");
  assert_fault(DEMO "    every: 1s\n", "e.yaml:9: sessions[0].every: goes with start only");
#undef DEMO
}

static void codes_must_be_codes_and_differ(void **state)
{
  (void)state;
  static const char RULE[] =
      "e.yaml:5: sessions[0].code: must give 1 to 64 characters of A-Z a-z 0-9 . _ - that begin with a letter or "
      "digit; it may hold {date}, {time} and {n}";
#define CODED(code, times)                                                               \
  HEAD "sessions:\n  - code: \"" code                                                    \
       "\"\n    kind: reward\n    reward: r\n    dates: [2027-01-01]\n    times: " times \
       "\n    duration: 1m\n    stock: { total: 1 }\n"
  assert_fault(CODED("s-{day}", "[\"11:00\"]"), RULE);
  assert_fault(CODED("-s", "[\"11:00\"]"), RULE);
  assert_fault(CODED("<b>", "[\"11:00\"]"), RULE);
  assert_fault(CODED("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa-{date}", "[\"11:00\"]"), RULE);
  assert_fault(CODED("s-{date}", "[\"11:00\", \"12:00\"]"),
               "e.yaml:9: sessions[0].code: two sessions have the code s-20270101; use {date}, {time} or {n} in it");
  assert_fault(CODED("s-{time}", "[\"02:30+02:00\", \"02:30+01:00\"]"),
               "e.yaml:9: sessions[0].code: two sessions have the code s-0230; use {date}, {time} or {n} in it");
#undef CODED
}

static void faults_of_the_database_find_their_line(void **state)
{
  (void)state;
  struct event_file *event = parse(WHOLE);
  static const char *const cases[][2] = {
      {"rewardCode: there is no such reward", "e.yaml:7: sessions[0].reward: there is no such reward"},
      {"startAt: cannot change once the session runs",
       "e.yaml:9: sessions[0].dates: cannot change once the session runs"},
      {"endAt: must be after startAt", "e.yaml:10: sessions[0].duration: must be after startAt"},
      {"stock.total: only 3 units are free", "e.yaml:11: sessions[0].stock.total: only 3 units are free"},
      {"timeZone: cannot change after publishing", "e.yaml:3: timeZone: cannot change after publishing"},
      {"kind: cannot change after publishing", "e.yaml:6: sessions[0].kind: cannot change after publishing"},
      {"limits: a period is named twice", "e.yaml:5: sessions[0].limits: a period is named twice"},
  };
  for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
    struct conf_fault fault = {.text = ""};
    event_session_fault(event, &event->sessions[0], cases[i][0], &fault);
    assert_string_equal(fault.text, cases[i][1]);
  }
  event_file_free(event);
}

static void too_many_sessions_are_refused(void **state)
{
  (void)state;
  struct buf yaml;
  buf_init(&yaml, 1 << 20);
  buf_puts(&yaml, HEAD
           "sessions:\n  - code: s-{n}\n    kind: reward\n    reward: r\n    duration: 1m\n    stock: { total: 1 }\n   "
           " dates: [");
  for (int i = 0; i < 100; i++) buf_printf(&yaml, "2027-%02d-%02d, ", 1 + i / 25, 1 + i % 25);
  buf_puts(&yaml, "]\n    times: [");
  for (int i = 0; i < 51; i++) buf_printf(&yaml, "\"11:%02d\", ", i);
  buf_puts(&yaml, "]\n");
  assert_fault(buf_text(&yaml), "e.yaml:5: sessions[0]: more than 5000 sessions in one file");
  buf_release(&yaml);
}

static void claim_ids_have_two_parts(void **state)
{
  (void)state;
  struct claim_id id = {-1, -1};
  static const struct {
    const char *text;
    enum result result;
  } bad[] = {
      {"2147483648", RESULT_NOT_FOUND},
      {"9223372036854775807", RESULT_NOT_FOUND},
      {"9223372036854775808", RESULT_INVALID},
      {"", RESULT_INVALID},
      {"a-1", RESULT_INVALID},
      {"1-", RESULT_INVALID},
      {"-1", RESULT_INVALID},
      {"1--1", RESULT_INVALID},
      {"01-1", RESULT_INVALID},
      {"1-1 ", RESULT_INVALID},
  };
  for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
    assert_int_equal(claim_id_parse(bad[i].text, &id), bad[i].result);
    assert_int_equal(id.activity_id, -1);
  }
  assert_int_equal(claim_id_parse("683000001-17", &id), RESULT_OK);
  assert_int_equal(id.activity_id, 683000001);
  assert_int_equal(id.number, 17);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(dates_and_times_become_sessions),
      cmocka_unit_test(the_name_of_the_event_is_the_default_and_limits_may_be_left_out),
      cmocka_unit_test(rules_of_all_kinds_are_read),
      cmocka_unit_test(rules_are_refused_with_line_and_path),
      cmocka_unit_test(demonstrations_start_soon),
      cmocka_unit_test(yaml_that_surprises_is_refused_with_its_line),
      cmocka_unit_test(values_are_typed_exactly),
      cmocka_unit_test(dates_and_times_must_exist),
      cmocka_unit_test(demonstrations_are_complete_or_refused),
      cmocka_unit_test(codes_must_be_codes_and_differ),
      cmocka_unit_test(faults_of_the_database_find_their_line),
      cmocka_unit_test(too_many_sessions_are_refused),
      cmocka_unit_test(claim_ids_have_two_parts),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
