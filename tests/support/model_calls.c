// SPDX-License-Identifier: Apache-2.0
// One call each, made to the database and to the model, and the answers compared; see model_run.h.
#include <stdio.h>
#include <string.h>

#include "common/mem.h"
#include "common/text.h"
#include "tests/support/model_run.h"
#include "tests/support/support.h"

static const char *const channels[] = {"APP", "WEB", "MINI"};
static const char *const steps[] = {"-",      "deliver",        "inquire", "charge",         "inquire_charge",
                                    "refund", "inquire_refund", "reverse", "inquire_reverse"};
static const char *const outcomes[] = {"done", "refused", "retry", "pending", "unknown"};

static const struct model_activity *activity_of(const struct model_run *run, int claim)
{
  return &run->m.activities[run->m.claims[claim].activity];
}

static const char *channel_text(int channel) { return channel < 0 ? "null" : channels[channel]; }

// --- claims

static void note_request(struct model_run *run, int activity, const struct model_request *r, const char *answer)
{
  char numbers[64] = "";
  for (int n = 0; n < r->number_count; n++)
    (void)snprintf(numbers + strlen(numbers), sizeof numbers - strlen(numbers), " #%d", r->numbers[n]);
  model_note(run, "%s: claim b%d of user %d, %d units, channel %s%s: %s", run->m.activities[activity].code, r->biz,
             r->user, r->quantity, channel_text(r->channel), numbers, answer);
}

// What the database should answer, with the claim's id where the model knows it.
static void expected_answer(const struct model_run *run, const struct model_verdict *v, int64_t id, char out[80])
{
  const char *more = "-";
  char rule[24];
  if (strcmp(v->code, "ACCEPTED") == 0 || strcmp(v->code, "REPLAYED") == 0) more = model_status_name(v->status);
  if (strcmp(v->code, "LIMIT_REACHED") == 0) {
    (void)snprintf(rule, sizeof rule, "limit.%s", model_period_name(v->period));
    more = rule;
  }
  if (v->claim >= 0) id = run->m.claims[v->claim].id;
  if (id == 0)
    (void)snprintf(out, 80, "%s - %s", v->code, more);
  else
    (void)snprintf(out, 80, "%s %lld %s", v->code, (long long)id, more);
}

static void compare_answer(struct model_run *run, int activity, const struct model_request *r, const char *answer)
{
  struct model_verdict v = model_judge(&run->m, activity, r);
  char expected[80];
  int64_t id = 0;
  note_request(run, activity, r, answer);
  if (strcmp(v.code, "ACCEPTED") == 0) {
    const char *at = strchr(answer, ' ');
    const char *end = at == NULL ? NULL : strchr(at + 1, ' ');
    if (end != NULL && text_to_i64(at + 1, (size_t)(end - at - 1), &id) != RESULT_OK) id = 0;
  }
  expected_answer(run, &v, id, expected);
  model_expect(run, "the verdict", answer, expected);
  if (strcmp(v.code, "ACCEPTED") == 0) {
    int claim = model_accept_claim(&run->m, activity, r, v.status);
    run->m.claims[claim].id = id;
    run->accepted++;
  } else if (v.claim >= 0) {
    run->known++;
  } else {
    run->refused++;
  }
}

static void put_requests(struct buf *q, int64_t id, const struct model_request *r, int count, int segment)
{
  buf_printf(q, "select probe.submit(%lld, array[", (long long)id);
  for (int i = 0; i < count; i++) buf_printf(q, "%s'b%d'", i > 0 ? "," : "", r[i].biz);
  buf_puts(q, "], array[");
  for (int i = 0; i < count; i++) buf_printf(q, "%s%d", i > 0 ? "," : "", r[i].user);
  buf_puts(q, "], array[");
  for (int i = 0; i < count; i++) buf_printf(q, "%s%d", i > 0 ? "," : "", r[i].quantity);
  buf_puts(q, "], '{");
  for (int i = 0; i < count; i++) buf_printf(q, "%s%s", i > 0 ? "," : "", channel_text(r[i].channel));
  if (r[0].number_count > 0) {
    buf_puts(q, "}', array[");
    for (int i = 0; i < count; i++)
      for (int n = 0; n < r[i].number_count; n++) buf_printf(q, "%s%d", i + n > 0 ? "," : "", i + 1);
    buf_puts(q, "], array[");
    for (int i = 0; i < count; i++)
      for (int n = r[i].number_count - 1; n >= 0; n--)
        buf_printf(q, "%s%d", i > 0 || n < r[i].number_count - 1 ? "," : "", r[i].numbers[n]);
    buf_puts(q, "], ");
  } else {
    buf_puts(q, "}', null, null, ");
  }
  if (segment < 0)
    buf_puts(q, "null)");
  else
    buf_printf(q, "%d)", segment);
}

void model_call_submit(struct model_run *run, int activity, const struct model_request *requests, int count)
{
  struct buf q;
  buf_init(&q, 64 * 1024);
  const struct model_activity *a = &run->m.activities[activity];
  int segment = a->segments > 1 ? (int)model_random(run, (uint64_t)a->segments + 1) - 1 : -1;
  put_requests(&q, a->id, requests, count, segment);
  char *answers = sql_text(run->sql, "%s", buf_text(&q));
  char *at = answers;
  for (int i = 0; i < count; i++) {
    char *end = strchr(at, ',');
    if (end != NULL) *end = '\0';
    compare_answer(run, activity, &requests[i], at);
    at = end != NULL ? end + 1 : at + strlen(at);
  }
  mem_free(answers);
  buf_release(&q);
}

void model_call_dry_run(struct model_run *run, int activity, const struct model_request *r)
{
  char numbers[64] = "null", channel[16] = "null", expected[80];
  if (r->number_count > 0) {
    (void)snprintf(numbers, sizeof numbers, "'{");
    for (int n = 0; n < r->number_count; n++)
      (void)snprintf(numbers + strlen(numbers), sizeof numbers - strlen(numbers), "%s%d", n > 0 ? "," : "",
                     r->numbers[n]);
    (void)snprintf(numbers + strlen(numbers), sizeof numbers - strlen(numbers), "}'");
  }
  if (r->channel >= 0) (void)snprintf(channel, sizeof channel, "'%s'", channels[r->channel]);
  char *answer = sql_text(run->sql, "select probe.explain('%s', 'b%d', %d, %d, %s, %s)",
                          run->m.activities[activity].code, r->biz, r->user, r->quantity, channel, numbers);
  struct model_verdict v = model_judge(&run->m, activity, r);
  bool has_status = strcmp(v.code, "ACCEPTED") == 0 || strcmp(v.code, "REPLAYED") == 0;
  (void)snprintf(expected, sizeof expected, "%s %s", v.code, has_status ? model_status_name(v.status) : "-");
  note_request(run, activity, r, "a dry run");
  model_expect(run, "the dry run", answer, expected);
  mem_free(answer);
  run->dry_runs++;
}

// --- what people do

static void claim_outcome(struct model_run *run, int claim, const char *call, bool is_ok, const char *function)
{
  const struct model_claim *c = &run->m.claims[claim];
  char *answer =
      sql_text(run->sql, "select outcome || ' ' || (doc::jsonb ->> 'status') from largesse.%s(%lld, %lld%s)", function,
               (long long)activity_of(run, claim)->id, (long long)c->id, strcmp(call, "cancel") == 0 ? ", null" : "");
  char expected[80];
  (void)snprintf(expected, sizeof expected, "%s %s", is_ok ? "ok" : "STATE_CONFLICT", model_status_name(c->status));
  model_note(run, "%s: %s %lld: %s", activity_of(run, claim)->code, call, (long long)c->id, answer);
  model_expect(run, call, answer, expected);
  mem_free(answer);
  run->moves++;
}

void model_call_cancel(struct model_run *run, int claim)
{
  claim_outcome(run, claim, "cancel", model_cancel(&run->m, claim), "claim_cancel");
}

void model_call_take_place(struct model_run *run, int claim)
{
  claim_outcome(run, claim, "accept", model_take_place(&run->m, claim), "claim_accept");
}

void model_call_roll_back(struct model_run *run, int claim)
{
  const struct model_activity *a = activity_of(run, claim);
  int64_t id = run->m.claims[claim].id;
  bool has_begun = model_reverse(&run->m, claim);
  char *answer = sql_text(run->sql, "select probe.roll_back(%lld, %lld)", (long long)a->id, (long long)id);
  model_note(run, "%s: roll back %lld: %s", a->code, (long long)id, answer);
  if (has_begun) model_expect(run, "roll-back", answer, a->has_reward ? "reversing" : "rolled_back");
  mem_free(answer);
  run->moves++;
}

void model_call_adjust(struct model_run *run, int activity, int64_t by)
{
  const struct model_activity *a = &run->m.activities[activity];
  const char *expected = model_adjust(&run->m, activity, by) ? "ok" : "STOCK_IN_USE";
  int key = run->next_key++;
  for (int i = 0; i < 2; i++) {  // the second time it is a replay, if it was done
    char *answer = sql_text(run->sql, "select outcome from largesse.stock_adjust('%s', 'k%d', %lld, 'test', 'test')",
                            a->code, key, (long long)by);
    model_note(run, "%s: adjust by %lld: %s", a->code, (long long)by, answer);
    model_expect(run, "adjustment", answer, i == 0 ? expected : "replayed");
    mem_free(answer);
    if (strcmp(expected, "ok") != 0 || !model_chance(run, 20)) break;
  }
}

void model_call_pause(struct model_run *run, int activity)
{
  struct model_activity *a = &run->m.activities[activity];
  const char *action = a->is_paused ? "resume" : "pause";
  a->is_paused = !a->is_paused;
  char *answer = sql_text(run->sql, "select outcome from largesse.activity_action('%s', '%s', 'test', 'test', null)",
                          a->code, action);
  model_note(run, "%s: %s: %s", a->code, action, answer);
  model_expect(run, action, answer, "ok");
  mem_free(answer);
}

// --- what providers say

bool model_call_take(struct model_run *run, int claim)
{
  const struct model_claim *c = &run->m.claims[claim];
  bool is_taken = model_can_take(&run->m, claim);
  char *answer =
      sql_text(run->sql, "select probe.take(%lld, %lld)", (long long)activity_of(run, claim)->id, (long long)c->id);
  model_note(run, "%s: take %lld: %s", activity_of(run, claim)->code, (long long)c->id, answer);
  const char *space = strchr(answer, ' ');
  int64_t attempt = 0;
  model_expect(run, "what is taken", space == NULL ? "" : space + 1, is_taken ? steps[c->step] : "");
  if (space != NULL && text_to_i64(answer, (size_t)(space - answer), &attempt) != RESULT_OK)
    support_die("no attempt: %s", answer);
  if (is_taken) model_take(&run->m, claim, attempt);
  mem_free(answer);
  return is_taken;
}

static void settle(struct model_run *run, int claim, const char *step, enum model_outcome outcome)
{
  const struct model_claim *c = &run->m.claims[claim];
  const struct model_activity *a = activity_of(run, claim);
  char *answer = sql_text(run->sql, "select probe.settle(%lld, %lld, %lld, '%s', '%s')", (long long)a->id,
                          (long long)c->id, (long long)c->attempt, step, outcomes[outcome]);
  model_note(run, "%s: settle %lld, %s %s: %s", a->code, (long long)c->id, step, outcomes[outcome], answer);
  if (strcmp(answer, "nothing") != 0) model_expect(run, "what is settled", answer, model_status_name(c->status));
  mem_free(answer);
  run->moves++;
}

void model_call_settle(struct model_run *run, int claim, enum model_outcome outcome)
{
  const char *step = steps[run->m.claims[claim].doing];
  model_settle(&run->m, claim, outcome);
  settle(run, claim, step, outcome);
}

void model_call_close(struct model_run *run, int claim, enum model_outcome outcome)
{
  model_close(&run->m, claim, outcome);
  settle(run, claim, "close", outcome);
}

void model_call_tell(struct model_run *run, int claim, bool is_paid)
{
  const struct model_claim *c = &run->m.claims[claim];
  const struct model_activity *a = activity_of(run, claim);
  if (is_paid)
    model_told_paid(&run->m, claim);
  else
    model_told_not_paid(&run->m, claim);
  int event = run->next_key++;
  for (int i = 0; i < 2; i++) {
    char *answer = sql_text(run->sql, "select probe.tell(%lld, %lld, '%s', 'e%d')", (long long)a->id, (long long)c->id,
                            is_paid ? "done" : "refused", event);
    model_note(run, "%s: callback about %lld, %s: %s", a->code, (long long)c->id, is_paid ? "paid" : "not paid",
               answer);
    if (i > 0) model_expect(run, "the second copy", answer, "duplicate");
    mem_free(answer);
    if (!model_chance(run, 30)) break;
  }
  run->moves++;
}

// --- time

// One activity at a time, as the worker does it.
void model_call_expire(struct model_run *run)
{
  for (char *code; (code = sql_text(run->sql, "select activity_code from largesse.claim_expire(100)")) != NULL;) {
    size_t i = 0;
    while (i < run->m.activity_count && strcmp(run->m.activities[i].code, code) != 0) i++;
    model_note(run, "%s: what is due", code);
    if (i == run->m.activity_count || !model_is_due(&run->m, (int)i))
      model_differs(run, "what is due", code, "nothing");
    model_expire_due(&run->m, (int)i);
    mem_free(code);
    run->moves++;
  }
  for (size_t i = 0; i < run->m.activity_count; i++)
    if (model_is_due(&run->m, (int)i)) model_differs(run, "what is due", "nothing", run->m.activities[i].code);
}

void model_call_clock(struct model_run *run, int64_t ms)
{
  run->m.now += ms;
  sql_exec(run->sql, "select probe.at(%lld)", (long long)run->m.now);
}
