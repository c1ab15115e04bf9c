// SPDX-License-Identifier: Apache-2.0
// Activities that are over become files: exported, verified, refused when they were tampered with; a month's claims are
// detached once nothing stands against it, also after an interruption, and brought back. Meanwhile everybody who asks
// for such a claim hears what was, and reports stay what they were.
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <time.h>
#include <unistd.h>

#include "common/mem.h"
#include "common/signature.h"
#include "tests/support/claims.h"
#include "tests/support/http.h"
#include "tests/support/stack.h"
#include "tests/support/support.h"

#define CLAIMS 30
#define NOTE   "the month 2026-02 is archived and detached"

struct rig {
  struct stack *stack;
  char *directory;
  struct buf out;  // of the last command
};

static int set_up(void **state)
{
  static struct rig rig;
  static const char *const env[] = {"LARGESSE_RECONCILER__NIGHT__ENABLED=false",
                                    "LARGESSE_RECONCILER__ARCHIVE__DETACH_AFTER=30d", NULL};
  rig.stack = stack_start(server_start(), &(struct stack_options){.test_clock = true, .env = env});
  char *logs = support_log_dir();
  rig.directory = support_format("%s/archive", logs);
  mem_free(logs);
  buf_init(&rig.out, 1024 * 1024);
  *state = &rig;
  return 0;
}

static int tear_down(void **state)
{
  struct rig *rig = *state;
  struct server *server = rig->stack->server;
  stack_free(rig->stack);
  server_free(server);
  mem_free(rig->directory);
  buf_release(&rig->out);
  return 0;
}

static void clock_to(struct stack *s, const char *instant)
{
  sql_exec(s->sql, "select largesse.clock_set(timestamptz '%s' - clock_timestamp())", instant);
}

static struct sql *open_session(struct stack *s)
{
  char *conninfo = server_conninfo(s->server, s->database);
  struct sql *sql = sql_open(conninfo);
  mem_free(conninfo);
  return sql;
}

// A command of the reconciler; its exit status. Words are separated by blanks.
static int command(struct rig *rig, const char *format, ...) PRINTF_LIKE(2, 3);
static int command(struct rig *rig, const char *format, ...)
{
  char line[1024], *words[24], *rest = line, *word;
  size_t n = 0;
  va_list ap;
  va_start(ap, format);
  (void)vsnprintf(line, sizeof line, format, ap);
  va_end(ap);
  while ((word = strsep(&rest, " ")) != NULL && n + 1 < ARRAY_LEN(words)) words[n++] = word;
  words[n] = NULL;
  buf_clear(&rig->out);
  return stack_command(rig->stack, "reconciler", (const char *const *)words, &rig->out);
}

#define EXPECT(rig, status, text, ...)                                                                    \
  do {                                                                                                    \
    int got = command(rig, __VA_ARGS__);                                                                  \
    if (got != (status) || strstr(buf_text(&(rig)->out), text) == NULL)                                   \
      fail_msg("exit %d instead of %d, or without \"%s\": %s", got, status, text, buf_text(&(rig)->out)); \
  } while (0)

static int shell(const char *format, ...) PRINTF_LIKE(1, 2);
static int shell(const char *format, ...)
{
  char line[2048];
  va_list ap;
  va_start(ap, format);
  (void)vsnprintf(line, sizeof line, format, ap);
  va_end(ap);
  const char *const argv[] = {"/bin/sh", "-c", line, NULL};
  return process_run(argv, NULL, 30, NULL, NULL);
}

static char *path_of(struct stack *s, const char *code)
{
  return sql_text(
      s->sql,
      "select x.path from largesse.archive x join largesse.activity a on a.id = x.activity_id where a.code = '%s'",
      code);
}

// --- cases, in the order of a campaign's life

static void what_is_over_becomes_a_file(void **state)
{
  struct rig *rig = *state;
  struct stack *s = rig->stack;
  clock_to(s, "2026-02-10 12:00Z");
  activity_make(s->sql, &(struct activity_terms){.code = "spring", .stock = 100});
  activity_make(s->sql, &(struct activity_terms){.code = "other", .stock = 10});
  struct claim_click clicks[CLAIMS];
  struct claim_answer answers[CLAIMS];
  for (int i = 0; i < CLAIMS; i++) clicks[i] = claim_click(s->scheduler_ports[0], "spring", 100 + i, "s%d", i);
  claim_send_all(clicks, CLAIMS, answers);
  assert_int_equal(claim_count(answers, CLAIMS, 201, NULL), CLAIMS);
  EXPECT(rig, 65, "spring: it is ", "archive export spring --output %s", rig->directory);
  WAIT_FOR(sql_int(s->sql, "select count(*) from largesse.claim where status = 'succeeded'") == CLAIMS, 20);
  clock_to(s, "2026-02-10 14:00Z");
  WAIT_FOR(sql_int(s->sql, "select count(*) from largesse.activity where status = 'finished'") == 2, 20);
  clock_to(s, "2026-02-12 12:00Z");
  EXPECT(rig, 0, "2026-02-10", "report night 2026-02-10");
  EXPECT(rig, 64, "--output", "archive export spring");
  EXPECT(rig, 65, "there is no activity nobody", "archive export nobody --output %s", rig->directory);
  EXPECT(rig, 0, "spring: exported and verified, ", "archive export spring --output %s --reason over", rig->directory);
  assert_int_equal(sql_int(s->sql, "select count(*) from largesse.activity where status = 'archived'"), 1);
  char *path = path_of(s, "spring");
  assert_int_equal(shell("test $(gzip -dc %s | grep -c '^{\"table\":\"claim\"') = %d", path, CLAIMS), 0);
  assert_int_equal(shell("test $(gzip -dc %s | grep -c '^{\"table\":\"attempt\"') -ge %d", path, CLAIMS), 0);
  assert_int_equal(shell("! ls -A %s/2026-02 | grep part", rig->directory), 0);
  EXPECT(rig, 0, "spring: verified, ", "archive verify %s", path);
  EXPECT(rig, 0, "\"left\":[]", "archive verify %s --format json", path);
  mem_free(path);
}

static void a_tampered_file_is_refused(void **state)
{
  struct rig *rig = *state;
  char *path = path_of(rig->stack, "spring"), *copy = support_format("%s/copy.gz", rig->directory);
  assert_int_equal(shell("gzip -dc %s | sed 's/\"user_id\":101,/\"user_id\":901,/' | gzip >%s", path, copy), 0);
  EXPECT(rig, 65, "the rows of table ", "archive verify %s --file-only", copy);
  assert_int_equal(shell("gzip -dc %s | sed '0,/\"table\":\"claim\"/{/\"table\":\"claim\"/d}' | gzip >%s", path, copy),
                   0);
  EXPECT(rig, 65, "table claim has 29 rows, its manifest says 30", "archive verify %s", copy);
  assert_int_equal(shell("gzip -dc %s | grep -v '^{\"manifest\"' | gzip >%s", path, copy), 0);
  EXPECT(rig, 65, "no manifest", "archive verify %s", copy);
  assert_int_equal(shell("head -c 2000 %s >%s", path, copy), 0);
  EXPECT(rig, 65, "copy.gz: unexpected end of file", "archive verify %s", copy);
  assert_int_equal(shell("gzip -dc %s >%s", path, copy), 0);
  EXPECT(rig, 65, "not compressed", "archive verify %s", copy);
  assert_int_equal(shell("gzip -dc %s | gzip -1 >%s", path, copy), 0);
  EXPECT(rig, 0, "the file is whole", "archive verify %s --file-only", copy);
  EXPECT(rig, 65, "not the export on record", "archive verify %s", copy);
  EXPECT(rig, 74, "cannot read", "archive verify %s.gone", copy);
  // Rows that were changed by hand, in a way that no counter shows.
  sql_exec(rig->stack->sql, "update largesse.claim set channel = 'X' where biz_id = 's1'");
  EXPECT(rig, 65, "the rows of table claim have changed since", "archive verify %s", path);
  sql_exec(rig->stack->sql, "update largesse.claim set channel = null where biz_id = 's1'");
  EXPECT(rig, 0, "verified", "archive verify %s", path);
  mem_free(path);
  mem_free(copy);
}

static void what_stands_against_a_month_is_told(void **state)
{
  struct rig *rig = *state;
  struct stack *s = rig->stack;
  sql_exec(s->sql,
           "insert into largesse.dead_letter (activity_id, claim_id, provider, cause, opened_at)"
           " select id, 1, 'simulator', 'test', largesse.clock_now() from largesse.activity where code = 'other'");
  EXPECT(rig, 65, "other: 1 open dead letters", "archive export --finished-before 2026-02-12 --output %s",
         rig->directory);
  EXPECT(rig, 65, "the month has not been over for 30 days", "archive detach 2026-02");
  EXPECT(rig, 65, "other: was not exported", "archive detach 2026-02 --apply --reason old");
  sql_exec(s->sql, "delete from largesse.dead_letter");  // it spoke of a claim that never was
  struct sql *exporter = open_session(s);
  sql_exec(exporter, "select pg_advisory_lock(hashtextextended('largesse.archive.other', 0))");
  EXPECT(rig, 75, "somebody is exporting it", "archive export other --output %s", rig->directory);
  sql_close(exporter);
  // What an export has left that was killed goes with the next one; that of another activity stays.
  assert_int_equal(shell("cd %s/2026-02 && touch other-20260212T120000.000000Z.jsonl.gz.part "
                         "other-x-20260212T120000.000000Z.jsonl.gz.part",
                         rig->directory),
                   0);
  EXPECT(rig, 0, "other: exported", "archive export --finished-before 2026-02-12 --output %s", rig->directory);
  clock_to(s, "2026-05-10 12:00Z");
  assert_int_equal(
      shell("cd %s/2026-02 && test \"$(ls *.part)\" = other-x-20260212T120000.000000Z.jsonl.gz.part", rig->directory),
      0);
  EXPECT(rig, 0, "nothing stands against it", "archive detach 2026-02");
  EXPECT(rig, 64, "--reason", "archive detach 2026-02 --apply");
  char *path = path_of(s, "other");
  assert_int_equal(shell("mv %s %s.away", path, path), 0);
  EXPECT(rig, 74, "cannot read", "archive detach 2026-02 --apply --reason old");
  assert_int_equal(shell("mv %s.away %s", path, path), 0);
  assert_int_equal(sql_int(s->sql, "select count(*) from largesse.archive_month"), 0);
  mem_free(path);
}

// One partition is out, the other one is half out, since somebody still looks at it when the command is ended.
static void interrupt_detaching(struct stack *s)
{
  struct sql *reader = open_session(s);
  sql_exec(s->sql, "select largesse.archive_seal(largesse.archive_month_number('2026-02'), '30 days', 'test', 'old')");
  sql_exec(s->sql, "alter table largesse.usage detach partition largesse.usage_202602 concurrently");
  sql_exec(reader, "begin; select count(*) from largesse.claim");
  // A busy machine may not have come to the waiting within the first time.
  char *states = NULL;
  for (int ms = 300; ms < 30000 && (states == NULL || strstr(states, "pending") == NULL); ms *= 4) {
    mem_free(states);
    sql_exec(s->sql, "set statement_timeout = '%dms'", ms);
    assert_string_equal(
        sql_try(s->sql, "alter table largesse.claim detach partition largesse.claim_202602 concurrently"), "57014");
    sql_exec(s->sql, "set statement_timeout = 0");
    states = sql_text(
        s->sql,
        "select string_agg(state, ' ') from largesse.archive_partitions(largesse.archive_month_number('2026-02'))");
  }
  sql_close(reader);
  assert_string_equal(states, "loose pending");
  mem_free(states);
}

static void an_interrupted_detaching_is_gone_on_with(void **state)
{
  struct rig *rig = *state;
  struct stack *s = rig->stack;
  interrupt_detaching(s);
  EXPECT(rig, 65, "was interrupted", "archive attach 2026-02 --reason wait");
  struct sql *other = open_session(s);
  sql_exec(other, "select pg_advisory_lock(hashtextextended('largesse.archive.2026-02', 0))");
  EXPECT(rig, 75, "somebody else", "archive detach 2026-02 --apply --reason old");
  sql_close(other);
  EXPECT(rig, 0, "2026-02: detached", "archive detach 2026-02 --apply --reason old");
  EXPECT(rig, 65, "detached already", "archive detach 2026-02 --apply --reason old");
  assert_int_equal(activity_claims(s->sql, "spring"), 0);
  EXPECT(rig, 0, "\"state\":\"detached\"", "archive list --month 2026-02 --format json");
}

static int late_callback(struct stack *s)
{
  char secret[256] = "", *body;
  FILE *f = fopen(s->callback_secret, "re");
  assert_non_null(f);
  assert_non_null(fgets(secret, sizeof secret, f));
  (void)fclose(f);
  secret[strcspn(secret, "\r\n")] = '\0';
  body = sql_text(s->sql,
                  "select json_build_object('eventId', 'late', 'requestId', a.id || '-' || "
                  "(largesse.archive_claim(a.id, null, 's1')).id,"
                  " 'status', 'SUCCESS', 'ref', 'r', 'occurredAt', '2026-02-10T12:00:00Z')::text from "
                  "largesse.activity a where a.code = 'spring'");
  struct signature *signature = signature_new();
  struct buf header;
  buf_init(&header, 512);
  int64_t at = time(NULL);  // one instant, signed and told
  signature_webhook_sign(signature, secret, strlen(secret), "late", at, body, strlen(body), &header);
  char *headers = support_format("webhook-id: late\r\nwebhook-timestamp: %lld\r\nwebhook-signature: %s\r\n",
                                 (long long)at, buf_text(&header));
  struct http_answer answer;
  http_call(&(struct http_request){.port = s->fulfiller_port,
                                   .method = "POST",
                                   .path = "/v1/callbacks/simulator",
                                   .body = body,
                                   .headers = headers},
            &answer);
  int status = answer.status;
  http_answer_release(&answer);
  signature_free(signature);
  buf_release(&header);
  mem_free(headers);
  mem_free(body);
  return status;
}

static void who_asks_for_a_claim_hears_what_was(void **state)
{
  struct rig *rig = *state;
  struct stack *s = rig->stack;
  struct claim_click click = claim_click(s->scheduler_ports[0], "spring", 101, "s1");
  struct claim_answer answer = claim_send(&click);
  assert_int_equal(answer.status, 200);
  assert_true(answer.replayed);
  assert_string_equal(answer.claim_status, "succeeded");
  click.user = 102;
  assert_int_equal(claim_send(&click).status, 422);
  click = claim_click(s->scheduler_ports[0], "spring", 999, "new");
  assert_int_equal(claim_send(&click).status, 410);
  json_t *doc = NULL;
  assert_int_equal(http_json(s->scheduler_ports[0], "GET", "/v1/claims/spring/s1", NULL, &doc), 200);
  assert_string_equal(json_string_value(json_object_get(doc, "status")), "succeeded");
  json_decref(doc);
  assert_int_equal(http_json(s->scheduler_ports[0], "GET", "/v1/claims/spring/s99", NULL, &doc), 404);
  json_decref(doc);
  assert_int_equal(late_callback(s) / 100, 2);
  assert_true(sql_bool(
      s->sql,
      "select exists (select from largesse.dead_letter where cause = 'callback_unmatched' and detail like '%%%s%%')",
      NOTE));
}

static void audits_and_reports_know_of_it(void **state)
{
  struct rig *rig = *state;
  EXPECT(rig, 65, NOTE, "audit --activity spring");
  EXPECT(rig, 65, NOTE, "audit --date 2026-02-10");
  EXPECT(rig, 0, "detached: 2026-02", "audit --all");
  EXPECT(rig, 0, "\"figuresUnchanged\"", "report night 2026-02-10 --again --format json");  // 1 if they differed
  char *path = path_of(rig->stack, "spring");
  EXPECT(rig, 0, "verified", "archive verify %s", path);
  mem_free(path);
}

static void a_month_is_brought_back(void **state)
{
  struct rig *rig = *state;
  struct stack *s = rig->stack;
  EXPECT(rig, 64, "--reason", "archive attach 2026-02");
  EXPECT(rig, 0, "2026-02: attached", "archive attach 2026-02 --reason question");
  EXPECT(rig, 0, "attached already", "archive attach 2026-02 --reason question");
  assert_int_equal(activity_claims(s->sql, "spring"), CLAIMS);
  EXPECT(rig, 0, "", "audit --activity spring");
  EXPECT(rig, 0, "\"figuresUnchanged\"", "report night 2026-02-10 --again --format json");  // 1 if they differed
  char *path = path_of(s, "spring");
  EXPECT(rig, 0, "verified", "archive verify %s", path);
  mem_free(path);
  char *log = sql_table(s->sql,
                        "select action, target, reason from largesse.operator_log where action in ('activity.export', "
                        "'partition.detach', 'partition.attach') order by seq");
  assert_string_equal(log,
                      "activity.export|spring|over\nactivity.export|other|\npartition.detach|2026-02|old\npartition."
                      "attach|2026-02|question\n");
  mem_free(log);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_is_over_becomes_a_file),
      cmocka_unit_test(a_tampered_file_is_refused),
      cmocka_unit_test(what_stands_against_a_month_is_told),
      cmocka_unit_test(an_interrupted_detaching_is_gone_on_with),
      cmocka_unit_test(who_asks_for_a_claim_hears_what_was),
      cmocka_unit_test(audits_and_reports_know_of_it),
      cmocka_unit_test(a_month_is_brought_back),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
