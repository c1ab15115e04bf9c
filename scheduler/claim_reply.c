// SPDX-License-Identifier: Apache-2.0
// How a claim ended, told to caller, log and metrics. A new claim is written as largesse.claim_json does it.
// Owner: app; loop thread.
#include "scheduler/claim_reply.h"

#include <string.h>

#include "common/text.h"
#include "scheduler/admission.h"
#include "scheduler/app.h"
#include "scheduler/refusal_counts.h"

static void put_claim_id(struct buf *b, const struct claim_request *r, const struct claim_answer *a)
{
  buf_put_i64(b, r->activity->id);
  buf_putc(b, '-');
  buf_put_i64(b, a->claim_id);
}

static void put_member(struct buf *b, const char *opening, const char *text, size_t len)
{
  buf_puts(b, opening);
  buf_append(b, text, len);
}

static void put_new_claim(struct buf *b, const struct claim_request *r, const struct claim_answer *a)
{
  char at[TEXT_TIME_BYTES], next[TEXT_TIME_BYTES];
  text_from_time(a->at, at);
  text_from_time(a->next_attempt, next);
  buf_puts(b, "{\"claimId\":\"");
  put_claim_id(b, r, a);
  put_member(b, "\",\"activityCode\":\"", r->activity->code, strlen(r->activity->code));
  buf_puts(b, "\",\"userId\":\"");
  buf_put_i64(b, r->user_id);
  put_member(b, "\",\"bizId\":\"", r->biz_id, r->biz_id_len);
  put_member(b, "\",\"status\":\"", a->status, strlen(a->status));
  buf_putc(b, '"');
  if (r->activity->reward_code[0]) {
    put_member(b, ",\"rewardCode\":\"", r->activity->reward_code, strlen(r->activity->reward_code));
    buf_putc(b, '"');
  }
  buf_puts(b, ",\"quantity\":");
  buf_put_i64(b, r->quantity);
  if (r->has_channel) {
    buf_puts(b, ",\"channel\":");
    buf_put_json(b, r->channel, r->channel_len);
  }
  put_member(b, ",\"createdAt\":\"", at, strlen(at));
  put_member(b, "\",\"updatedAt\":\"", at, strlen(at));
  buf_putc(b, '"');
  if (strcmp(a->status, "issuing") == 0) {
    put_member(b, ",\"delivery\":{\"attempts\":0,\"nextAttemptAt\":\"", next, strlen(next));
    buf_puts(b, "\"}");
  }
  buf_putc(b, '}');
}

// Where to ask, and how many stand before it.
static void reply_queued(struct app *app, const struct claim_request *r, const struct claim_answer *a)
{
  struct buf *b = &app->scratch;
  buf_clear(b);
  buf_printf(b, "/v1/claims/%s/%s", r->activity->code, r->biz_id);
  web_reply_header(r->web, "Location", buf_text(b));
  if (claim_was_known(a)) web_reply_header(r->web, "Idempotent-Replayed", "true");
  web_reply_json(r->web, 202, a->detail, a->detail_len);
}

static void reply_with_claim(struct app *app, const struct claim_request *r, const struct claim_answer *a)
{
  struct buf *b = &app->scratch;
  buf_clear(b);
  if (a->verdict == VERDICT_REPLAYED) {
    web_reply_header(r->web, "Idempotent-Replayed", "true");
    web_reply_json(r->web, 200, a->detail, a->detail_len);
    return;
  }
  buf_puts(b, "/v1/claims/");
  put_claim_id(b, r, a);
  web_reply_header(r->web, "Location", buf_text(b));
  buf_clear(b);
  if (a->detail_len > 0)
    buf_append(b, a->detail, a->detail_len);
  else
    put_new_claim(b, r, a);
  web_reply_json(r->web, 201, buf_text(b), b->len);
}

// The members that explain a refusal, without braces; "" if there are none.
static const char *explain(struct app *app, const struct claim_request *r, const struct claim_answer *a)
{
  char at[TEXT_TIME_BYTES];
  struct buf *b = &app->scratch;
  buf_clear(b);
  if (a->verdict == VERDICT_NOT_STARTED || (a->verdict == VERDICT_ENDED && r->activity)) {
    bool has_started = a->verdict == VERDICT_ENDED;
    text_from_time(has_started ? r->activity->facts.end : r->activity->facts.start, at);
    put_member(b, has_started ? "\"endAt\":\"" : "\"startAt\":\"", at, strlen(at));
    buf_putc(b, '"');
  } else if (a->verdict == VERDICT_RATE_LIMITED) {
    admission_explain(app->admission, r, b);
  } else if (a->verdict != VERDICT_BIZ_ID_REUSED && a->detail_len > 2 && a->detail[0] == '{') {
    buf_append(b, a->detail + 1, a->detail_len - 2);
  } else if (a->verdict == VERDICT_SOLD_OUT) {
    buf_puts(b, "\"remaining\":");
    buf_put_i64(b, r->activity->facts.remaining);
  }
  return buf_text(b);
}

static void reply_problem(struct app *app, const struct claim_request *r, const struct claim_answer *a)
{
  const struct verdict_info *info = verdict_info(a->verdict);
  const char *extra = explain(app, r, a);
  bool is_limited = a->verdict == VERDICT_RATE_LIMITED;
  web_reply_problem(r->web, &(struct web_problem){
                                .code = info->code,
                                .status = info->http_status,
                                .detail = info->detail,
                                .rule = is_limited ? admission_rule(r) : info->rule,
                                .extra_json = extra[0] ? extra : NULL,
                                .retry_after_s = is_limited ? r->mark.retry_after_s : info->retry_after_s,
                            });
}

static void count(struct app *app, const struct claim_request *r, const struct claim_answer *answer, struct span took)
{
  enum verdict v = answer->verdict;
  bool takes_stock = strcmp(answer->status, "waiting") != 0;
  const char *outcome = verdict_info(v)->outcome;
  struct activity *a = r->activity;
  metric_observe(app->rt->metrics, M_CLAIM_SECONDS, span_to_seconds(took));
  if (!a) {
    metric_series_add(METRIC_SERIES(app->rt->metrics, M_CLAIMS, "", outcome), 1);
    return;
  }
  if (!a->outcomes[v]) a->outcomes[v] = METRIC_SERIES(app->rt->metrics, M_CLAIMS, a->code, outcome);
  metric_series_add(a->outcomes[v], 1);
  if (v == VERDICT_ACCEPTED) {
    if (takes_stock) metric_series_add(a->stock_taken, (double)r->quantity);
  } else if (v != VERDICT_REPLAYED && v != VERDICT_QUEUED && v < VERDICT_OVERLOADED) {
    refusal_counts_add(app->refusals, a, v);
  }
}

static int event_of(enum verdict v)
{
  switch (v) {
    case VERDICT_ACCEPTED: return EV_CLAIM_ACCEPTED;
    case VERDICT_REPLAYED: return EV_CLAIM_REPLAYED;
    case VERDICT_QUEUED: return EV_CLAIM_QUEUED;
    case VERDICT_UNAVAILABLE: return EV_CLAIM_UNANSWERED;
    default: return EV_CLAIM_REFUSED;
  }
}

static void write_line(struct app *app, const struct claim_request *r, const struct claim_answer *a, struct span took)
{
  int event = event_of(a->verdict);
  if (!log_wants(app->rt->log, event)) return;
  const char *trace = web_trace(r->web);  // 00-<32 digits: trace id>-<16 digits>-<2 digits>
  struct buf *b = &app->scratch;
  buf_clear(b);
  if (a->has_claim) put_claim_id(b, r, a);
  LOG(app->rt->log, event, F_STR("outcome", verdict_info(a->verdict)->outcome), F_STR("activity_code", r->search.code),
      F_INT("user_id", r->user_id), F_BYTES("biz_id", r->biz_id, r->biz_id_len),
      F_STR("claim_id", a->has_claim ? buf_text(b) : NULL), F_INT("quantity", r->quantity), F_SPAN("duration_s", took),
      F_BYTES("trace_id", trace + 3, strlen(trace) > 35 ? 32 : 0));
}

void claim_reply(void *ctx, const struct claim_request *r, const struct claim_answer *a)
{
  struct app *app = ctx;
  struct span took = mono_since(clk_mono(), web_started(r->web));
  count(app, r, a, took);
  write_line(app, r, a, took);
  admission_answered(app->admission, r, a);
  if (a->verdict == VERDICT_QUEUED)
    reply_queued(app, r, a);
  else if (a->verdict == VERDICT_ACCEPTED || a->verdict == VERDICT_REPLAYED)
    reply_with_claim(app, r, a);
  else
    reply_problem(app, r, a);
}
