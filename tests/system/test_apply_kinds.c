// SPDX-License-Identifier: Apache-2.0
// `scheduler apply` of all kinds and rules, of local times where clocks change, and of the files that are shipped.
#include "tests/system/apply_calls.h"

// B28: the gap is refused, of two the first is meant unless an offset says otherwise.
static void local_times_that_do_not_exist_are_refused(void **state)
{
  struct fixture *f = *state;
  struct sql *sql = f->stack->sql;
#define BERLIN(dates, times)                                                                                     \
  "event: dst\nname: DST\ntimeZone: Europe/Berlin\nrewards:\n  v: { provider: simulator }\nsessions:\n"          \
  "  - code: dst-{date}-{n}\n    kind: reward\n    reward: v\n    duration: 10m\n    publish: true\n    dates: " \
  "[" dates "]\n    times: [" times "]\n" STOCK("5")
  char *before = contents(f);
  assert_apply(f, BERLIN("2027-03-28", "\"01:30\", \"02:30\", \"03:30\""), NULL, 65,
               ":13: sessions[0].dates: there is no 2027-03-28 02:30:00 in Europe/Berlin (dst-20270328-2)");
  assert_contents(f, before);
  assert_apply(f, BERLIN("2027-10-31", "\"02:30\", \"02:30+02:00\", \"02:30+01:00\""), NULL, 0, "5 created");
  assert_true(
      sql_bool(sql, "select start_at = '2027-10-31 00:30+00' from largesse.activity where code = 'dst-20271031-1'"));
  assert_true(
      sql_bool(sql, "select start_at = '2027-10-31 00:30+00' from largesse.activity where code = 'dst-20271031-2'"));
  assert_true(
      sql_bool(sql, "select start_at = '2027-10-31 01:30+00' from largesse.activity where code = 'dst-20271031-3'"));
  assert_apply(f, BERLIN("2027-10-30", "\"02:30+01:00\""), NULL, 65,
               "there is no 2027-10-30 02:30:00+01:00 in Europe/Berlin");
#undef BERLIN
  // In Santiago both happen at midnight: 3 April has its last hour twice, 5 September has no first one.
#define SANTIAGO(dates, times)                                                                                   \
  "event: sur\nname: Sur\ntimeZone: America/Santiago\nrewards:\n  v: { provider: simulator }\nsessions:\n"       \
  "  - code: sur-{date}-{n}\n    kind: reward\n    reward: v\n    duration: 10m\n    publish: true\n    dates: " \
  "[" dates "]\n    times: [" times "]\n" STOCK("5")
  assert_apply(f, SANTIAGO("2027-09-05", "\"00:30\""), NULL, 65,
               ":13: sessions[0].dates: there is no 2027-09-05 00:30:00 in America/Santiago (sur-20270905-1)");
  assert_apply(f, SANTIAGO("2027-04-03", "\"23:30\", \"23:30-04:00\""), NULL, 0, "3 created");
  assert_true(sql_bool(sql,
                       "select array_agg(start_at order by code) = '{2027-04-04 02:30+00, 2027-04-04 03:30+00}' "
                       "from largesse.activity where event_code = 'sur'"));
#undef SANTIAGO
}

// Every kind with its rules: twice changes nothing, a plan names what differs, a fault takes everything back.
static void all_kinds_and_rules_are_applied(void **state)
{
  struct fixture *f = *state;
  struct sql *sql = f->stack->sql;
#define ALL(level, wait, last, threshold)                                                                              \
  "event: all\nname: All\ntimeZone: Asia/Shanghai\nrewards:\n  v: { provider: simulator }\n"                           \
  "discountRules:\n  off: { name: Off, threshold: " threshold                                                          \
  ", discount: { amount: 100 }, maxPerOrder: 2, exclusiveGroup: mall, priority: 1, rewardCode: v }\nsessions:\n"       \
  "  - { code: all-reward, kind: reward, reward: v, dates: [2030-10-01], times: [\"11:00\"], duration: 1h, publish: "  \
  "true, stock: { total: 9, segments: 2 }, limits: [{ count: 2, period: event }], eligibility: \"" level               \
  "\", exclusiveGroup: mall, channels: [APP, no], rateLimit: { total: { rate: 5, burst: 9 } } }\n"                     \
  "  - { code: all-places, kind: registration, dates: [2030-10-01], times: [\"11:00\"], duration: 1h, publish: true, " \
  "stock: { total: 2 }, waitingList: { max: " wait                                                                     \
  ", acceptWithin: 90s } }\n"                                                                                          \
  "  - { code: all-numbers, kind: number, dates: [2030-10-01], times: [\"11:00\"], duration: 1h, publish: true, "      \
  "numbers: { from: 1, to: " last                                                                                      \
  " }, holdFor: 10m }\n"                                                                                               \
  "  - { code: all-points, kind: exchange, reward: v, pointsCost: 299, dates: [2030-10-01], times: [\"11:00\"], "      \
  "duration: 1h, publish: true, stock: { total: unlimited } }\n"
#define FIRST ALL("$.user.level >= 5", "5", "100", "5000")
  assert_apply(f, FIRST, NULL, 0, ": 7 created, 0 updated, 0 unchanged, 4 published");
  assert_int_equal(sql_int(sql,
                           "select remaining from largesse.stock s join largesse.activity a on a.id = "
                           "s.activity_id where a.code = 'all-numbers'"),
                   100);
  char *before = contents(f);
  assert_apply(f, FIRST, NULL, 0, ": 0 created, 0 updated, 7 unchanged, 0 published");
  assert_contents(f, before);
  before = contents(f);
  static const char second[] = ALL("$.user.level >= 6", "6", "120", "6000");
  assert_apply(f, second, "--plan", 0, "all-reward                                updated  eligibility\n");
  assert_apply(f, second, "--plan", 0, "all-places                                updated  waitingList\n");
  assert_apply(f, second, "--plan", 0, "all-numbers                               updated  (20 numbers added)\n");
  assert_apply(f, second, "--plan", 0, "off                                       updated\n");
  assert_contents(f, before);
  assert_apply(f, second, NULL, 0, ": 0 created, 4 updated, 3 unchanged");
  before = contents(f);
  assert_apply(f, second, NULL, 0, "7 unchanged");
  assert_apply(f, ALL("$.user.level", "7", "120", "6000"), NULL, 65,
               ":9: sessions[0].eligibility: must be a predicate, such as $.user.level >= 5");
  assert_apply(f, ALL("$.user.level >", "7", "120", "6000"), NULL, 65,
               ":9: sessions[0].eligibility: is no jsonpath: syntax error");
  assert_contents(f, before);
#undef FIRST
#undef ALL
}

// Twice, so that they are also complete: what the database keeps is what they say.
static void the_shipped_files_can_be_applied(void **state)
{
  struct fixture *f = *state;
  static const char *const files[] = {"coupons", "registration", "numbers", "exchange", "festival"};
  struct buf out;
  buf_init(&out, 1 << 20);
  for (size_t i = 0; i < 2 * ARRAY_LEN(files); i++) {
    char *root = support_root(), *path = support_format("%s/config/events/%s.yaml", root, files[i / 2]);
    buf_clear(&out);
    int status = stack_command(f->stack, "scheduler", (const char *[]){"apply", path, NULL}, &out);
    bool is_as_expected = strstr(buf_text(&out), i % 2 == 0 ? " 0 unchanged, " : ": 0 created, 0 updated, ") != NULL;
    if (status != 0 || !is_as_expected) fail_msg("%s: %d\n%s", path, status, buf_text(&out));
    mem_free(path);
    mem_free(root);
  }
  assert_int_equal(sql_int(f->stack->sql, "select count(*) from largesse.activity_number"), 10000);
  buf_release(&out);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
  const struct CMUnitTest tests[] = {
      TEST(local_times_that_do_not_exist_are_refused),
      TEST(all_kinds_and_rules_are_applied),
      TEST(the_shipped_files_can_be_applied),
  };
  return cmocka_run_group_tests(tests, start, stop);
}
