// SPDX-License-Identifier: Apache-2.0
// The worker of one webhook endpoint: see webhook.h.
// Owner: webhooks; loop thread.
#include "fulfiller/webhook.h"

#include <inttypes.h>
#include <stdio.h>

#include "common/list.h"
#include "common/mem.h"
#include "common/periodic.h"
#include "common/signature.h"
#include "common/trace.h"
#include "fulfiller/app.h"
#include "fulfiller/webhook_secrets.h"
#include "fulfiller/webhook_store.h"

#define TAKE_EVERY       span_ms(200)
#define SETTLE_AGAIN     span_ms(500)  // after a failure
#define LEASE_MARGIN     span_s(15)    // for the statement that writes the outcome down
#define ANSWER_MAX_BYTES (1024 * 1024)
enum { SETTLE_ROWS_MAX = 256, ID_BYTES = 256, SIGNATURES_BYTES_MAX = 8192 };

struct webhook {
  struct runtime *rt;
  struct signature *signature;
  struct webhook_profile profile;
  struct webhook_secrets secrets;
  struct http_client *http;
  struct periodic take, settle;
  struct list finished;  // called, not written down yet
  struct loop_task settle_soon;
  struct metric_series *outcomes[WEBHOOK_OUTCOME_COUNT], *seconds, *waiting, *lag, *disabled;
  size_t open;      // taken, not written down yet
  size_t asked;     // of the take under way
  size_t settling;  // of the statement under way, at the head of finished
  struct buf signatures;
  bool is_stopped;
};

static struct webhook_job *job_of(struct list *node) { return CONTAINER_OF(node, struct webhook_job, node); }

// --- the call

static void log_outcome(struct webhook *w, const struct webhook_job *job, struct span duration)
{
  static const int events[] = {[WEBHOOK_DONE] = EV_WEBHOOK_DELIVERED,
                               [WEBHOOK_RETRY] = EV_WEBHOOK_POSTPONED,
                               [WEBHOOK_DEAD] = EV_WEBHOOK_GIVEN_UP,
                               [WEBHOOK_GONE] = EV_WEBHOOK_POSTPONED};
  LOG(w->rt->log, events[job->decision.outcome], F_STR("endpoint", w->profile.name), F_INT("delivery", job->id),
      F_STR("event_id", job->event_id), F_STR("type", job->type), F_STR("trace_id", job->trace),
      F_INT("attempt", job->attempt), F_STR("detail", job->decision.detail),
      F_INT("due_ms", span_to_ms(job->decision.due)), F_INT("duration_ms", span_to_ms(duration)));
}

static void settle_now(void *ctx) { periodic_soon(&((struct webhook *)ctx)->settle); }

static void end_job(struct webhook *w, struct webhook_job *job, const struct http_answer *answer)
{
  webhook_decide(w->profile.conf, answer, job->tries, clk_wall(), (uint64_t)job->id + (uint64_t)job->attempt,
                 &job->decision);
  metric_series_add(w->outcomes[job->decision.outcome], 1);
  metric_series_observe(w->seconds, (double)answer->duration.us / 1e6);
  log_outcome(w, job, answer->duration);
  list_add_last(&w->finished, &job->node);
  if (!w->is_stopped) loop_defer(w->rt->loop, &w->settle_soon, settle_now, w);
}

static void on_answer(void *ctx, const struct http_answer *answer)
{
  struct webhook_job *job = ctx;
  end_job(job->owner, job, answer);
}

// Every secret signs: the receiver may still have the old one, or already the new one.
static const char *sign(struct webhook *w, const char *id, int64_t timestamp_s, const struct webhook_job *job)
{
  buf_clear(&w->signatures);
  for (size_t i = 0; i < w->secrets.count; i++) {
    if (i > 0) buf_putc(&w->signatures, ' ');
    signature_webhook_sign(w->signature, buf_text(&w->secrets.items[i]), w->secrets.items[i].len, id, timestamp_s,
                           job->body, job->body_len, &w->signatures);
  }
  return buf_text(&w->signatures);
}

static void send(struct webhook *w, struct webhook_job *job)
{
  char id[ID_BYTES], timestamp[24], trace[TRACE_PARENT_BYTES];
  int64_t now_s = clk_wall().us / 1000000;
  webhook_id_of(job->event_id, id, sizeof id);
  snprintf(timestamp, sizeof timestamp, "%" PRId64, now_s);
  trace_parent_make(job->trace, (uint64_t)(job->id * 1000 + job->attempt), trace);
  const struct http_header headers[] = {
      {"Content-Type", "application/json"},           {"webhook-id", id},     {"webhook-timestamp", timestamp},
      {"webhook-signature", sign(w, id, now_s, job)}, {"traceparent", trace},
  };
  const struct http_request r = {.method = "POST",
                                 .url = w->profile.conf->url,
                                 .headers = headers,
                                 .header_count = ARRAY_LEN(headers) - (trace[0] == '\0' ? 1 : 0),
                                 .body = job->body,
                                 .body_len = job->body_len,
                                 .connect_timeout = w->profile.conf->connect_timeout,
                                 .total_timeout = w->profile.conf->total_timeout,
                                 .answer_max = ANSWER_MAX_BYTES};
  enum result result = http_client_send(w->http, &r, on_answer, job, NULL);
  if (result == RESULT_OK) return;
  const struct http_answer none = {.stage = HTTP_NEVER_SENT, .retry_after = "", .fault = result_text(result)};
  end_job(w, job, &none);
}

// --- taking: as many as calls may begin at once, so that no lease waits

static const struct db_statement *prepare_take(void *ctx, struct db_args *args)
{
  struct webhook *w = ctx;
  w->asked = (size_t)w->profile.conf->concurrency - w->open;
  if (w->asked == 0) return NULL;
  return webhook_store_take(args, w->profile.name, w->asked,
                            span_us(w->profile.conf->total_timeout.us + LEASE_MARGIN.us));
}

static struct span on_taken(void *ctx, const struct db_rows *rows)
{
  struct webhook *w = ctx;
  size_t count = db_rows_count(rows);
  for (size_t i = 0; i < count && !w->is_stopped; i++) {
    struct webhook_job *job = webhook_store_job(rows, i);
    job->owner = w;
    job->taken_at = clk_mono();
    w->open++;
    send(w, job);
  }
  return TAKE_EVERY;
}

// --- writing down

static const struct db_statement *prepare_settle(void *ctx, struct db_args *args)
{
  struct webhook *w = ctx;
  w->settling = 0;
  for (const struct list *node = w->finished.next; node != &w->finished && w->settling < SETTLE_ROWS_MAX;
       node = node->next)
    w->settling++;
  if (w->settling == 0) return NULL;
  return webhook_store_settle(args, &w->profile, &w->finished, w->settling);
}

static struct span on_settled(void *ctx, const struct db_rows *rows)
{
  struct webhook *w = ctx;
  const char *disabled_by = db_rows_count(rows) > 0 ? db_rows_text(rows, 0, 0) : "";
  for (; w->settling > 0; w->settling--) {
    mem_free(job_of(list_take_first(&w->finished)));
    w->open--;
  }
  if (disabled_by[0] != '\0') {
    metric_series_put(w->disabled, 1);
    LOG(w->rt->log, EV_WEBHOOK_DISABLED, F_STR("endpoint", w->profile.name), F_STR("cause", disabled_by));
  }
  periodic_soon(&w->take);
  return list_is_empty(&w->finished) ? SETTLE_AGAIN : span_us(0);
}

// --- life

static void make_series(struct webhook *w)
{
  const char *name = w->profile.name;
  for (int o = 0; o < WEBHOOK_OUTCOME_COUNT; o++)
    w->outcomes[o] =
        METRIC_SERIES(w->rt->metrics, M_WEBHOOK_DELIVERIES, name, webhook_outcome_name((enum webhook_outcome)o));
  w->seconds = METRIC_SERIES(w->rt->metrics, M_WEBHOOK_SECONDS, name);
  w->waiting = METRIC_SERIES(w->rt->metrics, M_WEBHOOKS_WAITING, name);
  w->lag = METRIC_SERIES(w->rt->metrics, M_WEBHOOK_LAG, name);
  w->disabled = METRIC_SERIES(w->rt->metrics, M_WEBHOOK_DISABLED, name);
}

enum result webhook_new(struct runtime *rt, struct db_pool *db, struct signature *signature,
                        struct webhook_profile *profile, struct webhook **out_webhook, struct conf_fault *out_fault)
{
  static const struct periodic_spec take = {"webhook_take", prepare_take, on_taken, NULL};
  static const struct periodic_spec settle = {"webhook_settle", prepare_settle, on_settled, NULL};
  struct webhook_secrets secrets;
  enum result result = webhook_secrets_read(&profile->conf->secrets, &secrets, out_fault);
  if (result != RESULT_OK) return result;
  struct webhook *w = MEM_NEW(struct webhook);
  w->rt = rt;
  w->signature = signature;
  w->profile = *profile;
  *profile = (struct webhook_profile){0};
  w->secrets = secrets;
  list_init(&w->finished);
  buf_init(&w->signatures, SIGNATURES_BYTES_MAX);
  w->http = http_client_new(rt, (size_t)w->profile.conf->concurrency, (long)w->profile.conf->concurrency);
  http_client_set_guard(w->http, &w->profile.guard);
  periodic_init(&w->take, &take, w, rt, db, TAKE_EVERY);
  periodic_init(&w->settle, &settle, w, rt, db, SETTLE_AGAIN);
  make_series(w);
  *out_webhook = w;
  return RESULT_OK;
}

enum result webhook_reload(struct webhook *w, const struct webhook_conf *conf, struct conf_fault *out_fault)
{
  struct webhook_secrets secrets;
  enum result result = webhook_secrets_read(&conf->secrets, &secrets, out_fault);
  if (result != RESULT_OK) return result;
  webhook_secrets_release(&w->secrets);
  w->secrets = secrets;
  return RESULT_OK;
}

void webhook_start(struct webhook *w) { periodic_soon(&w->take); }
void webhook_drain(struct webhook *w) { periodic_stop(&w->take); }
bool webhook_is_idle(const struct webhook *w) { return w->open == 0 && !w->take.is_busy; }
const struct webhook_profile *webhook_profile_of(const struct webhook *w) { return &w->profile; }

void webhook_show(struct webhook *w, int64_t waiting, int64_t lag_ms, bool is_disabled)
{
  metric_series_put(w->waiting, (double)waiting);
  metric_series_put(w->lag, (double)lag_ms / 1000);
  metric_series_put(w->disabled, is_disabled ? 1 : 0);
}

void webhook_stop(struct webhook *w)
{
  w->is_stopped = true;
  periodic_stop(&w->take);
  periodic_stop(&w->settle);
  loop_defer_cancel(w->rt->loop, &w->settle_soon);
  http_client_free(w->http);
  w->http = NULL;
}

void webhook_free(struct webhook *w)
{
  if (w == NULL) return;
  periodic_release(&w->take);
  periodic_release(&w->settle);
  for (struct list *node; (node = list_take_first(&w->finished)) != NULL;) mem_free(job_of(node));
  webhook_secrets_release(&w->secrets);
  webhook_profile_release(&w->profile);
  buf_release(&w->signatures);
  mem_free(w);
}
