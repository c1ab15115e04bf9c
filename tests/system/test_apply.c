// SPDX-License-Identifier: Apache-2.0
// `scheduler apply` on a real database: twice changes nothing, plans, adjustments, what a running session refuses, all
// or nothing.
#include "tests/system/apply_calls.h"

static void twice_changes_nothing(void **state)
{
  struct fixture *f = *state;
  struct sql *sql = f->stack->sql;
  assert_apply(f, HEAD ITEM WHEN STOCK("5"), NULL, 0, ": 6 created, 0 updated, 0 unchanged, 4 published, 0 left alone");
  assert_int_equal(
      sql_int(sql, "select count(*) from largesse.activity where status = 'published' and event_code = 'fest'"), 4);
  // 11:00 in Shanghai is 03:00 UTC; an item without limits means one in total.
  assert_true(sql_bool(sql,
                       "select start_at = '2030-10-01 03:00+00' and end_at = '2030-10-01 03:30+00' from "
                       "largesse.activity where code = 'fest-20301001-1100'"));
  assert_int_equal(
      sql_int(sql, "select count(*) from largesse.activity_limit where period = 'total' and max_count = 1"), 4);
  assert_int_equal(sql_int(sql, "select count(*) from largesse.stock where remaining = 5"), 4);
  assert_int_equal(
      sql_int(sql,
              "select count(*) from largesse.activity_history where to_status = 'published' and actor like 'cli:%%'"),
      4);
  char *before = contents(f);
  assert_apply(f, HEAD ITEM WHEN STOCK("5"), NULL, 0, ": 0 created, 0 updated, 6 unchanged, 0 published, 0 left alone");
  assert_contents(f, before);
}

static void a_plan_says_what_would_happen_and_changes_nothing(void **state)
{
  struct fixture *f = *state;
  char *before = contents(f);
  assert_apply(f, HEAD ITEM WHEN STOCK("5"), "--plan", 0,
               ": plan, nothing was changed: 6 created, 0 updated, 0 unchanged, 4 published");
  assert_contents(f, before);
  assert_apply(f, HEAD ITEM WHEN STOCK("5"), NULL, 0, "6 created");
  before = contents(f);
  assert_apply(f, HEAD ITEM WHEN STOCK("8"), "--plan", 0,
               "fest-20301001-1100                        updated  stock.total (adjustment by +3: 5 -> 8)");
  assert_contents(f, before);
  // The plan refuses what the real thing would refuse.
  assert_apply(f, HEAD ITEM WHEN STOCK("5") "    limits: [{ count: 1, period: day }, { count: 2, period: day }]\n",
               "--plan", 65, "limits: a period is named twice");
  before = contents(f);
  assert_contents(f, before);
}

static void a_changed_total_is_an_adjustment(void **state)
{
  struct fixture *f = *state;
  struct sql *sql = f->stack->sql;
  assert_apply(f, HEAD ITEM WHEN STOCK("5"), NULL, 0, "6 created");
  sql_exec(sql, "update largesse.stock set remaining = 1, taken = 4");
  assert_apply(f, HEAD ITEM WHEN STOCK("8"), NULL, 0, "(adjustment by +3: 5 -> 8)");
  assert_int_equal(sql_int(sql, "select count(*) from largesse.stock where remaining = 4 and taken = 4"), 4);
  assert_int_equal(sql_int(sql, "select count(*) from largesse.stock_adjustment where by = 3 and actor like 'cli:%%'"),
                   4);
  // Only free units can be taken away again.
  assert_apply(f, HEAD ITEM WHEN STOCK("4"), NULL, 0, "(adjustment by -4: 8 -> 4)");
  char *before = contents(f);
  assert_apply(f, HEAD ITEM WHEN STOCK("3"), NULL, 65,
               ":14: sessions[0].stock.total: only 0 units are free (fest-20301001-1100)");
  assert_contents(f, before);
  before = contents(f);
  assert_apply(f, HEAD ITEM WHEN STOCK("4"), NULL, 0, "6 unchanged");
  assert_contents(f, before);
}

static void a_removed_session_is_left_alone(void **state)
{
  struct fixture *f = *state;
  assert_apply(f, HEAD ITEM WHEN STOCK("5"), NULL, 0, "6 created");
  char *before = contents(f);
  assert_apply(f, HEAD ITEM "    dates: [2030-10-01]\n    times: [\"11:00\", \"14:00\"]\n" STOCK("5"), NULL, 0,
               "fest-20301002-1100                        left alone: published, not in the file");
  assert_contents(f, before);
}

static void what_a_running_session_may_not_change_is_refused(void **state)
{
  struct fixture *f = *state;
  struct sql *sql = f->stack->sql;
  assert_apply(f, HEAD ITEM WHEN STOCK("5"), NULL, 0, "6 created");
  sql_exec(sql, "select largesse.clock_set('2030-10-01 03:10+00'::timestamptz - clock_timestamp())");
  char *before = contents(f);
  // The same codes at other instants: 11:00 and 14:00 of another zone.
  char *moved = support_format("%s", HEAD ITEM WHEN STOCK("5"));
  char *zone = strstr(moved, "Asia/Shanghai");
  memcpy(zone, "Asia/Seoul   ", 13);
  assert_apply(f, moved, NULL, 65, ":3: timeZone: cannot change after publishing (fest-20301001-1100)");
  assert_contents(f, before);
  before = contents(f);
  assert_apply(f, HEAD ITEM WHEN STOCK("unlimited"), NULL, 65,
               ":14: sessions[0].stock.total: limited and unlimited cannot be exchanged after publishing");
  assert_contents(f, before);
  // A longer session and more stock are allowed while it runs.
  assert_apply(
      f,
      HEAD "  - code: fest-{date}-{time}\n    kind: reward\n    reward: v\n    duration: 45m\n    publish: true\n" WHEN
          STOCK("6"),
      NULL, 0, "fest-20301001-1100                        updated  endAt, stock.total (adjustment by +1: 5 -> 6)");
  mem_free(moved);
}

static void a_session_that_runs_keeps_its_start(void **state)
{
  struct fixture *f = *state;
  struct sql *sql = f->stack->sql;
#define FIXED(time)                                                                                            \
  HEAD "  - code: fest-one\n    kind: reward\n    reward: v\n    duration: 1h\n    publish: true\n    dates: " \
       "[2030-10-01]\n    times: [\"" time "\"]\n" STOCK("5")
  assert_apply(f, FIXED("11:00"), NULL, 0, "created, published");
  assert_apply(f, FIXED("11:05"), NULL, 0, "updated  startAt, endAt");
  sql_exec(sql, "select largesse.clock_set('2030-10-01 03:10+00'::timestamptz - clock_timestamp())");
  char *before = contents(f);
  assert_apply(f, FIXED("11:20"), NULL, 65, ":13: sessions[0].dates: cannot change once the session runs (fest-one)");
  assert_contents(f, before);
#undef FIXED
}

static void a_session_that_is_over_is_made_but_not_published(void **state)
{
  struct fixture *f = *state;
  assert_apply(f, HEAD ITEM "    dates: [2020-10-01]\n    times: [\"11:00\"]\n" STOCK("5"), NULL, 0,
               "not published: it has ended");
  assert_int_equal(sql_int(f->stack->sql, "select count(*) from largesse.activity where status = 'draft'"), 1);
}

static void bad_files_apply_nothing(void **state)
{
  struct fixture *f = *state;
  static const struct {
    const char *yaml, *expected;
  } cases[] = {
      {HEAD ITEM WHEN "\tstock: { total: 5 }\n", ":14: a tab is used as indentation; use spaces"},
      {HEAD ITEM ITEM WHEN STOCK("5"), ":7: sessions[0].dates: is missing"},
      {HEAD ITEM WHEN STOCK("5") STOCK("6"), ":15: key stock is repeated (first on line 14)"},
      {HEAD ITEM WHEN STOCK("\"010\""), ":14: sessions[0].stock.total: must be an integer from 0 to 1000000000000"},
      {HEAD ITEM WHEN STOCK("010"), ":14: sessions[0].stock.total: must be an integer from 0 to 1000000000000"},
      {HEAD ITEM WHEN STOCK("*x"), ":14: aliases are not allowed"},
      {HEAD ITEM WHEN STOCK("5") "    colour: red\n", ":15: sessions[0].colour: unknown key"},
      {HEAD ITEM WHEN STOCK(
           "5") "  - code: other\n    kind: reward\n    reward: nowhere\n    start: +5s\n    duration: 1s\n" STOCK("1"),
       ":17: sessions[1].reward: there is no such reward (other)"},
      {"event: fest\nname: F\ntimeZone: PST\nsessions:\n" ITEM WHEN STOCK("5"), ":3: timeZone: not an IANA time zone"},
      {"event: fest\nname: F\ntimeZone: Foo/Bar\nsessions:\n" ITEM WHEN STOCK("5"),
       ":3: timeZone: not an IANA time zone"},
      {"event: fest\nname: F\ntimeZone: Foo/Bar+3\nsessions:\n" ITEM WHEN STOCK("5"),
       ":3: timeZone: not an IANA time zone"},
      {HEAD "  - {code: x, kind: number}\n", ":7: sessions[0].duration: is missing"},
  };
  char *before = contents(f);
  for (size_t i = 0; i < ARRAY_LEN(cases); i++) assert_apply(f, cases[i].yaml, NULL, 65, cases[i].expected);
  assert_contents(f, before);
}

static void an_unknown_provider_is_refused(void **state)
{
  struct fixture *f = *state;
  char *yaml = support_format("%s", HEAD ITEM WHEN STOCK("5"));
  memcpy(strstr(yaml, "simulator"), "elsewhere", 9);
  struct buf out;
  buf_init(&out, 1 << 20);
  char *config = support_format("%s.conf", f->file);
  FILE *file = fopen(config, "we");
  if (file == NULL ||
      fputs("fulfiller: { providers: { simulator: { base_url: \"http://127.0.0.1:9\" } } }\n", file) < 0 ||
      fclose(file) != 0)
    support_die("cannot write");
  char *shipped = f->stack->config;
  f->stack->config = config;
  assert_apply(f, yaml, NULL, 65, ":5: rewards.v: provider: is not configured under fulfiller.providers");
  f->stack->config = shipped;
  (void)unlink(config);
  mem_free(config);
  mem_free(yaml);
  buf_release(&out);
}

static void demonstrations_keep_their_times(void **state)
{
  struct fixture *f = *state;
  struct sql *sql = f->stack->sql;
#define DEMO(code)                                                                                                    \
  "event: demo\nname: Demo\ntimeZone: Asia/Shanghai\nrewards:\n  v: { provider: simulator }\nsessions:\n"             \
  "  - { code: \"" code                                                                                               \
  "\", kind: reward, reward: v, start: +60s, every: 8s, count: 3, duration: 30s, stock: { total: 5 }, publish: true " \
  "}\n"
  assert_apply(f, DEMO("demo-{n}"), NULL, 0, ": 5 created, 0 updated, 0 unchanged, 3 published");
  assert_true(sql_bool(sql,
                       "select max(start_at) - min(start_at) = interval '16 s' and min(start_at) between "
                       "largesse.clock_now() + interval '30 s'"
                       " and largesse.clock_now() + interval '61 s' from largesse.activity"));
  char *before = contents(f);
  assert_apply(f, DEMO("demo-{n}"), NULL, 0, ": 0 created, 0 updated, 5 unchanged, 0 published");
  assert_contents(f, before);
  // Named by their start: kept while the last of them has not begun, new ones afterwards.
  assert_apply(f, DEMO("late-{date}-{time}"), NULL, 0, ": 3 created");
  before = contents(f);
  assert_apply(f, DEMO("late-{date}-{time}"), NULL, 0, ": 0 created");
  assert_contents(f, before);
  sql_exec(sql, "select largesse.clock_set(interval '5 minutes')");
  assert_apply(f, DEMO("late-{date}-{time}"), NULL, 0, ": 3 created");
  assert_int_equal(sql_int(sql, "select count(*) from largesse.activity where code ~ '^late-[0-9]{8}-[0-9]{6}$'"), 6);
#undef DEMO
}

static void the_report_is_json_for_programs(void **state)
{
  struct fixture *f = *state;
  struct buf out;
  json_t *json = NULL;
  buf_init(&out, 1 << 20);
  write_event(f, HEAD ITEM WHEN STOCK("5"));
  int status = stack_command(f->stack, "scheduler", (const char *[]){"apply", f->file, "--format", "json", NULL}, &out);
  assert_int_equal(status, 0);
  assert_int_equal(jsonx_parse(buf_text(&out), out.len, &json, NULL), RESULT_OK);
  assert_string_equal(json_string_value(jsonx_pointer(json, "/files/0/event")), "fest");
  assert_int_equal(json_array_size(jsonx_pointer(json, "/files/0/items")), 6);
  assert_string_equal(json_string_value(jsonx_pointer(json, "/files/0/items/2/code")), "fest-20301001-1100");
  assert_string_equal(json_string_value(jsonx_pointer(json, "/files/0/items/2/outcome")), "created");
  assert_true(json_is_true(jsonx_pointer(json, "/files/0/items/2/published")));
  json_decref(json);
  buf_release(&out);
}

static void two_at_once_agree(void **state)
{
  struct fixture *f = *state;
  struct process *runs[3];
  char *scheduler = support_bin("scheduler");
  write_event(f, HEAD ITEM WHEN STOCK("5"));
  for (size_t i = 0; i < ARRAY_LEN(runs); i++) {
    runs[i] = process_spawn(
        &(struct process_spec){.name = "apply",
                               .argv = (const char *[]){scheduler, "-c", f->stack->config, "apply", f->file, NULL},
                               .env = (const char *const *)f->stack->env});
  }
  for (size_t i = 0; i < ARRAY_LEN(runs); i++) {
    int status = process_wait(runs[i], 60);
    if (status != 0) process_show_log(runs[i], 20);
    assert_int_equal(status, 0);
    process_free(runs[i]);
  }
  assert_int_equal(sql_int(f->stack->sql, "select count(*) from largesse.activity where status = 'published'"), 4);
  assert_int_equal(sql_int(f->stack->sql, "select count(*) from largesse.reward"), 1);
  assert_int_equal(
      sql_int(f->stack->sql, "select count(*) from largesse.activity_history where to_status = 'published'"), 4);
  mem_free(scheduler);
}

int main(void)
{
#define TEST(name)            cmocka_unit_test_setup_teardown(name, set_up, tear_down)
#define TEST_WITH_CLOCK(name) cmocka_unit_test_setup_teardown(name, set_up_with_clock, tear_down)
  const struct CMUnitTest tests[] = {
      TEST(twice_changes_nothing),
      TEST(a_plan_says_what_would_happen_and_changes_nothing),
      TEST(a_changed_total_is_an_adjustment),
      TEST(a_removed_session_is_left_alone),
      TEST_WITH_CLOCK(what_a_running_session_may_not_change_is_refused),
      TEST_WITH_CLOCK(a_session_that_runs_keeps_its_start),
      TEST(a_session_that_is_over_is_made_but_not_published),
      TEST(bad_files_apply_nothing),
      TEST(an_unknown_provider_is_refused),
      TEST_WITH_CLOCK(demonstrations_keep_their_times),
      TEST(the_report_is_json_for_programs),
      TEST(two_at_once_agree),
  };
  return cmocka_run_group_tests(tests, start, stop);
}
