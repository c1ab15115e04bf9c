// SPDX-License-Identifier: Apache-2.0
// One POST of the provider's interface, from its arrival to its answer. Without a script it is answered at once; with
// one, or with chaos, it goes through a step: effect before or after the answer, delay on a loop timer, status, body,
// headers, callbacks, or a closed connection.
#include <strings.h>

#include "common/loop.h"
#include "common/mem.h"
#include "tests/simulator/sim.h"

struct sim_call {
  struct list node;  // among the calls that wait for their delay
  struct sim *sim;
  struct web_request *req;
  struct sim_entry *entry;
  uint32_t generation;  // the entry is gone when this is not the simulator's any more
  enum sim_call_kind kind;
  char *refund_id;            // NULL for credits and payments
  struct sim_script *script;  // whose step it is, or
  struct sim_act *act;        // NULL: a script's
  const struct sim_step *step;
  struct loop_timer *timer;    // NULL: answered at once
  struct sim_answer standard;  // for a step without a status
};

static void flight_begin(struct sim *sim, struct sim_entry *e)
{
  struct sim_stats *s = &sim->stats;
  s->requests++;
  s->in_flight++;
  e->in_flight++;
  if (s->in_flight > s->max_in_flight) s->max_in_flight = s->in_flight;
  if (e->in_flight > s->max_in_flight_per_request_id) s->max_in_flight_per_request_id = e->in_flight;
}

static void flight_end(struct sim *sim, struct sim_entry *e)
{
  sim->stats.in_flight--;
  e->in_flight--;
}

static void apply_close(const struct sim *sim, struct sim_entry *e, struct sim_answer *out)
{
  switch (sim_ledger_close(e)) {
    case RESULT_OK: sim_answer_closed(sim, e, out); break;
    case RESULT_CONFLICT: sim_answer_code(409, "ORDER_PAID", out); break;
    default: sim_answer_code(404, "NOT_FOUND", out); break;
  }
}

// The effect of a call, and what the provider would say about it.
static void call_apply(struct sim *sim, enum sim_call_kind kind, struct sim_entry *e, const char *refund_id,
                       struct sim_answer *out)
{
  if (kind == SIM_CALL_CREDIT || kind == SIM_CALL_PAYMENT) {
    bool applied = sim_ledger_apply(sim->ledger, e, sim->dedupe, clk_wall());
    if (!applied && e->effects == 0)
      sim_answer_code(503, "LEDGER_FULL", out);
    else
      sim_answer_order(sim, e, out);
    return;
  }
  if (kind == SIM_CALL_CLOSE) {
    apply_close(sim, e, out);
    return;
  }
  uint32_t ordinal = 0;
  switch (sim_ledger_reverse(sim->ledger, e, refund_id, sim->dedupe, clk_wall(), &ordinal)) {
    case RESULT_OK: sim_answer_reversal(e, ordinal, out); break;
    case RESULT_FULL: sim_answer_code(503, "LEDGER_FULL", out); break;
    default: sim_answer_code(404, "NOT_FOUND", out); break;
  }
}

// What a call is answered when its effect has not happened (yet): as if it had, since a provider that fails later does
// not know.
static void call_foresee(struct sim *sim, enum sim_call_kind kind, const struct sim_entry *e, struct sim_answer *out)
{
  if (kind == SIM_CALL_CREDIT)
    sim_answer_status(sim, e, 200, true, out);
  else if (kind == SIM_CALL_PAYMENT)
    sim_answer_status(sim, e, e->status == SIM_SUCCESS ? 200 : 202, true, out);
  else if (e->effects == 0)
    sim_answer_code(404, "NOT_FOUND", out);
  else if (kind == SIM_CALL_CLOSE)
    sim_answer_closed(sim, e, out);
  else
    sim_answer_reversal(e, e->reversals + 1, out);
}

// --- without a script ---

static void auto_pay(struct sim *sim, struct sim_entry *e)
{
  const struct sim_step_callback news = {.wanted = true, .copies = 1};
  if (e->status == SIM_PENDING) sim_callback_send(sim, e, NULL, &news, true);
}

static void run_plain(struct sim *sim, struct web_request *req, enum sim_call_kind kind, struct sim_entry *e,
                      const char *refund_id)
{
  struct sim_answer answer;
  flight_begin(sim, e);
  call_apply(sim, kind, e, refund_id, &answer);
  sim_reply(req, &answer);
  flight_end(sim, e);
  if (kind == SIM_CALL_PAYMENT && sim->auto_pay) auto_pay(sim, e);
}

// --- with a step ---

static void call_free(void *object)
{
  struct sim_call *c = object;
  list_remove(&c->node);
  loop_timer_free(c->timer);
  if (c->script != NULL) sim_script_drop(c->script);
  mem_free(c->act);
  mem_free(c->refund_id);
  mem_free(c);
}

static bool call_is_current(const struct sim_call *c) { return c->generation == c->sim->generation; }

// A payment that a script answers 200 is a payment made, not an order waiting for the person.
static void call_effect(struct sim_call *c)
{
  call_apply(c->sim, c->kind, c->entry, c->refund_id, &c->standard);
  if (c->kind == SIM_CALL_PAYMENT && c->step->status == 200) {
    (void)sim_ledger_settle(c->sim->ledger, c->entry, SIM_SUCCESS, clk_wall());
    sim_answer_order(c->sim, c->entry, &c->standard);
  }
}

static void step_headers(struct web_request *req, const struct sim_step *step, const char **out_type)
{
  for (size_t i = 0; i < step->header_count; i++) {
    if (strcasecmp(step->headers[i].name, "Content-Type") == 0)
      *out_type = step->headers[i].value;
    else
      web_reply_header(req, step->headers[i].name, step->headers[i].value);
  }
}

static void call_answer(struct sim_call *c)
{
  const struct sim_step *step = c->step;
  const char *type = "application/json";
  if (step->close) {
    web_reply_close(c->req);
    return;
  }
  step_headers(c->req, step, &type);
  bool orders = c->kind == SIM_CALL_CREDIT || c->kind == SIM_CALL_PAYMENT;
  if (step->status != 0 && step->status != c->standard.status) {
    if (orders || step->status >= 300) {
      sim_answer_status(c->sim, c->entry, step->status, step->effect == SIM_AFTER, &c->standard);
    }
    c->standard.status = step->status;
  }
  if (step->body != NULL)
    web_reply(c->req, c->standard.status, type, step->body, step->body_len);
  else
    web_reply(c->req, c->standard.status, type, c->standard.body, c->standard.len);
}

// A credit that was answered 202 without an effect waits for its callback.
static void call_mark_pending(struct sim_call *c)
{
  if (c->kind == SIM_CALL_CREDIT && c->step->effect == SIM_NEVER && c->standard.status == 202 &&
      c->entry->status == SIM_NONE) {
    c->entry->status = SIM_PENDING;
  }
}

static void call_send_callbacks(struct sim_call *c)
{
  if (!call_is_current(c)) return;
  if (c->step->callback.wanted)
    sim_callback_send(c->sim, c->entry, c->refund_id, &c->step->callback, c->refund_id == NULL);
  for (size_t i = 0; c->act != NULL && i < c->act->news_count; i++)
    sim_callback_send(c->sim, c->entry, c->refund_id, &c->act->news[i], !c->act->is_forged[i] && c->refund_id == NULL);
}

static void call_finish(struct sim_call *c)
{
  if (!call_is_current(c)) {  // a reset came in between: the entry is gone, the client still waits
    web_reply_close(c->req);
    return;
  }
  call_answer(c);
  if (c->step->effect == SIM_AFTER) {
    c->entry->coming--;
    call_effect(c);
  }
  call_mark_pending(c);
  flight_end(c->sim, c->entry);
  if (c->kind == SIM_CALL_PAYMENT && c->sim->auto_pay && !c->step->callback.wanted) auto_pay(c->sim, c->entry);
}

static void on_delay_over(void *ctx)
{
  struct sim_call *c = ctx;
  call_finish(c);
  loop_defer_free(c->sim->rt.loop, c, call_free);
}

static void run_step(struct sim *sim, struct sim_call *c)
{
  flight_begin(sim, c->entry);
  if (c->step->effect == SIM_BEFORE) {
    call_effect(c);
  } else {
    call_foresee(sim, c->kind, c->entry, &c->standard);
    if (c->step->effect == SIM_AFTER) c->entry->coming++;
  }
  if (c->step->delay.us == 0) {
    call_finish(c);
    call_send_callbacks(c);
    call_free(c);
    return;
  }
  call_send_callbacks(c);
  c->timer = loop_timer_new(sim->rt.loop, on_delay_over, c);
  loop_timer_set(c->timer, c->step->delay);
}

static const struct sim_step *step_of_script(struct sim *sim, struct sim_call *c, const char *refund_id)
{
  const struct sim_entry *e = c->entry;
  const struct sim_subject subject = {c->kind, sim_entry_request(e), refund_id, sim_entry_user(e), sim_entry_reward(e)};
  return sim_scripts_take(&sim->scripts, &subject, &c->script);
}

static const struct sim_step *step_of_fate(struct sim *sim, struct sim_call *c)
{
  const struct sim_entry *e = c->entry;
  struct sim_act act;
  bool meets = false;
  if (c->kind == SIM_CALL_CREDIT)
    meets = sim_chaos_credit(&sim->chaos, sim_entry_user(e), e->hits, clk_wall(), &act);
  else if (c->kind == SIM_CALL_REVERSE)
    meets = sim_chaos_reversal(&sim->chaos, sim_entry_user(e), e->reverse_hits, &act);
  if (!meets) return NULL;
  c->act = MEM_NEW(struct sim_act);
  *c->act = act;
  // The header's text moves with it.
  if (act.step.header_count > 0) c->act->step.headers[0].value = c->act->retry_after;
  return &c->act->step;
}

void sim_call_run(struct sim *sim, struct web_request *req, enum sim_call_kind kind, struct sim_entry *e,
                  const char *refund_id)
{
  struct sim_call found = {.sim = sim, .req = req, .entry = e, .generation = sim->generation, .kind = kind};
  if (refund_id != NULL) e->reverse_hits++;
  if (!list_is_empty(&sim->scripts.items)) found.step = step_of_script(sim, &found, refund_id);
  if (found.step == NULL && sim->chaos.on) found.step = step_of_fate(sim, &found);
  if (found.step == NULL) {
    run_plain(sim, req, kind, e, refund_id);
    return;
  }
  struct sim_call *c = MEM_NEW(struct sim_call);
  *c = found;
  list_add_last(&sim->calls, &c->node);
  if (refund_id != NULL) c->refund_id = mem_strdup(refund_id);
  run_step(sim, c);
}

void sim_calls_stop(struct sim *sim)
{
  LIST_EACH (node, following, &sim->calls) {
    struct sim_call *c = CONTAINER_OF(node, struct sim_call, node);
    web_reply_close(c->req);
    call_free(c);
  }
}
