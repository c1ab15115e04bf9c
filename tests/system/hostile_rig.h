// SPDX-License-Identifier: Apache-2.0
// What the programs with a hostile provider share: its profile, users' clicks, and the comparison of what the claims
// came to with what their fates had in store. One thread; what goes wrong outside the thing under test ends the
// program.
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "common/mem.h"
#include "common/text.h"
#include "tests/support/claims.h"
#include "tests/support/http.h"
#include "tests/support/provider_yaml.h"
#include "tests/support/simulator.h"
#include "tests/support/stack.h"
#include "tests/support/support.h"

#define HOSTILE_CLICKS_AT_ONCE 100
#define HOSTILE_LEDGER_PAGE    2000

#define HOSTILE_DELIVER \
  SIMULATOR_ELSEWHERE SIMULATOR_DELIVER("'2xx /status=FAILED': refused, ") \
  "      total_timeout: 1s\n"                                                                                      \
  "      connect_timeout: 1s\n"                                                                                    \
  "      not_found_after: 2s\n"                                                                                    \
  "      ladder: [400ms, 800ms, 1200ms, 2s]\n"                                                                     \
  "      retry_after_max: 3s\n"                                                                                    \
  "      attempts: 8\n"                                                                                            \
  "      concurrency: 256\n"                                                                                       \
  "      prefetch: 64\n"                                                                                           \
  "      breaker: { failure_ratio: 0 }\n"

// simulator can be asked and applies every POST; simulator-b cannot be asked but takes each request id once.
static const char hostile_config[] =
    "scheduler:\n"
    "  claims:\n"
    "    sweep_after: 2s\n"
    "  sweep:\n"
    "    every: 200ms\n"
    "    base: 2s\n"
    "fulfiller:\n"
    "  providers:\n"
    "    simulator:\n" HOSTILE_DELIVER SIMULATOR_INQUIRE
    "      reverse: { path: '/credits/${claim.id}/reverse', body: '{\"refundId\": \"${claim.requestId}\"}' }\n"
    "      inquire_reverse: { path: '/credits/${claim.id}/reverse/${claim.requestId}' }\n"
    "      pending_poll: 700ms\n"
    "    simulator-b:\n" HOSTILE_DELIVER "      repeat_is_safe: true\n";

static inline uint64_t hostile_seed(void)
{
  const char *given = getenv("LARGESSE_SEED");
  uint64_t seed = (uint64_t)time(NULL);
  if (given != NULL && text_to_u64(given, strlen(given), &seed) != RESULT_OK)
    support_die("LARGESSE_SEED must be a number");
  print_message("seed %llu\n", (unsigned long long)seed);
  return seed;
}

// Every change of a claim's state is written down by the database itself, to be looked at in the end.
static inline void hostile_watch_states(struct sql *sql)
{
  sql_exec(sql,
           "create schema watch; create table watch.move (activity_id bigint, claim_id bigint, from_status text,"
           " to_status text, at timestamptz default clock_timestamp());"
           "create function watch.note() returns trigger language plpgsql security definer as $$ begin"
           " insert into watch.move values (new.activity_id, new.id, old.status, new.status); return null; end $$;"
           "create trigger watch after update on largesse.claim for each row"
           " when (old.status is distinct from new.status) execute function watch.note()");
}

static inline struct stack *hostile_stack(struct server *server, const char *const *env)
{
  char *path = support_write("hostile.yaml", "%s", hostile_config);
  struct stack *s = stack_start(server, &(struct stack_options){.config = path, .env = env});
  hostile_watch_states(s->sql);
  mem_free(path);
  return s;
}

static inline void hostile_chaos(int port, uint64_t seed, const char *mix)
{
  struct http_answer answer;
  char *body = support_format("{\"seed\":%llu,\"slowMs\":1500,\"lateMs\":8000%s%s}", (unsigned long long)seed,
                              mix == NULL ? "" : ",\"mix\":", mix == NULL ? "" : mix);
  http_post(port, "/sim/chaos", body, &answer);
  if (answer.status != 200) support_die("POST /sim/chaos %s: %d %s", body, answer.status, answer.body);
  http_answer_release(&answer);
  mem_free(body);
}

// Users first … last, one click each.
static inline void hostile_claim(struct stack *s, const char *activity, int64_t first, int64_t last)
{
  static struct claim_click clicks[HOSTILE_CLICKS_AT_ONCE];
  static struct claim_answer answers[HOSTILE_CLICKS_AT_ONCE];
  while (first <= last) {
    size_t count = 0;
    for (; count < HOSTILE_CLICKS_AT_ONCE && first <= last; count++, first++)
      clicks[count] = claim_click(s->scheduler_ports[0], activity, first, "u-%lld", (long long)first);
    claim_send_all(clicks, count, answers);
    size_t accepted = claim_count(answers, count, 201, NULL);
    if (accepted != count) support_die("%zu of %zu claims accepted in %s", accepted, count, activity);
  }
}

// Claims that something will still happen to: neither at their end nor waiting for a person.
static inline int64_t hostile_open(struct stack *s)
{
  return sql_int(s->sql,
                 "select count(*) from largesse.claim where next_attempt_at is not null or lease_until is not null"
                 " or (status = 'issuing' and review_since is null)");
}

static inline char *hostile_open_text(struct stack *s)
{
  return sql_table(
      s->sql,
      "select activity_id || '-' || id, user_id, status, step, outcome, attempts, sweeps, lease_until - now(),"
      " next_attempt_at - now() from largesse.claim where next_attempt_at is not null or lease_until is not"
      " null or (status = 'issuing' and review_since is null) order by 1 limit 10");
}

static inline void hostile_wait(struct stack *s, double seconds)
{
  struct waiting w = waiting_start(seconds);
  while (hostile_open(s) > 0) {
    if (!waiting_more(&w))
      fail_msg(
          "%lld claims are open after %.0f s; claim, user, status, step, outcome, attempts, sweeps, lease, due:\n%s",
          (long long)hostile_open(s), seconds, hostile_open_text(s));
  }
}

// On a busy machine the success of "paidAfterAll" is heard before its failure has been believed, in a callback or by
// asking: then it is no late news, the claim has rightly succeeded, and its fate is called "paidInTime". Their users
// are kept as hostile_early.
static inline void hostile_notice_early(struct stack *s)
{
  sql_exec(s->sql,
           "update hostile_ledger l set fate = 'paidInTime', ending = 'succeeded' where l.fate = 'paidAfterAll'"
           "   and (exists (select from largesse.callback b"
           "                 where b.request_id = l.claim_id and b.outcome = 'done' and b.state = 'applied')"
           "     or exists (select from largesse.attempt t"
           "                 where t.activity_id = split_part(l.claim_id, '-', 1)::bigint"
           "                   and t.claim_id = split_part(l.claim_id, '-', 2)::bigint"
           "                   and t.step = 'inquire' and t.outcome = 'done'));"
           "create temporary table if not exists hostile_early (user_id bigint);"
           "insert into hostile_early select c.user_id from hostile_ledger l join largesse.claim c"
           "  on l.fate = 'paidInTime' and c.activity_id = split_part(l.claim_id, '-', 1)::bigint"
           "     and c.id = split_part(l.claim_id, '-', 2)::bigint");
}

// The provider's books as the temporary table hostile_ledger.
static inline void hostile_import(struct stack *s, int port)
{
  sql_exec(s->sql,
           "drop table if exists hostile_ledger; create temporary table hostile_ledger (claim_id text, hits bigint,"
           " effects bigint, reversals bigint, fate text, ending text)");
  for (size_t after = 0, count = HOSTILE_LEDGER_PAGE; count == HOSTILE_LEDGER_PAGE; after += count) {
    struct http_answer answer;
    char *path = support_format("/sim/ledger?limit=%d&after=%zu", HOSTILE_LEDGER_PAGE, after);
    http_get(port, path, &answer);
    if (answer.status != 200) support_die("GET %s: %d", path, answer.status);
    char *quoted = sql_quote(s->sql, answer.body);
    sql_exec(s->sql,
             "insert into hostile_ledger select j->>'requestId', (j->>'hits')::bigint, (j->>'effects')::bigint,"
             " (j->>'reversals')::bigint, j->>'fate', j->>'end' from jsonb_array_elements(%s::jsonb) j",
             quoted);
    json_t *page = http_answer_json(&answer);
    count = json_array_size(page);
    json_decref(page);
    http_answer_release(&answer);
    mem_free(quoted);
    mem_free(path);
  }
  hostile_notice_early(s);
}

// What each claim of the activity came to, and whether that was its fate's end; what does not fit, at most 20 lines.
static inline char *hostile_faults(struct stack *s, const char *activity)
{
  return sql_table(
      s->sql,
      "select claim_id, user_id, fate, 'meant ' || ending, 'is ' || came_to, 'effects ' || effects, 'reversals ' ||"
      "       reversals, 'hits ' || hits, review_cause, failure_code, attempts"
      "  from (select c.activity_id || '-' || c.id as claim_id, c.user_id, c.review_cause, c.failure_code, c.attempts,"
      "               l.fate, l.ending, coalesce(l.effects, 0) as effects, coalesce(l.reversals, 0) as reversals, "
      "l.hits,"
      "               case when c.review_since is not null then 'review'"
      "                    when c.status = 'failed' and l.effects > 0 then 'reversed' else c.status end as came_to"
      "          from largesse.claim c join largesse.activity a on a.id = c.activity_id and a.code = '%s'"
      "          left join hostile_ledger l on l.claim_id = c.activity_id || '-' || c.id) x"
      " where came_to is distinct from ending or effects > 1"
      "    or effects - reversals <> case came_to when 'succeeded' then 1 else 0 end order by fate, user_id limit 20",
      activity);
}

// Moves that no state machine allows: out of a final state, or a second one where there is only one.
static inline char *hostile_moves_back(struct stack *s)
{
  return sql_table(
      s->sql,
      "select m.claim_id, string_agg(m.from_status || '>' || m.to_status, ' ' order by m.at) from watch.move m"
      " group by m.activity_id, m.claim_id"
      " having count(*) > 1 or bool_or((m.from_status, m.to_status) not in"
      "   (('issuing', 'succeeded'), ('issuing', 'failed'))) limit 20");
}

static inline void hostile_assert_none(const char *what, char *rows)
{
  if (rows[0] != '\0') fail_msg("%s:\n%s", what, rows);
  mem_free(rows);
}

static inline void hostile_assert_audit_is_clean(struct stack *s)
{
  struct buf out;
  buf_init(&out, 1024 * 1024);
  int status = stack_command(s, "reconciler", (const char *[]){"audit", "--all", NULL}, &out);
  if (status != 0) fail_msg("the audit ends with %d:\n%s", status, buf_text(&out));
  buf_release(&out);
}
