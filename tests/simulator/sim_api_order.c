// SPDX-License-Identifier: Apache-2.0
// The provider's own interface: credits and payments, inquiries, reversals, refunds. Loop thread.
#include <string.h>

#include "common/jsonx.h"
#include "tests/simulator/sim.h"
#include "tests/simulator/sim_order.h"

static void reply_code(struct web_request *req, int status, const char *code)
{
  struct sim_answer answer;
  sim_answer_code(status, code, &answer);
  sim_reply(req, &answer);
}

// With dedupe off nothing is ever refused for being known: every POST is an effect.
static struct sim_entry *take_order(struct sim *sim, struct web_request *req, enum sim_kind kind,
                                    const struct sim_order *order)
{
  struct sim_entry *entry = NULL;
  switch (sim_ledger_hit(sim->ledger, kind, order, &entry)) {
    case RESULT_OK: return entry;
    case RESULT_CONFLICT:
      if (!sim->dedupe) return sim_ledger_find(sim->ledger, kind, order->request_id.bytes, order->request_id.len);
      reply_code(req, 422, "REQUEST_ID_REUSED");
      return NULL;
    default:
      web_reply_header(req, "Retry-After", "1");
      reply_code(req, 503, "LEDGER_FULL");
      return NULL;
  }
}

static void create(struct web_request *req, enum sim_kind kind, enum sim_call_kind call)
{
  struct sim *sim = web_context(req);
  struct sim_order_body body;
  const char *code = NULL;
  size_t len = 0;
  const char *bytes = web_body(req, &len);
  if (sim_order_read(bytes, len, web_header(req, "Idempotency-Key"), &body, &code) != RESULT_OK) {
    reply_code(req, 400, code);
    return;
  }
  struct sim_entry *entry = take_order(sim, req, kind, &body.order);
  sim_order_release(&body);
  if (entry != NULL) sim_call_run(sim, req, call, entry, NULL);
}

static struct sim_entry *find(struct web_request *req, enum sim_kind kind)
{
  const struct sim *sim = web_context(req);
  const char *id = web_param(req, "requestId");
  struct sim_entry *entry = sim_ledger_find(sim->ledger, kind, id, strlen(id));
  if (entry == NULL) reply_code(req, 404, "NOT_FOUND");
  return entry;
}

// A POST under way whose effect is still to come is known to the provider: PENDING, not 404.
static void show(struct web_request *req, enum sim_kind kind)
{
  struct sim *sim = web_context(req);
  sim->stats.inquiries++;
  struct sim_entry *entry = find(req, kind);
  if (entry == NULL) return;
  struct sim_answer answer;
  if (entry->status == SIM_NONE && entry->coming == 0)
    sim_answer_code(404, "NOT_FOUND", &answer);
  else if (entry->status == SIM_NONE)
    sim_answer_status(sim, entry, 202, true, &answer);
  else
    sim_answer_order(sim, entry, &answer);
  if (answer.status == 202) answer.status = 200;
  sim_reply(req, &answer);
}

static void reverse(struct web_request *req, enum sim_kind kind, enum sim_call_kind call)
{
  struct sim *sim = web_context(req);
  size_t len = 0;
  const char *bytes = web_body(req, &len);
  json_t *json = NULL;
  const char *refund_id = NULL;
  if (jsonx_parse(bytes, len, &json, NULL) == RESULT_OK)
    refund_id = json_string_value(json_object_get(json, "refundId"));
  if (refund_id == NULL || !sim_order_is_request_id(refund_id, strlen(refund_id))) {
    reply_code(req, 400, "INVALID_REQUEST");
  } else {
    struct sim_entry *entry = find(req, kind);
    if (entry != NULL) sim_call_run(sim, req, call, entry, refund_id);
  }
  json_decref(json);
}

// Also here what is under way is known.
static void show_reversal(struct web_request *req, enum sim_kind kind)
{
  struct sim *sim = web_context(req);
  sim->stats.inquiries++;
  const struct sim_entry *entry = find(req, kind);
  if (entry == NULL) return;
  uint32_t ordinal = sim_ledger_reversal(sim->ledger, entry, web_param(req, "refundId"));
  struct sim_answer answer;
  if (ordinal > 0) {
    sim_answer_reversal(entry, ordinal, &answer);
  } else if (entry->coming > 0) {
    sim_answer_status(sim, entry, 202, false, &answer);
    answer.status = 200;
  } else {
    sim_answer_code(404, "NOT_FOUND", &answer);
  }
  sim_reply(req, &answer);
}

void sim_credit_create(struct web_request *req) { create(req, SIM_CREDIT, SIM_CALL_CREDIT); }
void sim_credit_show(struct web_request *req) { show(req, SIM_CREDIT); }
void sim_credit_reverse(struct web_request *req) { reverse(req, SIM_CREDIT, SIM_CALL_REVERSE); }
void sim_credit_reverse_show(struct web_request *req) { show_reversal(req, SIM_CREDIT); }
void sim_payment_create(struct web_request *req) { create(req, SIM_PAYMENT, SIM_CALL_PAYMENT); }
void sim_payment_show(struct web_request *req) { show(req, SIM_PAYMENT); }
void sim_payment_refund(struct web_request *req) { reverse(req, SIM_PAYMENT, SIM_CALL_REFUND); }
void sim_payment_refund_show(struct web_request *req) { show_reversal(req, SIM_PAYMENT); }

void sim_payment_close(struct web_request *req)
{
  struct sim *sim = web_context(req);
  struct sim_entry *entry = find(req, SIM_PAYMENT);
  if (entry == NULL) return;
  entry->close_hits++;
  sim_call_run(sim, req, SIM_CALL_CLOSE, entry, NULL);
}

// --- what the person at the pay page does ---

// On a payment that is final already nothing moves, but the news still goes out: that is how a test makes late and
// contradictory ones.
static void person(struct web_request *req, bool failed)
{
  struct sim *sim = web_context(req);
  struct sim_entry *entry = find(req, SIM_PAYMENT);
  if (entry == NULL) return;
  if (entry->effects == 0) {
    reply_code(req, 404, "NOT_FOUND");
    return;
  }
  if (entry->status == SIM_CLOSED) {
    reply_code(req, 409, "ORDER_CLOSED");
    return;
  }
  (void)sim_ledger_settle(sim->ledger, entry, failed ? SIM_FAILED : SIM_SUCCESS, clk_wall());
  struct sim_answer answer;
  sim_answer_order(sim, entry, &answer);
  sim_reply(req, &answer);
  const struct sim_step_callback news = {.wanted = true, .copies = 1, .failed = failed};
  sim_callback_send(sim, entry, NULL, &news, false);
}

void sim_payment_pay(struct web_request *req) { person(req, false); }
void sim_payment_fail(struct web_request *req) { person(req, true); }

void sim_payment_page(struct web_request *req)
{
  struct sim_entry *entry = find(req, SIM_PAYMENT);
  if (entry == NULL) return;
  struct buf page;
  buf_init(&page, 4096);
  buf_printf(&page,
             "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Pay page of the simulator</title>"
             "<h1>Payment %s</h1><p>%lld in minor units, status %s</p>"
             "<form method=\"post\" action=\"pay\"><button>Pay</button></form>"
             "<form method=\"post\" action=\"fail\"><button>Fail</button></form></html>",
             sim_entry_request(entry), (long long)sim_entry_total(entry),
             sim_status_name((enum sim_status)entry->status));
  web_reply(req, 200, "text/html; charset=utf-8", buf_text(&page), page.len);
  buf_release(&page);
}
