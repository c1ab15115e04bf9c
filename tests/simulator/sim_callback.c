// SPDX-License-Identifier: Apache-2.0
// Callbacks of the simulated provider: {eventId, requestId, status, ref, occurredAt} with Standard Webhooks headers,
// sent once each (no retries: a test sees exactly what it asked for). Waiting ones are bounded; what does not fit is
// dropped and counted. Loop thread.
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/list.h"
#include "common/loop.h"
#include "common/mem.h"
#include "common/text.h"
#include "tests/simulator/sim.h"

#define BUSY_WAIT_MS   20
#define CALL_TIMEOUT_S 30
#define BODY_BYTES_MAX 1024

struct callback {
  struct list node;
  struct sim *sim;
  struct sim_entry *entry;  // only while the generation is the simulator's
  uint32_t generation;
  struct loop_timer *timer;
  char *request_id, *event_id;
  char ref[SIM_REF_BYTES];
  char occurred_at[TEXT_TIME_BYTES];
  bool failed, moves_money, is_first;
  int copies_left;
  struct span gap;
  enum sim_sign sign;
};

static void callback_free(void *object)
{
  struct callback *c = object;
  list_remove(&c->node);
  c->sim->callbacks_waiting--;
  loop_timer_free(c->timer);
  mem_free(c->request_id);
  mem_free(c->event_id);
  mem_free(c);
}

// The provider says what has happened, so it happens now at the latest.
static void move_money(struct callback *c)
{
  struct sim_entry *e = c->entry;
  if (c->generation != c->sim->generation || !c->moves_money) return;
  enum sim_status status = c->failed ? SIM_FAILED : SIM_SUCCESS;
  bool waits = e->status == SIM_PENDING && e->effects == 0;
  if (waits && c->failed)
    e->status = SIM_FAILED;
  else if (waits || (e->kind == SIM_CREDIT && e->status == SIM_FAILED && !c->failed))  // paid after all
    (void)sim_ledger_apply(c->sim->ledger, e, true, clk_wall());
  if (e->kind == SIM_PAYMENT) (void)sim_ledger_settle(c->sim->ledger, e, status, clk_wall());
}

static void on_answer(void *ctx, const struct http_answer *answer)
{
  struct sim *sim = ctx;
  if (answer->stage == HTTP_ANSWERED && answer->status >= 200 && answer->status < 300)
    sim->stats.callbacks_accepted++;
  else
    sim->stats.callbacks_failed++;
}

static void write_body(const struct callback *c, struct buf *out)
{
  buf_puts(out, "{\"eventId\":");
  buf_put_json(out, c->event_id, strlen(c->event_id));
  buf_printf(out, ",\"requestId\":\"%s\",\"status\":\"%s\",\"ref\":\"%s\",\"occurredAt\":\"%s\"}", c->request_id,
             c->failed ? "FAILED" : "SUCCESS", c->ref, c->occurred_at);
}

// The signature header, or nothing if the callback goes unsigned. A bad one is made with another secret.
static void write_signature(const struct callback *c, int64_t timestamp_s, const struct buf *body, struct buf *out)
{
  static const char wrong_secret[] = "not the secret of this provider";
  const struct sim *sim = c->sim;
  if (c->sign == SIM_SIGN_NONE || sim->secret == NULL) return;
  bool bad = c->sign == SIM_SIGN_BAD;
  signature_webhook_sign(sim->signature, bad ? wrong_secret : sim->secret,
                         bad ? sizeof wrong_secret - 1 : sim->secret_len, c->event_id, timestamp_s, buf_text(body),
                         body->len, out);
}

// RESULT_FULL: the client takes no more calls now.
static enum result send_one(struct callback *c)
{
  struct buf body, signature;
  char timestamp[24];
  int64_t timestamp_s = clk_wall().us / 1000000;
  buf_init(&body, BODY_BYTES_MAX);
  buf_init(&signature, BODY_BYTES_MAX);
  write_body(c, &body);
  write_signature(c, timestamp_s, &body, &signature);
  (void)snprintf(timestamp, sizeof timestamp, "%" PRId64, timestamp_s);
  const struct http_header headers[] = {{"Content-Type", "application/json"},
                                        {"webhook-id", c->event_id},
                                        {"webhook-timestamp", timestamp},
                                        {"webhook-signature", buf_text(&signature)}};
  const struct http_request request = {.method = "POST",
                                       .url = c->sim->callback_url,
                                       .headers = headers,
                                       .header_count = signature.len > 0 ? 4 : 1,
                                       .body = buf_text(&body),
                                       .body_len = body.len,
                                       .connect_timeout = span_s(5),
                                       .total_timeout = span_s(CALL_TIMEOUT_S),
                                       .answer_max = 65536};
  enum result result = http_client_send(c->sim->http, &request, on_answer, c->sim, NULL);
  buf_release(&body);
  buf_release(&signature);
  return result;
}

static void on_due(void *ctx)
{
  struct callback *c = ctx;
  if (c->is_first) {
    c->is_first = false;
    move_money(c);
  }
  while (c->copies_left > 0 && c->sim->callback_url[0] != '\0') {
    enum result sent = send_one(c);
    if (sent == RESULT_FULL) {
      loop_timer_set(c->timer, span_ms(BUSY_WAIT_MS));
      return;
    }
    c->copies_left--;
    if (sent == RESULT_OK)
      c->sim->stats.callbacks_sent++;
    else
      c->sim->stats.callbacks_failed++;
    if (c->copies_left > 0 && c->gap.us > 0) {
      loop_timer_set(c->timer, c->gap);
      return;
    }
  }
  loop_defer_free(c->sim->rt.loop, c, callback_free);
}

void sim_callback_send(struct sim *sim, struct sim_entry *e, const struct sim_step_callback *how, bool moves_money)
{
  if (sim->callbacks_waiting >= SIM_CALLBACKS_MAX) {
    sim->stats.callbacks_dropped++;
    return;
  }
  struct callback *c = MEM_NEW(struct callback);
  *c = (struct callback){.sim = sim,
                         .entry = e,
                         .generation = sim->generation,
                         .failed = how->failed,
                         .moves_money = moves_money,
                         .is_first = true,
                         .copies_left = how->copies,
                         .gap = how->gap,
                         .sign = how->sign};
  c->request_id = mem_strdup(sim_entry_request(e));
  if (how->event_id != NULL) {
    c->event_id = mem_strdup(how->event_id);
  } else {
    char fresh[48];
    (void)snprintf(fresh, sizeof fresh, "evt_%" PRIx64 "_%" PRIu64, (uint64_t)clk_wall().us, ++sim->next_event);
    c->event_id = mem_strdup(fresh);
  }
  sim_ref(e, e->kind == SIM_PAYMENT ? SIM_EFFECT_PAYMENT : SIM_EFFECT_CREDIT, e->effects, c->ref);
  text_from_time(wall_after(clk_wall(), how->delay), c->occurred_at);
  list_add_last(&sim->callbacks, &c->node);
  sim->callbacks_waiting++;
  c->timer = loop_timer_new(sim->rt.loop, on_due, c);
  loop_timer_set(c->timer, how->delay);
}

void sim_callbacks_stop(struct sim *sim)
{
  LIST_EACH (node, following, &sim->callbacks) callback_free(CONTAINER_OF(node, struct callback, node));
}
