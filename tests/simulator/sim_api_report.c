// SPDX-License-Identifier: Apache-2.0
// What a test reads back: the ledger, the figures, the statement of a day. Large ones go by pages (limit, after). Loop
// thread.
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/text.h"
#include "tests/simulator/sim.h"

#define DAY_US INT64_C(86400000000)

static void refuse(struct web_request *req, int status, const char *code, const char *detail)
{
  const struct web_problem problem = {.code = code, .status = status, .detail = detail};
  web_reply_problem(req, &problem);
}

// A missing parameter keeps the default; false: not a number.
static bool read_count(const struct web_request *req, const char *name, uint64_t *out_count)
{
  const char *text = web_query(req, name);
  return text == NULL || text_to_u64(text, strlen(text), out_count) == RESULT_OK;
}

static bool read_page(struct web_request *req, uint64_t *out_limit, uint64_t *out_after)
{
  if (read_count(req, "limit", out_limit) && read_count(req, "after", out_after)) return true;
  refuse(req, 400, "INVALID_REQUEST", "limit and after are numbers");
  return false;
}

static void finish(struct web_request *req, struct buf *out, const char *type)
{
  if (buf_result(out) == RESULT_OK)
    web_reply(req, 200, type, buf_text(out), out->len);
  else
    refuse(req, 413, "TOO_LARGE", "too much for one answer; use limit and after");
  buf_release(out);
}

// --- ledger ---

static void write_entry(const struct sim *sim, struct buf *out, const struct sim_entry *e)
{
  if (out->len > 1) buf_putc(out, ',');
  buf_puts(out, "{\"requestId\":\"");
  buf_puts(out, sim_entry_request(e));
  buf_puts(out, "\",\"type\":\"");
  buf_puts(out, sim_effect_name(e->kind == SIM_PAYMENT ? SIM_EFFECT_PAYMENT : SIM_EFFECT_CREDIT));
  buf_puts(out, "\",\"userId\":");
  buf_put_json(out, sim_entry_user(e), e->user_len);
  buf_puts(out, ",\"rewardCode\":");
  buf_put_json(out, sim_entry_reward(e), e->reward_len);
  buf_puts(out, ",\"amount\":");
  buf_put_i64(out, e->amount);
  buf_puts(out, ",\"currency\":");
  buf_put_json(out, e->currency, strlen(e->currency));
  buf_puts(out, ",\"quantity\":");
  buf_put_i64(out, e->quantity);
  buf_puts(out, ",\"status\":\"");
  buf_puts(out, sim_status_name((enum sim_status)e->status));
  buf_puts(out, "\",\"hits\":");
  buf_put_u64(out, e->hits);
  buf_puts(out, ",\"effects\":");
  buf_put_u64(out, e->effects);
  buf_puts(out, ",\"reversals\":");
  buf_put_u64(out, e->reversals);
  buf_puts(out, e->reversals > 0 ? ",\"reversed\":true" : ",\"reversed\":false");
  buf_puts(out, ",\"closes\":");
  buf_put_u64(out, e->close_hits);
  if (sim->chaos.on) {
    enum sim_fate fate = sim_chaos_fate(&sim->chaos, sim_entry_user(e));
    buf_printf(out, ",\"fate\":\"%s\",\"end\":\"%s\"", sim_fate_name(fate), sim_end_name(sim_fate_end(fate)));
  }
  buf_putc(out, '}');
}

static void write_one(const struct sim *sim, const char *request_id, struct buf *out)
{
  for (int kind = SIM_CREDIT; kind <= SIM_PAYMENT; kind++) {
    const struct sim_entry *e = sim_ledger_find(sim->ledger, (enum sim_kind)kind, request_id, strlen(request_id));
    if (e != NULL) write_entry(sim, out, e);
  }
}

void sim_report_ledger(struct web_request *req)
{
  const struct sim *sim = web_context(req);
  uint64_t limit = UINT64_MAX, after = 0;
  if (!read_page(req, &limit, &after)) return;
  struct buf out;
  buf_init(&out, WEB_REPLY_BYTES_MAX);
  buf_putc(&out, '[');
  const char *request_id = web_query(req, "requestId");
  size_t count = sim_ledger_count(sim->ledger);
  if (request_id != NULL) {
    write_one(sim, request_id, &out);
  } else {
    for (uint64_t n = after; n < count && n - after < limit && buf_result(&out) == RESULT_OK; n++) {
      write_entry(sim, &out, sim_ledger_entry(sim->ledger, (size_t)n + 1));
    }
  }
  buf_putc(&out, ']');
  finish(req, &out, "application/json");
}

// --- figures ---

static void write_figure(struct buf *out, const char *name, uint64_t value)
{
  buf_printf(out, "%c\"%s\":%" PRIu64, out->len == 0 ? '{' : ',', name, value);
}

void sim_report_stats(struct web_request *req)
{
  const struct sim *sim = web_context(req);
  const struct sim_stats *s = &sim->stats;
  struct sim_ledger_totals totals = sim_ledger_totals(sim->ledger);
  struct buf out;
  buf_init(&out, 4096);
  write_figure(&out, "requests", s->requests);
  write_figure(&out, "effects", totals.effects);
  write_figure(&out, "duplicates", totals.duplicates);
  write_figure(&out, "maxInFlight", s->max_in_flight);
  write_figure(&out, "maxInFlightPerRequestId", s->max_in_flight_per_request_id);
  write_figure(&out, "inFlight", s->in_flight);
  write_figure(&out, "reversals", totals.reversals);
  write_figure(&out, "inquiries", s->inquiries);
  write_figure(&out, "entries", sim_ledger_count(sim->ledger));
  write_figure(&out, "scripts", sim->scripts.count);
  write_figure(&out, "callbacksWaiting", sim->callbacks_waiting);
  write_figure(&out, "callbacksSent", s->callbacks_sent);
  write_figure(&out, "callbacksAccepted", s->callbacks_accepted);
  write_figure(&out, "callbacksFailed", s->callbacks_failed);
  write_figure(&out, "callbacksDropped", s->callbacks_dropped);
  buf_putc(&out, '}');
  finish(req, &out, "application/json");
}

// --- statement ---

// No date: everything. Days are those of UTC.
static bool read_day(struct web_request *req, struct wall_time *out_from, struct wall_time *out_until)
{
  const char *date = web_query(req, "date");
  if (date == NULL) return true;
  char text[40];
  (void)snprintf(text, sizeof text, "%.20sT00:00:00Z", date);
  struct wall_time from;
  if (text_to_time(text, strlen(text), &from) != RESULT_OK) {
    refuse(req, 400, "INVALID_REQUEST", "date is YYYY-MM-DD");
    return false;
  }
  *out_from = from;
  *out_until = (struct wall_time){from.us + DAY_US};
  return true;
}

// A text of a script's making could start a formula or break the line, so texts that need it are quoted.
static void put_csv(struct buf *out, const char *text)
{
  if (strpbrk(text, ",\"\r\n") == NULL) {
    buf_puts(out, text);
    return;
  }
  buf_putc(out, '"');
  for (; *text != '\0'; text++) {
    if (*text == '"') buf_putc(out, '"');
    buf_putc(out, *text);
  }
  buf_putc(out, '"');
}

static void write_line(struct buf *out, const struct sim_entry *e, const struct sim_effect *f)
{
  char at[TEXT_TIME_BYTES], ref[SIM_REF_BYTES];
  enum sim_effect_type type = (enum sim_effect_type)f->type;
  text_from_time(f->at, at);
  sim_ref(e, type, f->ordinal, ref);
  buf_puts(out, sim_entry_request(e));
  buf_putc(out, ',');
  put_csv(out, sim_entry_user(e));
  buf_putc(out, ',');
  buf_puts(out, sim_effect_name(type));
  buf_putc(out, ',');
  buf_put_i64(out, sim_entry_total(e));
  buf_putc(out, ',');
  put_csv(out, e->currency);
  buf_putc(out, ',');
  buf_puts(out, at);
  buf_putc(out, ',');
  buf_puts(out, ref);
  buf_putc(out, '\n');
}

void sim_report_statement(struct web_request *req)
{
  const struct sim *sim = web_context(req);
  struct wall_time from = {1}, until = {INT64_MAX};
  uint64_t limit = UINT64_MAX, after = 0;
  if (!read_page(req, &limit, &after) || !read_day(req, &from, &until)) return;
  struct buf out;
  buf_init(&out, WEB_REPLY_BYTES_MAX);
  buf_puts(&out, "requestId,userId,type,amount,currency,at,ref\n");
  size_t count = sim_ledger_effect_count(sim->ledger);
  for (uint64_t n = after; n < count && n - after < limit && buf_result(&out) == RESULT_OK; n++) {
    const struct sim_effect *f = sim_ledger_effect(sim->ledger, (size_t)n + 1);
    if (f->at.us >= from.us && f->at.us < until.us) write_line(&out, sim_ledger_entry(sim->ledger, f->entry), f);
  }
  finish(req, &out, "text/csv; charset=utf-8");
}
