// SPDX-License-Identifier: Apache-2.0
// The audit on a real database: clean where nothing is wrong, also in the middle of claims; each damage is exactly one
// kind of finding; findings keep their identity; what could not be looked at is never called clean.
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <jansson.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>
#include <cmocka.h>

#include "common/compiler.h"
#include "common/mem.h"
#include "tests/support/stack.h"
#include "tests/support/support.h"

struct rig {
  struct server *server;
  struct stack *stack;
};

static int set_up(void **state)
{
  static struct rig rig;
  rig.server = server_start();
  rig.stack = stack_start(
      rig.server, &(struct stack_options){
                      .schedulers = STACK_NONE, .no_fulfiller = true, .no_simulator = true, .no_reconciler = true});
  *state = &rig;
  return 0;
}

static int tear_down(void **state)
{
  struct rig *rig = *state;
  stack_free(rig->stack);
  server_free(rig->server);
  return 0;
}

static struct stack *stack_of(void **state) { return ((struct rig *)*state)->stack; }

// Runs the audit as JSON with up to two further arguments; the report is the caller's.
static json_t *audit_with(struct stack *s, const char *const *env, int status, const char *one, const char *two)
{
  struct buf out;
  buf_init(&out, 1000000);
  const char *const args[] = {"audit", "--format", "json", one, one != NULL ? two : NULL, NULL};
  int got = stack_command_env(s, "reconciler", args, env, &out);
  if (got != status) fail_msg("status %d instead of %d: %s", got, status, buf_text(&out));
  json_t *report = json_loadb(buf_text(&out), out.len, JSON_REJECT_DUPLICATES | JSON_DISABLE_EOF_CHECK, NULL);
  if (report == NULL) fail_msg("no JSON: %s", buf_text(&out));
  buf_release(&out);
  return report;
}

static json_t *audit(struct stack *s, int status) { return audit_with(s, NULL, status, "--all", NULL); }

static const char *member(const json_t *object, const char *name)
{
  const char *text = json_string_value(json_object_get(object, name));
  return text != NULL ? text : "";
}

// "opened stock_not_matching_claims a, …" in the order of the report.
static char *summary_of(const json_t *report)
{
  struct buf b;
  buf_init(&b, 100000);
  const json_t *findings = json_object_get(report, "findings");
  assert_true(json_is_array(findings));
  for (size_t i = 0; i < json_array_size(findings); i++) {
    const json_t *f = json_array_get(findings, i);
    buf_printf(&b, "%s%s %s %s", i > 0 ? ", " : "", member(f, "state"), member(f, "kind"), member(f, "activityCode"));
  }
  return buf_take(&b);
}

static void check_audit(struct stack *s, int status, const char *expected)
{
  json_t *report = audit(s, status);
  char *summary = summary_of(report);
  assert_string_equal(summary, expected);
  assert_int_equal(json_is_true(json_object_get(report, "clean")), status == 0);
  mem_free(summary);
  json_decref(report);
}

// An activity with 20 claims of one unit each, of users 1 to 20; the first ten have succeeded.
static void add_activity(struct stack *s, const char *code)
{
  sql_exec(
      s->sql,
      "do $$ begin perform largesse.reward_put('voucher', 'simulator', 100, 'CNY', '{}');"
      " perform largesse.activity_put(jsonb_build_object('code', '%s', 'name', 'n', 'kind', 'reward', 'timeZone', "
      "'Asia/Shanghai', 'rewardCode', 'voucher',"
      "   'startAt', now() - interval '1 hour', 'endAt', now() + interval '1 day', 'stock', '{\"total\": 50}'::jsonb,"
      "   'limits', '[{\"count\": 2, \"period\": \"total\"}]'::jsonb), 'test', null);"
      " perform largesse.activity_action('%s', 'publish', 'test', null, null);"
      " perform largesse.claim_submit(id, array(select 'b' || n from generate_series(1, 20) n), array(select n::bigint "
      "from generate_series(1, 20) n),"
      "   array_fill(1, array[20]), array_fill(null::text, array[20]), '5 s') from largesse.activity where code = '%s';"
      " perform largesse.claim_move(array_agg(activity_id), array_agg(id), 'succeeded', null, null, null) from "
      "largesse.claim"
      "  where user_id <= 10 and activity_id = (select id from largesse.activity where code = '%s');"
      " insert into largesse.attempt (activity_id, claim_id, attempt, step, provider, started_at, duration_us, outcome)"
      "  select activity_id, id, 1, 'deliver', 'simulator', now(), 1, 'done' from largesse.claim"
      "   where user_id <= 10 and activity_id = (select id from largesse.activity where code = '%s'); end $$",
      code, code, code, code, code);
}

static void nothing_at_all_is_clean(void **state)
{
  struct stack *s = stack_of(state);
  struct buf out;
  buf_init(&out, 10000);
  check_audit(s, 0, "");
  json_t *report = audit_with(s, NULL, 0, NULL, NULL);
  assert_int_equal(strlen(member(report, "from")), 27);
  assert_int_equal(strlen(member(report, "until")), 27);
  json_decref(report);
  assert_int_equal(stack_command(s, "reconciler", (const char *const[]){"audit", NULL}, &out), 0);
  assert_non_null(strstr(buf_text(&out), "\naudit: clean\n"));
  buf_release(&out);
}

// Damage to activity a, what the audit must see, and the repair by hand. User 4 has succeeded, 17 is issuing.
#define OF_A "activity_id = (select id from largesse.activity where code = 'a')"
static const struct damage {
  const char *what, *sql, *repair, *kinds;
} damages[] = {
    {"stock taken without a record", "update largesse.stock set remaining = remaining - 1 where " OF_A,
     "update largesse.stock set remaining = remaining + 1 where " OF_A, "stock_not_matching_claims a"},
    {"wrong initial stock", "update largesse.activity set stock_total = 51 where code = 'a'",
     "update largesse.activity set stock_total = 50 where code = 'a'", "stock_initial_wrong a"},
    {"a counter raised", "update largesse.usage set used = 2 where user_id = 4 and " OF_A,
     "update largesse.usage set used = 1 where user_id = 4 and " OF_A, "usage_not_matching_claims a"},
    {"a counter lost", "delete from largesse.usage where user_id = 4 and " OF_A,
     "insert into largesse.usage select id, 4, 'total', '-infinity', 1, 2 from largesse.activity where code = 'a'",
     "usage_not_matching_claims a"},
    {"claimed after the end",
     "update largesse.claim set created_at = created_at + interval '2 days' where user_id = 4 and " OF_A,
     "update largesse.claim set created_at = created_at - interval '2 days' where user_id = 4 and " OF_A,
     "claim_outside_window a"},
    {"a review nobody sees",
     "update largesse.claim set review_since = now(), next_attempt_at = null where user_id = 17 and " OF_A,
     "update largesse.claim set review_since = null, next_attempt_at = now() where user_id = 17 and " OF_A,
     "claim_under_review_without_dead_letter a"},
    {"a letter without a review",
     "insert into largesse.dead_letter (activity_id, claim_id, provider, cause, opened_at) select activity_id, id, "
     "'simulator', 'x', now() from largesse.claim where user_id = 17 and " OF_A,
     "delete from largesse.dead_letter", "claim_under_review_without_dead_letter a"},
    {"a lost callback", "update largesse.claim set next_attempt_at = null where user_id = 17 and " OF_A,
     "update largesse.claim set next_attempt_at = now() where user_id = 17 and " OF_A, "claim_nobody_will_look_at a"},
    {"a finished claim that is due", "update largesse.claim set next_attempt_at = now() where user_id = 4 and " OF_A,
     "update largesse.claim set next_attempt_at = null where user_id = 4 and " OF_A, "claim_nobody_will_look_at a"},
};

static void each_damage_is_exactly_its_finding(void **state)
{
  struct stack *s = stack_of(state);
  add_activity(s, "a");
  add_activity(s, "b");
  check_audit(s, 0, "");
  for (size_t i = 0; i < ARRAY_LEN(damages); i++) {
    const struct damage *d = &damages[i];
    sql_exec(s->sql, "delete from largesse.finding; %s", d->sql);
    char *opened = support_format("opened %s", d->kinds), *open = support_format("open %s", d->kinds),
         *gone = support_format("gone %s", d->kinds);
    check_audit(s, 1, opened);
    if (i == 0) check_audit(s, 1, open);
    sql_exec(s->sql, "%s", d->repair);
    check_audit(s, 0, gone);
    check_audit(s, 0, "");
    mem_free(opened);
    mem_free(open);
    mem_free(gone);
  }
  // One act, three equations: a delivery without its record, and a record gone without its stock and its allowance.
  sql_exec(
      s->sql,
      "delete from largesse.finding; create temp table kept as select * from largesse.claim where user_id = 4 and " OF_A
      "; delete from largesse.claim where user_id = 4 and " OF_A);
  check_audit(s, 1, "opened claim_missing a, opened stock_not_matching_claims a, opened usage_not_matching_claims a");
  sql_exec(s->sql, "insert into largesse.claim select * from kept; drop table kept");
  check_audit(s, 0, "gone claim_missing a, gone stock_not_matching_claims a, gone usage_not_matching_claims a");
}

static void a_finding_tells_what_to_do(void **state)
{
  struct stack *s = stack_of(state);
  sql_exec(
      s->sql,
      "delete from largesse.finding; update largesse.claim set next_attempt_at = null where user_id = 17 and " OF_A);
  json_t *report = audit(s, 1);
  const json_t *f = json_array_get(json_object_get(report, "findings"), 0);
  char *id = sql_text(s->sql, "select activity_id || '-' || id from largesse.claim where user_id = 17 and " OF_A);
  char *key = sql_text(s->sql,
                       "select 'claim_nobody_will_look_at:' || activity_id || ':claim ' || id from largesse.claim "
                       "where user_id = 17 and " OF_A);
  assert_string_equal(member(f, "claimId"), id);
  assert_string_equal(member(f, "key"), key);
  assert_string_equal(member(f, "severity"), "critical");
  assert_true(strlen(member(f, "expected")) > 0 && strlen(member(f, "actual")) > 0);
  assert_true(strlen(member(f, "cause")) > 0 && strlen(member(f, "nextStep")) > 0);
  struct buf out;
  buf_init(&out, 100000);
  assert_int_equal(stack_command(s, "reconciler", (const char *const[]){"findings", "show", key, NULL}, &out), 0);
  assert_non_null(strstr(buf_text(&out), "nextStep: "));
  assert_non_null(strstr(buf_text(&out), id));
  buf_clear(&out);
  assert_int_equal(stack_command(s, "reconciler", (const char *const[]){"findings", "list", NULL}, &out), 0);
  assert_non_null(strstr(buf_text(&out), key));
  buf_clear(&out);
  assert_int_equal(stack_command(s, "reconciler", (const char *const[]){"findings", "show", "nothing", NULL}, &out),
                   65);
  sql_exec(s->sql, "update largesse.claim set next_attempt_at = now() where user_id = 17 and " OF_A);
  check_audit(s, 0, "gone claim_nobody_will_look_at a");
  buf_clear(&out);
  assert_int_equal(stack_command(s, "reconciler", (const char *const[]){"findings", "list", NULL}, &out), 0);
  assert_string_equal(buf_text(&out), "none\n");
  buf_release(&out);
  mem_free(id);
  mem_free(key);
  json_decref(report);
}

static void an_audit_can_be_narrowed(void **state)
{
  struct stack *s = stack_of(state);
  sql_exec(s->sql, "delete from largesse.finding; update largesse.stock set taken = taken + 1");
  static const struct {
    const char *one, *two, *expected;
  } cases[] = {
      {"--activity", "a", "opened stock_not_matching_claims a"},
      {"--activity=a", NULL, "open stock_not_matching_claims a"},
      {"--date=2020-01-01", NULL, ""},
      {NULL, NULL, "open stock_not_matching_claims a, opened stock_not_matching_claims b"},
      {"--all", NULL, "open stock_not_matching_claims a, open stock_not_matching_claims b"},
  };
  for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
    json_t *report = audit_with(s, NULL, cases[i].expected[0] != '\0' ? 1 : 0, cases[i].one, cases[i].two);
    char *summary = summary_of(report);
    assert_string_equal(summary, cases[i].expected);
    mem_free(summary);
    json_decref(report);
  }
  char *today = sql_text(s->sql, "select '--date=' || (now() at time zone 'UTC')::date"),
       *from = support_format("%sT00:00:00.000000Z", today + 7);
  json_t *report = audit_with(s, NULL, 1, today, NULL);
  assert_string_equal(member(report, "from"), from);
  assert_int_equal(json_array_size(json_object_get(report, "findings")), 2);
  json_decref(report);
  mem_free(today);
  mem_free(from);
  sql_exec(s->sql, "update largesse.stock set taken = taken - 1");
  check_audit(s, 0, "gone stock_not_matching_claims a, gone stock_not_matching_claims b");
}

static void misuse_is_told(void **state)
{
  struct stack *s = stack_of(state);
  static const struct {
    int status;
    const char *args[6];
  } cases[] = {
      {65, {"audit", "--activity", "nobody"}},
      {64, {"audit", "--date", "2026-02-30"}},
      {64, {"audit", "--date", "2026-02-03", "--all"}},
      {64, {"audit", "--format", "xml"}},
      {64, {"audit", "everything"}},
      {64, {"audit", "--activity", "a b"}},
      {73, {"audit", "--output", "/nowhere/at/all"}},
      {64, {"audits", "list", "--source", "rumours"}},
      {64, {"findings", "list", "--state", "lost"}},
      {64, {"findings", "show"}},
      {64, {"dead-letters", "retry", "--reason", "x"}},
      {64, {"dead-letters", "retry", "--all"}},
      {64, {"dead-letters", "retry", "1", "--all", "--dry-run"}},
      {64, {"dead-letters", "show", "x"}},
      {65, {"dead-letters", "show", "99999"}},
      {65, {"dead-letters", "retry", "99999", "--dry-run"}},
  };
  struct buf out;
  buf_init(&out, 100000);
  for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
    buf_clear(&out);
    int status = stack_command(s, "reconciler", cases[i].args, &out);
    if (status != cases[i].status || out.len == 0)
      fail_msg("%s %s %s: status %d, said %s", cases[i].args[0], cases[i].args[1], cases[i].args[2], status,
               buf_text(&out));
  }
  const char *const nowhere[] = {"LARGESSE_DATABASE__CONNINFO=host=127.0.0.1 port=1 user=x", NULL};
  assert_int_equal(stack_command_env(s, "reconciler", (const char *const[]){"audit", NULL}, nowhere, NULL), 69);
  buf_release(&out);
}

static void a_report_can_go_to_a_file(void **state)
{
  struct stack *s = stack_of(state);
  struct buf out;
  buf_init(&out, 100000);
  char *dir = support_log_dir(), *file = support_format("%s/audit.json", dir),
       *dead = support_format("report: %s", file);
  assert_int_equal(
      stack_command(s, "reconciler",
                    (const char *const[]){"audit", "--all", "--format", "json", "--output", file, NULL}, &out),
      0);
  assert_non_null(strstr(buf_text(&out), "audit: clean"));
  assert_non_null(strstr(buf_text(&out), dead));
  json_t *report = json_load_file(file, 0, NULL);
  assert_non_null(report);
  assert_true(json_is_true(json_object_get(report, "clean")));
  json_decref(report);
  assert_int_equal(unlink(file), 0);
  mem_free(dir);
  mem_free(file);
  mem_free(dead);
  buf_release(&out);
}

// --- audits that cannot be run to their end

static void declare_audit(struct stack *s, const char *name, const char *rows)
{
  sql_exec(s->sql,
           "create or replace function largesse.audit_%s(i_activity_id bigint) returns table (subject text, claim_id "
           "bigint, expected text, actual text)"
           " language sql volatile as $$ %s $$; select largesse.audit_register('%s', 'medium', 'e', 'c', 'n')",
           name, rows, name);
}

static void forget_audit(struct stack *s, const char *name)
{
  sql_exec(s->sql,
           "delete from largesse.audit_definition where name = '%s'; drop function largesse.audit_%s; delete from "
           "largesse.finding where kind = '%s'",
           name, name, name);
}

static void a_new_audit_is_one_sql_file(void **state)
{
  struct stack *s = stack_of(state);
  declare_audit(s, "probe",
                "select 'x', null::bigint, 'nothing', code from largesse.activity where id = $1 and code = 'b'");
  check_audit(s, 1, "opened probe b");
  forget_audit(s, "probe");
  check_audit(s, 0, "");
}

static void what_takes_too_long_is_not_called_clean(void **state)
{
  struct stack *s = stack_of(state);
  const char *const env[] = {"LARGESSE_RECONCILER__AUDIT__STATEMENT_TIMEOUT=2s", NULL};
  declare_audit(s, "a_slow_one", "select 'x', null::bigint, 'a', 'b' where pg_sleep(60)::text = 'never'");
  double begin = support_now();
  json_t *report = audit_with(s, env, 75, "--activity", "a");
  assert_true(support_now() - begin < 50);
  assert_true(json_is_false(json_object_get(report, "clean")));
  assert_string_equal(member(json_array_get(json_object_get(report, "failures"), 0), "kind"), "a_slow_one");
  json_decref(report);
  // The others were run all the same; and what was not looked at is not gone.
  sql_exec(s->sql, "update largesse.stock set taken = taken + 1 where " OF_A);
  report = audit_with(s, env, 1, "--activity", "a");
  char *summary = summary_of(report);
  assert_string_equal(summary, "opened stock_not_matching_claims a");
  mem_free(summary);
  json_decref(report);
  sql_exec(s->sql, "update largesse.stock set taken = taken - 1 where " OF_A "; delete from largesse.finding");
  forget_audit(s, "a_slow_one");
}

static void too_many_findings_are_cut_and_told(void **state)
{
  struct stack *s = stack_of(state);
  const char *const env[] = {"LARGESSE_RECONCILER__AUDIT__FINDINGS_MAX=3", NULL};
  sql_exec(s->sql, "update largesse.usage set used = 2 where " OF_A);
  json_t *report = audit_with(s, env, 1, "--activity", "a");
  assert_int_equal(json_array_size(json_object_get(report, "findings")), 3);
  assert_int_equal(json_array_size(json_object_get(report, "failures")), 1);
  json_decref(report);
  sql_exec(s->sql, "update largesse.usage set used = 1 where " OF_A "; delete from largesse.finding");
}

static void audits_may_not_write(void **state)
{
  struct stack *s = stack_of(state);
  declare_audit(s, "a_writer",
                "with w as (delete from largesse.usage returning 1) select 'x', null::bigint, 'a', 'b' from w");
  json_t *report = audit_with(s, NULL, 75, "--activity", "a");
  assert_non_null(strstr(member(json_array_get(json_object_get(report, "failures"), 0), "reason"), "read-only"));
  json_decref(report);
  forget_audit(s, "a_writer");
  check_audit(s, 0, "");
}

static void an_interrupted_run_goes_on(void **state)
{
  struct stack *s = stack_of(state);
  sql_exec(s->sql, "delete from largesse.audit_run; update largesse.stock set taken = taken + 1 where " OF_A);
  declare_audit(s, "slow_for_b",
                "select 'x', null::bigint, 'a', 'b' from largesse.activity a where a.id = $1 and pg_sleep(case a.code "
                "when 'b' then 60 else 0 end)::text = 'never'");
  char *bin = support_bin("reconciler");
  struct process *p =
      process_spawn(&(struct process_spec){.name = "audit",
                                           .argv = (const char *const[]){bin, "-c", s->config, "audit", "--all", NULL},
                                           .env = (const char *const *)s->env});
  WAIT_FOR(sql_int(s->sql, "select count(*) from largesse.audit_run where activities = 1") == 1, 15);
  process_kill(p);
  process_free(p);
  mem_free(bin);
  sql_exec(s->sql,
           "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'reconciler-command' and "
           "datname = current_database()");
  forget_audit(s, "slow_for_b");
  json_t *report = audit_with(s, NULL, 1, "--all", "--resume");
  assert_int_equal(json_integer_value(json_object_get(report, "activities")), 2);
  char *summary = summary_of(report);
  assert_string_equal(summary, "opened stock_not_matching_claims a");
  assert_int_equal(sql_int(s->sql, "select count(*) from largesse.audit_run"), 1);
  mem_free(summary);
  json_decref(report);
  sql_exec(s->sql, "update largesse.stock set taken = taken - 1 where " OF_A);
  check_audit(s, 0, "gone stock_not_matching_claims a");
}

// --- in the middle of claims

struct traffic {
  struct sql *sql;
  atomic_bool stop;
  atomic_int rounds;
};

static void *claims_come_and_go(void *ctx)
{
  struct traffic *t = ctx;
  for (int n = 0; !atomic_load(&t->stop); n++) {
    sql_exec(t->sql,
             "do $$ declare v_id bigint := (select id from largesse.activity where code = 'busy'); begin"
             " perform largesse.claim_submit(v_id, array(select 'r%d-' || n from generate_series(1, 50) n), "
             "array(select 1000 + %d * 50 + n::bigint from generate_series(1, 50) n),"
             "   array_fill(1, array[50]), array_fill(null::text, array[50]), '5 s'); commit;"
             " perform largesse.claim_move(array_agg(activity_id), array_agg(id), case %d %% 3 when 0 then 'failed' "
             "else 'succeeded' end, null, null, null)"
             "   from (select activity_id, id from largesse.claim where activity_id = v_id and status = 'issuing' "
             "order by id limit 40) c;"
             " insert into largesse.attempt select activity_id, id, 1, 'deliver', 'simulator', now(), 1, outcome"
             "   from largesse.claim where activity_id = v_id and status <> 'issuing' on conflict do nothing; end $$",
             n, n, n);
    atomic_fetch_add(&t->rounds, 1);
  }
  return NULL;
}

static void an_audit_during_claims_invents_nothing(void **state)
{
  struct rig *rig = *state;
  struct stack *s = rig->stack;
  struct traffic t = {.sql = server_open(rig->server, s->database)};
  pthread_t thread;
  sql_exec(s->sql,
           "select largesse.activity_put(jsonb_build_object('code', 'busy', 'name', 'n', 'kind', 'reward', 'timeZone', "
           "'UTC', 'rewardCode', 'voucher',"
           " 'startAt', now() - interval '1 hour', 'endAt', now() + interval '1 day', 'stock', '{\"total\": "
           "1000000}'::jsonb), 'test', null);"
           "select largesse.activity_action('busy', 'publish', 'test', null, null)");
  assert_int_equal(pthread_create(&thread, NULL, claims_come_and_go, &t), 0);
  WAIT_FOR(atomic_load(&t.rounds) > 2, 10);
  for (int i = 0; i < 8; i++) check_audit(s, 0, "");
  atomic_store(&t.stop, true);
  assert_int_equal(pthread_join(thread, NULL), 0);
  assert_true(atomic_load(&t.rounds) > 10);
  check_audit(s, 0, "");
  sql_close(t.sql);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(nothing_at_all_is_clean),
      cmocka_unit_test(each_damage_is_exactly_its_finding),
      cmocka_unit_test(a_finding_tells_what_to_do),
      cmocka_unit_test(an_audit_can_be_narrowed),
      cmocka_unit_test(misuse_is_told),
      cmocka_unit_test(a_report_can_go_to_a_file),
      cmocka_unit_test(a_new_audit_is_one_sql_file),
      cmocka_unit_test(what_takes_too_long_is_not_called_clean),
      cmocka_unit_test(too_many_findings_are_cut_and_told),
      cmocka_unit_test(audits_may_not_write),
      cmocka_unit_test(an_interrupted_run_goes_on),
      cmocka_unit_test(an_audit_during_claims_invents_nothing),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
