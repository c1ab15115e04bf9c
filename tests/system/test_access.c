// SPDX-License-Identifier: Apache-2.0
// Who may do what: every route of every daemon with keys of each scope, and the reconciler's with the cookie of a
// session; keys that come, expire and are revoked; people who sign in and out; and what all of them did, which is in
// the operator log and cannot be changed unseen.
#include "tests/system/access_routes.h"

// --- the table of routes

static void every_route_asks_for_its_scope(void **state)
{
  struct rig *rig = *state;
  struct session sessions[SCOPES];
  for (size_t i = 0; i < SCOPES; i++)
    if (strcmp(scope_names[i], "claims") != 0)
      sign_in(rig->stack->reconciler_port, rig->keys[i], NULL, NULL, &sessions[i]);
  assert_true(walk_routes(rig, "scheduler", rig->stack->scheduler_ports[0], NULL) > 40);
  assert_true(walk_routes(rig, "fulfiller", rig->stack->fulfiller_port, NULL) >= 5);
  assert_true(walk_routes(rig, "reconciler", rig->stack->reconciler_port, sessions) > 30);
}

// --- keys

static int status_of(const struct rig *rig, const char *key)
{
  return ASK(rig->stack->reconciler_port, "GET", "/v1/session", .key = key);
}

static void keys_hold_at_once_and_until_they_expire_or_are_revoked(void **state)
{
  struct rig *rig = *state;
  struct stack *s = rig->stack;
  char key[KEY_BYTES], guest[KEY_BYTES];
  struct buf out;
  buf_init(&out, 65536);
  add_key(rig, "shop-1", "claims,read", key);
  add_key(rig, "guest", "read", guest);
  // No daemon has heard of it yet: each asks, and none says 503.
  assert_int_equal(ASK(s->scheduler_ports[0], "GET", "/v1/activities", .key = key), 200);
  assert_int_equal(status_of(rig, key), 200);
  assert_int_equal(RUN(rig, &out, "keys", "add", "shop-1", "--scope", "read"), 65);  // the name is taken
  assert_int_equal(RUN(rig, &out, "keys", "add", "shop-2", "--scope", "root"), 65);
  assert_int_equal(RUN(rig, &out, "keys", "add", "anonymous", "--scope", "read"), 65);
  assert_int_equal(RUN(rig, &out, "keys", "add", "shop-2", "--scope", "read", "--expires", "2020-01-01"), 65);
  assert_int_equal(RUN(rig, &out, "keys", "add", "shop-2"), 64);
  assert_int_equal(RUN(rig, &out, "keys", "revoke", "shop-1"), 64);
  buf_clear(&out);
  assert_int_equal(RUN(rig, &out, "keys", "list"), 0);
  assert_non_null(strstr(buf_text(&out), "shop-1"));
  assert_null(strstr(buf_text(&out), key));  // eleven characters of it are shown
  char *prefix = support_format("%.11s ", key);
  assert_non_null(strstr(buf_text(&out), prefix));
  mem_free(prefix);
  assert_int_equal(ASK(s->scheduler_ports[0], "GET", "/v1/activities", .key = guest), 200);
  sql_exec(s->sql, "update largesse.api_key set expires_at = now() + interval '1 second' where name = 'guest'");
  assert_int_equal(RUN(rig, &out, "keys", "revoke", "shop-1", "--reason", "it leaked"), 0);
  WITHIN(ASK(s->scheduler_ports[0], "GET", "/v1/activities", .key = key) == 401, 3);
  WITHIN(status_of(rig, key) == 401, 3);
  WITHIN(ASK(s->scheduler_ports[0], "GET", "/v1/activities", .key = guest) == 401, 3);
  WITHIN(status_of(rig, guest) == 401, 3);
  assert_int_equal(RUN(rig, &out, "keys", "revoke", "shop-1", "--reason", "again"), 65);
  assert_true(sql_bool(s->sql,
                       "select k.used_at is not null and k.revoked_by = 'cli:olga' and k.revoke_reason = 'it "
                       "leaked' from largesse.api_key k where k.name = 'shop-1'"));
  buf_release(&out);
}

static void no_key_is_in_a_log(void **state)
{
  struct rig *rig = *state;
  struct stack *s = rig->stack;
  const struct process *const daemons[] = {s->schedulers[0], s->fulfiller, s->reconciler, rig->other};
  // B104: nothing that was sent begins a line of its own. Escape and the separators of Unicode are no help either.
  (void)ASK(s->reconciler_port, "GET", "/v1/log?actor=a%0Aforged=1%0D%0Aforged=2%C2%85%E2%80%A8forged=3%1B%5B2J",
            .key = rig->keys[0], .further = "User-Agent: x\tforged=4\r\n");
  (void)ASK(s->reconciler_port, "GET", "/v1/findings/k%0Aforged=5%0D%0Aforged=6%C2%85%E2%80%A8forged=7%1B%5B2J",
            .key = rig->keys[0]);
  (void)ASK(s->reconciler_port, "GET", "/v1/session", .key = "lg_forged\tkey");
  for (size_t i = 0; i < ARRAY_LEN(daemons); i++) {
    struct buf log;
    buf_init(&log, 64u * 1024 * 1024);
    process_read_log(daemons[i], &log);
    assert_non_null(strstr(buf_text(&log), "http."));  // requests are in it
    for (size_t k = 0; k < SCOPES; k++) assert_null(strstr(buf_text(&log), rig->keys[k]));
    assert_null(strstr(buf_text(&log), "\nforged"));
    assert_null(strchr(buf_text(&log), '\r'));
    assert_null(strchr(buf_text(&log), '\x1b'));
    assert_null(strstr(buf_text(&log), "\xc2\x85"));
    assert_null(strstr(buf_text(&log), "\xe2\x80\xa8"));
    buf_release(&log);
  }
}

// --- sessions

static int change(int port, const struct session *s, const char *body)
{
  return ASK(port, "POST", "/v1/dead-letters/retry", .session = s->cookie, .token = s->token, .body = body);
}

static int seen(int port, const struct session *s) { return ASK(port, "GET", "/v1/session", .session = s->cookie); }

static void people_act_with_a_token_and_a_reason(void **state)
{
  struct rig *rig = *state;
  struct session viewer, operator;
  int port = rig->stack->reconciler_port;
  static const char act[] = "{\"filter\":{\"provider\":\"none\"},\"reason\":\"tidying\"}";
  static const char *const elsewhere[] = {"/v1/dead-letters/retry?dryRun=true",
                                          "/v1/dead-letters/retry?reason=tidying"};
  sign_in(port, rig->keys[0], NULL, NULL, &viewer);
  sign_in(port, rig->keys[3], NULL, "X-Forwarded-Proto: https\r\n", &operator);
  assert_string_not_equal(viewer.token, operator.token);
  assert_int_equal(change(port, &operator, act), 200);
  assert_int_equal(ASK(port, "POST", "/v1/dead-letters/retry", .session = operator.cookie, .body = act), 403);
  assert_int_equal(
      ASK(port, "POST", "/v1/dead-letters/retry", .session = operator.cookie, .token = viewer.token, .body = act), 403);
  assert_int_equal(change(port, &operator, "{\"filter\":{\"provider\":\"none\"}}"), 400);
  assert_int_equal(change(port, &operator, "{\"filter\":{\"provider\":\"none\"},\"reason\":\" \\n\"}"), 400);
  assert_int_equal(change(port, &operator, "{\"filter\":{\"provider\":\"none\"},\"dryRun\":true}"), 200);
  for (size_t i = 0; i < ARRAY_LEN(elsewhere); i++)  // where the order is not
    assert_int_equal(ASK(port, "POST", elsewhere[i], .session = operator.cookie, .token = operator.token,
                         .body = "{\"filter\":{\"provider\":\"none\"}}"),
                     400);
  assert_int_equal(change(port, &viewer, act), 403);  // also not by a request made by hand
  assert_int_equal(change(port, &viewer, "{\"filter\":{},\"dryRun\":true}"), 403);
  // A program may leave the reason out.
  assert_int_equal(
      ASK(port, "POST", "/v1/dead-letters/retry", .key = rig->keys[3], .body = "{\"filter\":{\"provider\":\"none\"}}"),
      200);
  assert_int_equal(ASK(port, "POST", "/v1/session", .body = "{\"key\":\"lg_nonsense\"}"), 401);
  char *body = support_format("{\"key\":\"%s\"}", rig->keys[1]);
  assert_int_equal(ASK(port, "POST", "/v1/session", .body = body), 403);  // a key of services
  mem_free(body);
}

static void all_reconcilers_share_sessions(void **state)
{
  struct rig *rig = *state;
  int port = rig->stack->reconciler_port, other = rig->other_port;
  struct session first, second, third;
  static const char chosen[] = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
  sign_in(port, rig->keys[4], chosen, NULL, &first);
  assert_string_not_equal(first.cookie, chosen);  // nobody chooses somebody else's session
  assert_int_equal(ASK(port, "GET", "/v1/session", .session = chosen), 401);
  assert_int_equal(seen(other, &first), 200);
  sign_in(other, rig->keys[4], first.cookie, NULL, &second);  // anew in the same browser: the old one ends
  assert_int_equal(seen(port, &first), 401);
  assert_int_equal(seen(port, &second), 200);
  assert_int_equal(ASK(port, "DELETE", "/v1/session", .session = second.cookie), 403);
  assert_int_equal(ASK(port, "DELETE", "/v1/session", .session = second.cookie, .token = second.token), 204);
  assert_int_equal(seen(other, &second), 401);
  sign_in(port, rig->keys[4], NULL, NULL, &third);
  sql_exec(rig->stack->sql, "update largesse.console_session set seen_at = seen_at - interval '59 minutes'");
  assert_int_equal(seen(other, &third), 200);
  assert_true(
      sql_bool(rig->stack->sql, "select max(seen_at) > now() - interval '1 minute' from largesse.console_session"));
  sql_exec(rig->stack->sql, "update largesse.console_session set seen_at = now() - interval '60 minutes'");
  assert_int_equal(seen(other, &third), 401);
  sign_in(port, rig->keys[4], NULL, NULL, &third);
  sql_exec(rig->stack->sql, "update largesse.console_session set expires_at = now()");
  assert_int_equal(seen(other, &third), 401);
}

static void a_revoked_key_ends_its_sessions_at_once(void **state)
{
  struct rig *rig = *state;
  char key[KEY_BYTES];
  struct session s;
  add_key(rig, "dora", "admin", key);
  sign_in(rig->stack->reconciler_port, key, NULL, NULL, &s);
  assert_int_equal(seen(rig->other_port, &s), 200);
  assert_int_equal(RUN(rig, NULL, "keys", "revoke", "dora", "--reason", "left the company"), 0);
  assert_int_equal(seen(rig->other_port, &s), 401);
  assert_int_equal(seen(rig->stack->reconciler_port, &s), 401);
  assert_int_equal(sql_int(rig->stack->sql,
                           "select count(*) from largesse.console_session s join largesse.api_key k on "
                           "k.id = s.key_id where k.name = 'dora'"),
                   0);
}

static void guessing_is_slowed_down(void **state)
{
  struct rig *rig = *state;
  struct http_conn conn;
  struct http_answer answer;
  int status = 401, tries = 0;
  http_conn_init(&conn, rig->other_port);
  for (; status == 401 && tries < 30; tries++) {
    call(&conn,
         &(struct ask){"POST", "/v1/session", .body = "{\"key\":\"lg_guess\"}", .further = "Accept-Language: zh\r\n"},
         &answer);
    status = answer.status;
    if (status == 401) http_answer_release(&answer);
  }
  assert_int_equal(status, 429);
  assert_in_range(tries, 10, 20);
  char *after = http_answer_header(&answer, "Retry-After"), *language = http_answer_header(&answer, "Content-Language");
  assert_non_null(after);
  assert_string_equal(language, "zh");
  assert_non_null(strstr(answer.body, "登录失败次数过多"));
  mem_free(after);
  mem_free(language);
  http_answer_release(&answer);
  http_get(rig->other_port, "/metrics", &answer);
  assert_non_null(strstr(answer.body, "\nlargesse_http_refused_total{code=\"UNAUTHENTICATED\"} "));
  assert_non_null(strstr(answer.body, "\nlargesse_http_refused_total{code=\"RATE_LIMITED\"} 1\n"));
  http_answer_release(&answer);
  http_conn_release(&conn);
}

// --- the log

static void what_people_do_is_on_record(void **state)
{
  struct rig *rig = *state;
  struct stack *s = rig->stack;
  json_t *page = NULL;
  struct http_conn conn;
  struct http_answer answer;
  http_conn_init(&conn, s->reconciler_port);
  static const char put[] =
      "{\"name\":\"n\",\"kind\":\"registration\",\"startAt\":\"2030-01-01T00:00:00Z\",\"endAt\":"
      "\"2030-01-02T00:00:00Z\",\"timeZone\":\"UTC\",\"stock\":{\"total\":5}}";
  assert_int_equal(
      ASK(s->scheduler_ports[0], "PUT", "/v1/activities/logged?reason=asked+for", .key = rig->keys[2], .body = put),
      201);
  assert_int_equal(ASK(s->scheduler_ports[0], "PUT", "/v1/activities/logged", .key = rig->keys[2], .body = put), 200);
  call(&conn, &(struct ask){"GET", "/v1/log?target=logged&action=activity&limit=5", .key = rig->keys[0]}, &answer);
  assert_int_equal(answer.status, 200);
  page = http_answer_json(&answer);
  const json_t *items = json_object_get(page, "items"), *first = json_array_get(items, 0);
  assert_int_equal(json_array_size(items), 1);  // the second PUT changed nothing
  assert_string_equal(json_string_value(json_object_get(first, "actor")), "key-activities");
  assert_string_equal(json_string_value(json_object_get(first, "action")), "activity.put");
  assert_string_equal(json_string_value(json_object_get(first, "reason")), "asked for");
  json_decref(page);
  http_answer_release(&answer);
  call(&conn,
       &(struct ask){"GET", "/v1/log?actor=cli:olga&action=key.revoke&until=2020-01-01T00:00:00Z", .key = rig->keys[0]},
       &answer);
  assert_non_null(strstr(answer.body, "{\"items\":[],\"next\":null}"));
  http_answer_release(&answer);
  call(&conn, &(struct ask){"GET", "/v1/log?actor=cli:olga&limit=1&since=2020-01-01T00:00:00Z", .key = rig->keys[0]},
       &answer);
  page = http_answer_json(&answer);
  assert_int_equal(json_array_size(json_object_get(page, "items")), 1);
  assert_non_null(json_string_value(json_object_get(page, "next")));
  json_decref(page);
  http_answer_release(&answer);
  http_conn_release(&conn);
}

static void assert_log(struct rig *rig, int status, const char *expected, const char *anchor)
{
  struct buf out;
  buf_init(&out, 4096);
  int got = anchor != NULL ? RUN(rig, &out, "log", "verify", "--anchor", anchor) : RUN(rig, &out, "log", "verify");
  if (strstr(buf_text(&out), expected) == NULL) fail_msg("expected %s, got %s", expected, buf_text(&out));
  assert_int_equal(got, status);
  buf_release(&out);
}

// Changes the log as only the owner of the database can, and takes that back.
static void assert_damage(struct rig *rig, const char *damage, const char *expected, const char *anchor)
{
  struct sql *sql = rig->stack->sql;
  sql_exec(sql,
           "create table largesse.kept as table largesse.operator_log;"
           "alter table largesse.operator_log disable trigger append_only");
  sql_exec(sql, "%s", damage);
  assert_log(rig, 1, expected, anchor);
  sql_exec(sql,
           "delete from largesse.operator_log; insert into largesse.operator_log table largesse.kept;"
           "update largesse.operator_log_head h set seq = l.seq, hash = l.hash from (select * from "
           "largesse.operator_log order by seq desc limit 1) l;"
           "alter table largesse.operator_log enable trigger append_only; drop table largesse.kept");
}

static void whoever_changes_the_log_is_found_out(void **state)
{
  struct rig *rig = *state;
  struct sql *sql = rig->stack->sql;
  sql_exec(sql,
           "select largesse.log_append('o\"\\x', 'test.made', E'tab\\tline\\nbell\\x07', 'größer – 大', '{\"a\": 1}')");
  char *anchor = sql_text(sql, "select seq || ':' || encode(hash, 'hex') from largesse.operator_log_head");
  int64_t last = sql_int(sql, "select seq from largesse.operator_log_head");
  assert_true(last > 8);
  assert_log(rig, 0, "log: whole, ", anchor);
  assert_string_equal(sql_try(sql, "delete from largesse.operator_log where seq = 3"), "55000");
  assert_string_equal(sql_try(sql, "update largesse.operator_log set reason = 'x'"), "55000");
  assert_string_equal(sql_try(sql, "truncate largesse.operator_log"), "55000");
  assert_damage(rig, "update largesse.operator_log set reason = 'another' where seq = 4",
                "log: broken at row 4: its content was changed", NULL);
  assert_damage(rig, "update largesse.operator_log set at = at + interval '1 microsecond' where seq = 5",
                "log: broken at row 5: its content was changed", NULL);
  assert_damage(rig, "delete from largesse.operator_log where seq = 6", "log: broken at row 6: this row is missing",
                NULL);
  assert_damage(rig, "delete from largesse.operator_log where seq in (6, 7)",
                "log: broken at row 6: this row and those up to 7 are missing", NULL);
  // A row that is changed together with its own hash no longer fits the one behind it.
  assert_damage(rig,
                "update largesse.operator_log l set actor = 'x', hash = largesse.log_hash(l.hash_before, l.seq, l.at, "
                "'x', l.action, l.target, l.reason, l.detail) where seq = 4",
                "log: broken at row 5: it does not follow row 4", NULL);
  assert_damage(
      rig,
      "update largesse.operator_log set seq = -seq where seq > 3;"
      "insert into largesse.operator_log select 4, at, 'x', action, target, reason, detail, hash, "
      "largesse.log_hash(hash, 4, at, 'x', action, target, reason, detail) from largesse.operator_log where seq "
      "= 3; update largesse.operator_log set seq = 1 - seq where seq < 0",
      "log: broken at row 5: it does not follow row 4: a row was put in between", NULL);
  assert_damage(rig, "delete from largesse.operator_log l using largesse.operator_log_head h where l.seq = h.seq",
                "the end of the log was cut off, its head says", NULL);
  // Cut off together with its head, only what was noted elsewhere tells.
  static const char cut[] =
      "delete from largesse.operator_log l using largesse.operator_log_head h where l.seq = h.seq; update "
      "largesse.operator_log_head h set seq = l.seq, hash = l.hash from (select * from largesse.operator_log order by "
      "seq desc limit 1) l";
  assert_damage(rig, cut, "the end of the log was cut off, the anchor says", anchor);
  assert_damage(
      rig,
      "update largesse.operator_log l set actor = 'x', hash = largesse.log_hash(l.hash_before, l.seq, l.at, "
      "'x', l.action, l.target, l.reason, l.detail) from largesse.operator_log_head h where l.seq = h.seq;"
      "update largesse.operator_log_head h set hash = l.hash from largesse.operator_log l where l.seq = h.seq",
      "the log was written anew", anchor);
  // So do the reports of nights, which note what was the newest row.
  sql_exec(sql,
           "insert into largesse.night (business_date, time_zone, from_at, until_at, state, token, started_at, "
           "finished_at, report, moment) select '2026-01-02', 'UTC', now(), now(), 'done', 1, now(), now(), '{}', "
           "json_build_object('log', json_build_object('seq', seq, 'hash', encode(hash, 'hex')))::text from "
           "largesse.operator_log_head");
  assert_log(rig, 0, "log: whole, ", NULL);
  assert_damage(rig, cut, "it is not the row that the report of 2026-01-02 notes", NULL);
  assert_damage(rig, "update largesse.operator_log_head set hash = sha256('x')",
                "the head of the log names another row", NULL);
  assert_log(rig, 0, "log: whole, ", anchor);
  mem_free(anchor);
}

// --- without the database

static int status_with(const struct rig *rig, const char *key, const char *session)
{
  return ASK(rig->stack->reconciler_port, "GET", "/v1/session", .key = key, .session = session);
}

static void known_keys_go_on_while_the_database_is_away(void **state)
{
  struct rig *rig = *state;
  struct stack *s = rig->stack;
  char key[KEY_BYTES];
  struct session session;
  static const char stranger[] = "lg_BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB";
  sign_in(s->reconciler_port, rig->keys[4], NULL, NULL, &session);
  assert_int_equal(status_with(rig, rig->keys[0], NULL), 200);
  add_key(rig, "late", "read", key);
  sql_exec(s->sql, "update pg_database set datallowconn = false where datname = '%s'", s->database);
  sql_exec(s->sql,
           "select pg_terminate_backend(pid) from pg_stat_activity where datname = '%s' and pid <> pg_backend_pid()",
           s->database);
  WAIT_FOR(status_with(rig, stranger, NULL) == 503, 10);
  assert_int_equal(status_with(rig, rig->keys[0], NULL), 200);
  assert_int_equal(status_with(rig, "lg_short", NULL), 401);
  assert_int_equal(status_with(rig, NULL, session.cookie), 503);
  sql_exec(s->sql, "update pg_database set datallowconn = true where datname = '%s'", s->database);
  WAIT_FOR(status_with(rig, key, NULL) == 200, 20);
  assert_int_equal(status_with(rig, stranger, NULL), 401);
  WAIT_FOR(status_with(rig, NULL, session.cookie) == 200, 20);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_route_asks_for_its_scope),
      cmocka_unit_test(keys_hold_at_once_and_until_they_expire_or_are_revoked),
      cmocka_unit_test(no_key_is_in_a_log),
      cmocka_unit_test(people_act_with_a_token_and_a_reason),
      cmocka_unit_test(all_reconcilers_share_sessions),
      cmocka_unit_test(a_revoked_key_ends_its_sessions_at_once),
      cmocka_unit_test(guessing_is_slowed_down),
      cmocka_unit_test(what_people_do_is_on_record),
      cmocka_unit_test(whoever_changes_the_log_is_found_out),
      cmocka_unit_test(known_keys_go_on_while_the_database_is_away),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
