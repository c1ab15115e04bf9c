// SPDX-License-Identifier: Apache-2.0
// An order becomes an operation; its first steps are taken here, the rest by whichever reconciler comes first.
// Owner: web routes; loop thread.
#include "reconciler/operation_api.h"

#include <stdio.h>
#include <string.h>

#include "common/jsonx.h"
#include "common/mem.h"
#include "common/text.h"
#include "reconciler/call.h"
#include "reconciler/operation.h"
#include "reconciler/operation_worker.h"

#define FILTER_CHARS_MAX 200
#define RATE_MAX         10000
#define STEPS_MAX        20   // of one request
#define PREVIEW_ITEMS    100  // unless it asks for more

struct order_call {
  struct call call;
  json_t *body;  // the texts of the order live in it
  struct operation_order order;
  struct operation_begun begun;
  int steps;
  json_t *result;  // of a roll-back, while its claim is read
};

static struct order_call *of(struct call *c) { return CONTAINER_OF(c, struct order_call, call); }

static void on_end(struct call *c)
{
  struct order_call *o = of(c);
  json_decref(o->body);
  json_decref(o->result);
  operation_order_release(&o->order);
}

// --- the request

static const char *text_of(const json_t *value, char out_number[24])
{
  if (json_is_string(value)) return json_string_value(value);
  if (!json_is_integer(value)) return "";
  (void)snprintf(out_number, 24, "%lld", (long long)json_integer_value(value));
  return out_number;
}

static void read_ids(struct order_call *o, struct jsonx_reader *reader)
{
  const char *fault = operation_is_about_findings(o->order.kind)
                          ? "an id is the key of a finding"
                          : "an id is the number of a letter or of a claim such as 683000001-5";
  const json_t *ids = jsonx_read_array(reader, "ids", false);
  if (ids == NULL) return;
  size_t count = json_array_size(ids);
  if (count == 0 || count > OPERATION_IDS_MAX) {
    jsonx_reader_fail(reader, "ids", "must have from 1 to 10000 entries");
    return;
  }
  operation_order_make_room(&o->order, count);
  for (size_t i = 0; i < count; i++) {
    const json_t *id = json_array_get(ids, i);
    char number[24];
    // A key is borrowed from the body.
    bool is_text = json_is_string(id) || !operation_is_about_findings(o->order.kind);
    if (is_text && operation_order_add(&o->order, text_of(id, number)) == RESULT_OK) continue;
    jsonx_reader_fail(reader, "ids", fault);
    return;
  }
}

static void read_letter_filter(struct dead_letter_filter *out, struct jsonx_reader *f)
{
  out->provider = jsonx_read_text(f, "provider", false, FILTER_CHARS_MAX);
  out->cause = jsonx_read_text(f, "cause", false, FILTER_CHARS_MAX);
  out->activity_code = jsonx_read_text(f, "activityCode", false, FILTER_CHARS_MAX);
  out->fingerprint = jsonx_read_text(f, "fingerprint", false, FINGERPRINT_CHARS_MAX);
}

static void read_finding_filter(struct finding_filter *out, struct jsonx_reader *f)
{
  out->state = jsonx_read_text(f, "state", false, FILTER_CHARS_MAX);
  out->kind = jsonx_read_text(f, "kind", false, FILTER_CHARS_MAX);
  out->severity = jsonx_read_text(f, "severity", false, FILTER_CHARS_MAX);
  out->activity_code = jsonx_read_text(f, "activityCode", false, FILTER_CHARS_MAX);
  out->provider = jsonx_read_text(f, "provider", false, FILTER_CHARS_MAX);
  out->source = jsonx_read_text(f, "source", false, FILTER_CHARS_MAX);
  static const char *const members[] = {"state", "severity", "source"};
  const char *fault = finding_order_fault(out);
  for (size_t i = 0; fault != NULL && i < ARRAY_LEN(members); i++) {
    size_t len = strlen(members[i]);
    if (strncmp(fault, members[i], len) == 0) jsonx_reader_fail(f, members[i], fault + len + 2);
  }
}

static void read_filter(struct order_call *o, struct jsonx_reader *reader)
{
  const json_t *filter = jsonx_read_object(reader, "filter", false);
  struct jsonx_reader f;
  if (filter == NULL) return;
  o->order.by_filter = true;
  jsonx_reader_init(&f, filter, "filter");
  if (operation_is_about_findings(o->order.kind))
    read_finding_filter(&o->order.findings, &f);
  else
    read_letter_filter(&o->order.filter, &f);
  if (jsonx_reader_finish(&f) != RESULT_OK) jsonx_reader_fail(reader, "filter", f.fault);
}

static void read_targets(struct order_call *o, struct jsonx_reader *reader)
{
  read_ids(o, reader);
  read_filter(o, reader);
  bool has_ids = jsonx_has(reader, "ids");
  if (has_ids == jsonx_has(reader, "filter"))
    jsonx_reader_fail(reader, has_ids ? "filter" : "ids", has_ids ? "excludes ids" : "ids or filter is needed");
}

static void read_proof(struct order_call *o, struct jsonx_reader *reader)
{
  const char *as = jsonx_read_text(reader, "as", false, 20);
  o->order.proof = jsonx_read_text(reader, "proof", false, PROOF_CHARS_MAX);
  if (o->order.proof != NULL && o->order.proof[0] == '\0') jsonx_reader_fail(reader, "proof", "must not be empty");
  if (as == NULL) return;
  if (operation_order_put_as(&o->order, as) != RESULT_OK)
    jsonx_reader_fail(reader, "as", "must be delivered or not-delivered");
  else if (!o->order.is_not_delivered && o->order.proof == NULL)
    jsonx_reader_fail(reader, "proof", "is needed: how is it known that it was delivered?");
}

// False after a 400.
static bool read_body(struct order_call *o)
{
  struct jsonx_reader reader;
  o->body = call_body(o->call.web);
  if (o->body == NULL) return false;
  jsonx_reader_init(&reader, o->body, "");
  if (o->order.kind != OPERATION_ROLL_BACK) {
    read_targets(o, &reader);
    jsonx_read_i64(&reader, "rate", false, 1, RATE_MAX, &o->order.rate);
    jsonx_read_i64(&reader, "items", false, 0, OPERATION_PREVIEW_ITEMS_MAX, &o->order.preview_items);
  }
  if (o->order.kind == OPERATION_RESOLVE) read_proof(o, &reader);
  o->order.reason = jsonx_read_text(&reader, "reason", false, REASON_CHARS_MAX);
  o->order.key = jsonx_read_text(&reader, "key", false, KEY_CHARS_MAX);
  jsonx_read_bool(&reader, "dryRun", false, &o->order.is_dry_run);
  return call_is_read(o->call.web, &reader);
}

// --- the answer

static void answer(struct call *c, int status, const char *body, size_t len)
{
  web_reply_json(c->web, status, body, len);
  call_end(c);
}

// Before and after of findings are in words.
static void answer_order(struct order_call *o, int status, const char *body, size_t len)
{
  static const char *const members[] = {"before", "after", NULL};
  static const struct web_told told = {.at = "/items", .members = members};
  web_reply_told(o->call.web, status, body, len, operation_is_about_findings(o->order.kind) ? &told : NULL);
  call_end(&o->call);
}

static void conflict(struct call *c, int status, const char *code, const char *detail)
{
  web_reply_problem(c->web, &(struct web_problem){.code = code, .status = status, .detail = detail});
  call_end(c);
}

static const char *outcome_of(const json_t *result)
{
  const char *outcome =
      json_string_value(json_object_get(json_array_get(json_object_get(result, "items"), 0), "outcome"));
  return outcome != NULL ? outcome : "to_do";  // somebody else holds its next step
}

// {"operationId","outcome","claim":{…}}: reversed at the provider first is 202.
static void on_claim(struct call *c, const struct db_rows *rows)
{
  struct order_call *o = of(c);
  struct buf *b = &c->app->scratch;
  const char *outcome = outcome_of(o->result);
  const char *id = json_string_value(json_object_get(o->result, "operationId"));
  bool is_open = strcmp(outcome, "reversing") == 0 || strcmp(outcome, "to_do") == 0;
  buf_clear(b);
  buf_printf(b, "{\"operationId\":\"%s\",\"outcome\":\"%s\",\"claim\":", id, outcome);
  buf_append(b, db_rows_text(rows, 0, 0), db_rows_text_len(rows, 0, 0));
  buf_putc(b, '}');
  answer(c, is_open ? 202 : 200, buf_text(b), b->len);
}

static void answer_roll_back(struct order_call *o)
{
  const char *outcome = outcome_of(o->result);
  if (strcmp(outcome, "not_found") == 0) {
    conflict(&o->call, 404, "CLAIM_NOT_FOUND", "there is no such claim");
  } else if (strcmp(outcome, "not_delivered") == 0) {
    conflict(&o->call, 409, "STATE_CONFLICT", "only a claim that has succeeded can be rolled back");
  } else if (strcmp(outcome, "coupon_used") == 0) {
    conflict(&o->call, 409, "COUPON_USED", "an order has used this claim as a coupon; release the order first");
  } else if (strcmp(outcome, "not_reversible") == 0) {
    conflict(&o->call, 409, "STATE_CONFLICT",
             "the provider of this claim cannot reverse a delivery: its configuration has no reverse request, or no "
             "fulfiller that serves it has started");
  } else {
    o->call.on_rows = on_claim;
    call_send(&o->call, store_claim_show(call_args(&o->call), o->order.claims[0]));
  }
}

static void log_order(struct order_call *o, const json_t *result)
{
  LOG(o->call.app->rt->log, EV_OPERATION_REQUESTED, F_STR("kind", operation_kind_name(o->order.kind)),
      F_STR("actor", o->order.actor), F_STR("reason", o->order.reason), F_BOOL("dry_run", o->order.is_dry_run),
      F_INT("operation_id", o->begun.id),
      F_INT("total", (int64_t)json_integer_value(json_object_get(result, "total"))));
}

static void on_shown(struct call *c, const struct db_rows *rows)
{
  struct order_call *o = of(c);
  char place[64];
  if (db_rows_count(rows) == 0 ||
      jsonx_parse(db_rows_text(rows, 0, 0), db_rows_text_len(rows, 0, 0), &o->result, NULL) != RESULT_OK) {
    conflict(c, 503, "UNAVAILABLE", "the operation cannot be read");
    return;
  }
  log_order(o, o->result);
  if (o->begun.is_replayed) web_reply_header(c->web, "Idempotent-Replayed", "true");
  if (o->order.kind == OPERATION_ROLL_BACK && !o->order.is_dry_run) {
    answer_roll_back(o);
    return;
  }
  bool is_running = !o->order.is_dry_run && store_operation_is_running(rows);
  if (is_running) {
    (void)snprintf(place, sizeof place, "/v1/operations/%lld", (long long)o->begun.id);
    web_reply_header(c->web, "Location", place);
  }
  answer_order(o, is_running ? 202 : 200, db_rows_text(rows, 0, 0), db_rows_text_len(rows, 0, 0));
}

// --- step by step

static void send_step(struct order_call *o)
{
  o->steps++;
  call_send(&o->call, store_operation_step(call_args(&o->call), o->begun.id, o->call.app->conf.operations.batch_rows));
}

// What goes on is answered without its items: they are asked for page by page.
static void show(struct order_call *o, bool is_running)
{
  bool has_items = !is_running || o->order.kind == OPERATION_ROLL_BACK;
  o->call.on_rows = on_shown;
  call_send(&o->call, store_operation_show(call_args(&o->call), o->begun.id, has_items));
}

static void on_stepped(struct call *c, const struct db_rows *rows)
{
  struct order_call *o = of(c);
  struct operation_step_row row = {.state = ""};
  operation_worker_count(c->app->rt, rows);
  if (db_rows_count(rows) > 0) row = store_operation_step_row(rows, 0);
  bool is_running = strcmp(row.state, "running") == 0;
  if (is_running && row.wait_ms == 0 && o->steps < STEPS_MAX)
    send_step(o);
  else
    show(o, is_running);
}

static void on_begun(struct call *c, const struct db_rows *rows)
{
  struct order_call *o = of(c);
  o->begun = store_operation_begun(rows);
  if (o->begun.is_key_reused) {
    conflict(c, 422, "BIZ_ID_REUSED", "this key was used for another operation");
    return;
  }
  c->on_rows = on_stepped;
  send_step(o);
}

static void begin(struct order_call *o)
{
  if (!read_body(o)) {
    call_end(&o->call);
    return;
  }
  o->order.actor = web_actor(o->call.web);
  if (o->order.is_dry_run) o->call.on_rows = on_shown;
  if (o->order.is_dry_run)
    call_send(&o->call, store_operation_preview(call_args(&o->call), &o->order));
  else
    call_send(&o->call, store_operation_begin(call_args(&o->call), &o->order));
}

static struct order_call *order_call_new(struct web_request *web, enum operation_kind kind)
{
  struct order_call *o = of(call_new(web, sizeof *o, on_begun));
  o->call.on_end = on_end;
  operation_order_init(&o->order, kind);
  o->order.preview_items = PREVIEW_ITEMS;
  o->order.rate = o->call.app->conf.operations.rate;
  return o;
}

static void take_order(struct web_request *web, enum operation_kind kind) { begin(order_call_new(web, kind)); }

void operation_api_retry(struct web_request *web) { take_order(web, OPERATION_RETRY); }
void operation_api_refund(struct web_request *web) { take_order(web, OPERATION_REFUND); }
void operation_api_resolve(struct web_request *web) { take_order(web, OPERATION_RESOLVE); }
void operation_api_repair(struct web_request *web) { take_order(web, OPERATION_REPAIR); }
void operation_api_explain(struct web_request *web) { take_order(web, OPERATION_EXPLAIN); }

void operation_api_roll_back(struct web_request *web)
{
  struct order_call *o = order_call_new(web, OPERATION_ROLL_BACK);
  operation_order_make_room(&o->order, 1);
  if (operation_order_add(&o->order, web_param(web, "claimId")) != RESULT_OK) {
    conflict(&o->call, 404, "CLAIM_NOT_FOUND", "a claim's id is such as 683000001-5");
    return;
  }
  begin(o);
}

// --- ending one

static void on_cancelled(struct call *c, const struct db_rows *rows)
{
  if (db_rows_count(rows) == 0)
    conflict(c, 404, "NOT_FOUND", "there is no such operation");
  else
    answer(c, 200, db_rows_text(rows, 0, 0), db_rows_text_len(rows, 0, 0));
}

void operation_api_cancel(struct web_request *web)
{
  struct order_call *o = order_call_new(web, OPERATION_ROLL_BACK);
  const char *text = web_param(web, "id");
  int64_t id = 0;
  struct jsonx_reader reader;
  o->call.on_rows = on_cancelled;
  if (text_to_i64(text, strlen(text), &id) != RESULT_OK || id < 1) {
    conflict(&o->call, 404, "NOT_FOUND", "an operation's id is a number");
    return;
  }
  o->body = call_body(web);
  jsonx_reader_init(&reader, o->body, "");
  if (o->body != NULL) o->order.reason = jsonx_read_text(&reader, "reason", false, REASON_CHARS_MAX);
  if (o->body == NULL || !call_is_read(web, &reader)) {
    call_end(&o->call);
    return;
  }
  call_send(&o->call, store_operation_cancel(call_args(&o->call), id, web_actor(web), o->order.reason));
}
