// SPDX-License-Identifier: Apache-2.0
// Callbacks of the simulated provider, in the form of its profile, sent once each (no retries: a test sees exactly what
// it asked for). Waiting ones are bounded; what does not fit is dropped and counted. Loop thread.
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
  char *refund_id;  // NULL: about the order itself
  char *merchant;   // "": the configured address as it is
  char ref[SIM_REF_BYTES];
  char currency[SIM_CURRENCY_BYTES_MAX + 1];
  int64_t amount;
  struct wall_time occurred;
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
  mem_free(c->refund_id);
  mem_free(c->merchant);
  mem_free(c);
}

// The provider says what has happened, so it happens now at the latest. False: it cannot any more, and is not told.
static bool move_money(struct callback *c)
{
  struct sim_entry *e = c->entry;
  if (c->generation != c->sim->generation || !c->moves_money) return true;
  if (e->status == SIM_CLOSED) return false;
  enum sim_status status = c->failed ? SIM_FAILED : SIM_SUCCESS;
  bool waits = e->status == SIM_PENDING && e->effects == 0;
  if (waits && c->failed)
    e->status = SIM_FAILED;
  else if (waits || (e->kind == SIM_CREDIT && e->status == SIM_FAILED && !c->failed))  // paid after all
    (void)sim_ledger_apply(c->sim->ledger, e, true, clk_wall());
  if (e->kind == SIM_PAYMENT) (void)sim_ledger_settle(c->sim->ledger, e, status, clk_wall());
  return true;
}

static void on_answer(void *ctx, const struct http_answer *answer)
{
  struct sim *sim = ctx;
  if (answer->stage == HTTP_ANSWERED && answer->status >= 200 && answer->status < 300)
    sim->stats.callbacks_accepted++;
  else
    sim->stats.callbacks_failed++;
}

static struct sim_notice notice_of(const struct callback *c)
{
  return (struct sim_notice){.event_id = c->event_id,
                             .request_id = c->refund_id != NULL ? c->refund_id : c->request_id,
                             .order_id = c->refund_id != NULL ? c->request_id : NULL,
                             .ref = c->ref,
                             .currency = c->currency,
                             .failed = c->failed,
                             .amount = c->amount,
                             .occurred = c->occurred};
}

// A merchant has an address of its own beside the configured one: its last segment is the merchant's name.
static void put_url(const struct callback *c, struct buf *out)
{
  const char *url = c->sim->callback_url;
  const char *last = strrchr(url, '/');
  if (c->merchant[0] == '\0' || last == NULL)
    buf_puts(out, url);
  else
    buf_printf(out, "%.*s/%s", (int)(last - url), url, c->merchant);
}

// RESULT_FULL: the client takes no more calls now.
static enum result send_one(struct callback *c)
{
  struct sim_message m;
  struct buf url;
  const struct sim_notice notice = notice_of(c);
  sim_message_init(&m);
  buf_init(&url, SIM_URL_BYTES + SIM_MERCHANT_BYTES_MAX);
  put_url(c, &url);
  sim_message_write(&m, c->sim->profile, &c->sim->keys, c->sim->signature, &notice, c->sign, clk_wall());
  const struct http_request request = {.method = "POST",
                                       .url = buf_text(&url),
                                       .headers = m.headers,
                                       .header_count = m.header_count,
                                       .body = buf_text(&m.body),
                                       .body_len = m.body.len,
                                       .connect_timeout = span_s(5),
                                       .total_timeout = span_s(CALL_TIMEOUT_S),
                                       .answer_max = 65536};
  enum result result = http_client_send(c->sim->http, &request, on_answer, c->sim, NULL);
  sim_message_release(&m);
  buf_release(&url);
  return result;
}

static void on_due(void *ctx)
{
  struct callback *c = ctx;
  if (c->is_first) {
    c->is_first = false;
    if (!move_money(c)) c->copies_left = 0;
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

// The provider's reference and the money that moved.
static void put_facts(struct callback *c, const struct sim_entry *e)
{
  if (c->refund_id != NULL)
    sim_ref(e, e->kind == SIM_PAYMENT ? SIM_EFFECT_REFUND : SIM_EFFECT_REVERSE, e->reversals, c->ref);
  else
    sim_ref(e, e->kind == SIM_PAYMENT ? SIM_EFFECT_PAYMENT : SIM_EFFECT_CREDIT, e->effects, c->ref);
  c->amount = sim_entry_total(e);
  memcpy(c->currency, e->currency, sizeof c->currency);
}

void sim_callback_send(struct sim *sim, struct sim_entry *e, const char *refund_id, const struct sim_step_callback *how,
                       bool moves_money)
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
  c->merchant = mem_strdup(sim_entry_merchant(e));
  if (how->event_id != NULL) {
    c->event_id = mem_strdup(how->event_id);
  } else {
    char fresh[48];
    (void)snprintf(fresh, sizeof fresh, "evt_%" PRIx64 "_%" PRIu64, (uint64_t)clk_wall().us, ++sim->next_event);
    c->event_id = mem_strdup(fresh);
  }
  if (refund_id != NULL) c->refund_id = mem_strdup(refund_id);
  put_facts(c, e);
  c->occurred = wall_after(clk_wall(), how->delay);
  list_add_last(&sim->callbacks, &c->node);
  sim->callbacks_waiting++;
  c->timer = loop_timer_new(sim->rt.loop, on_due, c);
  loop_timer_set(c->timer, how->delay);
}

void sim_callbacks_stop(struct sim *sim)
{
  LIST_EACH (node, following, &sim->callbacks) callback_free(CONTAINER_OF(node, struct callback, node));
}
