// SPDX-License-Identifier: Apache-2.0
// The answers of the simulated provider. Request ids hold no character that JSON or a URL would have to escape.
// Pure apart from reading the context; loop thread.
#include <stdio.h>
#include <string.h>

#include "tests/simulator/sim.h"

const char *sim_status_name(enum sim_status status)
{
  static const char *const names[] = {"NONE", "PENDING", "SUCCESS", "FAILED", "CLOSED"};
  return names[status];
}

const char *sim_effect_name(enum sim_effect_type type)
{
  static const char *const names[] = {"credit", "payment", "reverse", "refund"};
  return names[type];
}

void sim_ref(const struct sim_entry *e, enum sim_effect_type type, uint32_t ordinal, char out_ref[SIM_REF_BYTES])
{
  bool back = type == SIM_EFFECT_REVERSE || type == SIM_EFFECT_REFUND;
  if (back)
    (void)snprintf(out_ref, SIM_REF_BYTES, "sim-%u-r%u", e->number, ordinal);
  else if (ordinal > 1)
    (void)snprintf(out_ref, SIM_REF_BYTES, "sim-%u-%u", e->number, ordinal);
  else
    (void)snprintf(out_ref, SIM_REF_BYTES, "sim-%u", e->number);
}

static void answer_put(struct sim_answer *out, int status, int printed)
{
  out->status = status;
  out->len = printed < 0 ? 0 : (size_t)printed < sizeof out->body ? (size_t)printed : sizeof out->body - 1;
}

static void answer_state(const struct sim *sim, const struct sim_entry *e, int http_status, enum sim_status state,
                         uint32_t ordinal, struct sim_answer *out)
{
  char ref[SIM_REF_BYTES], url[SIM_URL_BYTES / 2] = "";
  sim_ref(e, e->kind == SIM_PAYMENT ? SIM_EFFECT_PAYMENT : SIM_EFFECT_CREDIT, ordinal, ref);
  if (e->kind == SIM_PAYMENT && state == SIM_PENDING) {
    (void)snprintf(url, sizeof url, ",\"url\":\"%.60s/payments/%s/page\"", sim->base_url, sim_entry_request(e));
  }
  int n =
      snprintf(out->body, sizeof out->body, "{\"status\":\"%s\",\"ref\":\"%s\"%s}", sim_status_name(state), ref, url);
  answer_put(out, http_status, n);
}

void sim_answer_order(const struct sim *sim, const struct sim_entry *e, struct sim_answer *out)
{
  enum sim_status state = (enum sim_status)e->status;
  answer_state(sim, e, state == SIM_PENDING ? 202 : 200, state, e->effects, out);
}

void sim_answer_closed(const struct sim *sim, const struct sim_entry *e, struct sim_answer *out)
{
  answer_state(sim, e, 200, SIM_CLOSED, e->effects, out);
}

void sim_answer_code(int status, const char *code, struct sim_answer *out)
{
  answer_put(out, status, snprintf(out->body, sizeof out->body, "{\"code\":\"%s\"}", code));
}

static const char *code_for(int status)
{
  switch (status) {
    case 400: return "INVALID_REQUEST";
    case 401: return "UNAUTHENTICATED";
    case 403: return "FORBIDDEN";
    case 404: return "NOT_FOUND";
    case 409: return "CONFLICT";
    case 429: return "RATE_LIMITED";
    case 503: return "UNAVAILABLE";
    default: return status >= 500 ? "INTERNAL_ERROR" : "REFUSED";
  }
}

void sim_answer_status(const struct sim *sim, const struct sim_entry *e, int status, bool about_to_apply,
                       struct sim_answer *out)
{
  if (status == 204 || (status >= 300 && status < 400)) {
    out->body[0] = '\0';
    answer_put(out, status, 0);
  } else if (status >= 400) {
    sim_answer_code(status, code_for(status), out);
  } else {
    uint32_t ordinal = e->effects + (about_to_apply && (!sim->dedupe || e->effects == 0) ? 1 : 0);
    answer_state(sim, e, status, status == 202 ? SIM_PENDING : SIM_SUCCESS, ordinal, out);
  }
}

void sim_answer_reversal(const struct sim_entry *e, uint32_t ordinal, struct sim_answer *out)
{
  char ref[SIM_REF_BYTES];
  sim_ref(e, e->kind == SIM_PAYMENT ? SIM_EFFECT_REFUND : SIM_EFFECT_REVERSE, ordinal, ref);
  answer_put(out, 200, snprintf(out->body, sizeof out->body, "{\"status\":\"SUCCESS\",\"ref\":\"%s\"}", ref));
}

void sim_reply(struct web_request *req, const struct sim_answer *a) { web_reply_json(req, a->status, a->body, a->len); }
