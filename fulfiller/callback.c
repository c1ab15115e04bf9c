// SPDX-License-Identifier: Apache-2.0
// Taking callbacks: route, verification, one statement, answer. Loop thread.
#include "fulfiller/callback.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/mem.h"
#include "common/trace.h"
#include "fulfiller/app.h"
#include "fulfiller/callback_line.h"
#include "fulfiller/callback_read.h"
#include "fulfiller/callback_reply.h"
#include "fulfiller/callback_store.h"

struct entry {
  const char *provider;
  struct callback_profile profile;
  struct callback_keys keys;
  bool can_inquire[ACTION_COUNT];
};

struct callbacks {
  struct runtime *rt;
  struct callback_line *line;
  struct letters *letters;
  struct signature *signature;
  struct entry *entries;  // providers that call back
  size_t count;
};

// One callback from its verification to its answer.
struct call {
  struct callbacks *callbacks;
  const struct entry *entry;
  struct web_request *req;
  struct callback_turn turn;
  struct callback_event event;
};

// --- what is said about it

static void count(const struct callbacks *c, const char *provider, const char *outcome)
{
  metric_series_add(METRIC_SERIES(c->rt->metrics, M_CALLBACKS, provider, outcome), 1);
}

static const char *text_or_null(const char *text) { return text[0] == '\0' ? NULL : text; }

// The bare id; the claim's where there is one, else the request's own.
struct trace_text {
  char id[TRACE_ID_BYTES];
};
static struct trace_text trace_of(const struct web_request *req, const struct callback_row *row)
{
  struct trace_text trace = {""};
  if (row != NULL && row->trace[0] != '\0')
    snprintf(trace.id, sizeof trace.id, "%s", row->trace);
  else if (strlen(web_trace(req)) > TRACE_PARENT_ID_AT)
    snprintf(trace.id, sizeof trace.id, "%.32s", web_trace(req) + TRACE_PARENT_ID_AT);
  return trace;
}

static void log_call(const struct call *call, int event, const struct callback_row *row, const char *reason)
{
  const struct callback_event *e = &call->event;
  const struct trace_text trace = trace_of(call->req, row);
  char claim_id[48] = "";
  if (e->has_claim) snprintf(claim_id, sizeof claim_id, "%" PRId64 "-%" PRId64, e->activity_id, e->claim_id);
  LOG(call->callbacks->rt->log, event, F_STR("provider", call->entry->provider), F_STR("event_id", e->event_id),
      F_STR("request_id", text_or_null(e->request_id)), F_STR("claim_id", text_or_null(claim_id)),
      F_STR("biz_id", row == NULL ? NULL : text_or_null(row->biz_id)),
      F_STR("activity", row == NULL ? NULL : text_or_null(row->activity_code)),
      F_STR("outcome", callback_outcome_name(e->outcome)), F_STR("verdict", row == NULL ? NULL : row->verdict),
      F_STR("code", text_or_null(e->code)), F_STR("detail", text_or_null(e->detail)), F_STR("reason", reason),
      F_STR("trace", text_or_null(trace.id)));
}

static int event_of(const char *verdict)
{
  if (strcmp(verdict, "applied") == 0 || strcmp(verdict, "inquires") == 0) return EV_CALLBACK_APPLIED;
  if (strcmp(verdict, "owes_reversal") == 0) return EV_REVERSAL_OWED;
  if (strcmp(verdict, "owes_refund") == 0) return EV_REFUND_OWED;
  if (strcmp(verdict, "paid_late") == 0) return EV_CALLBACK_KEPT;
  if (strcmp(verdict, "unmatched") == 0 || strcmp(verdict, "amount_mismatch") == 0) return EV_CALLBACK_KEPT;
  if (strcmp(verdict, "contradicts") == 0) return EV_CALLBACK_CONTRADICTS;
  return EV_CALLBACK_IGNORED;
}

// --- the answer of the database

static void call_free(struct call *call)
{
  db_args_release(&call->turn.db.args);
  mem_free(call);
}

static void kept(struct call *call, const struct db_rows *rows)
{
  const struct callback_row row = store_callback_row(rows);
  log_call(call, event_of(row.verdict), &row, NULL);
  count(call->callbacks, call->entry->provider, row.verdict);
  if (row.letter_id != 0)
    letters_announce_callback(call->callbacks->letters, call->entry->provider, row.letter_id, row.verdict);
  callback_reply_taken(call->req, call->entry->profile.scheme);
  call_free(call);
}

// Whether it was written or not: sent again it is applied once.
static void not_now(struct call *call, const char *why)
{
  log_call(call, EV_CALLBACK_POSTPONED, NULL, why);
  count(call->callbacks, call->entry->provider, "unavailable");
  callback_reply_not_taken(call->req, call->entry->profile.scheme, 503,
                           "the callback could not be kept; send it again");
  call_free(call);
}

static void on_end(struct callback_turn *turn, const struct db_rows *rows, const char *why)
{
  struct call *call = CONTAINER_OF(turn, struct call, turn);
  if (rows != NULL)
    kept(call, rows);
  else
    not_now(call, why);
}

static void apply(struct call *call)
{
  call->turn = (struct callback_turn){.on_end = on_end};
  db_args_init(&call->turn.db.args);
  store_callback(&call->turn.db, call->entry->provider, &call->event, web_trace(call->req),
                 call->event.has_claim && call->entry->can_inquire[call->event.action]);
  callback_line_add(call->callbacks->line, &call->turn);
}

// --- requests

static const char *header_of(const void *ctx, const char *name) { return web_header(ctx, name); }

static void refuse(const struct callbacks *c, const struct entry *entry, struct web_request *req, enum result result,
                   const char *why)
{
  int status = result == RESULT_DENIED ? 401 : result == RESULT_UNEXPECTED ? 415 : 400;
  LOG(c->rt->log, EV_CALLBACK_REFUSED, F_STR("provider", entry->provider), F_INT("status", status),
      F_STR("reason", why), F_STR("trace", trace_of(req, NULL).id));
  count(c, entry->provider, result == RESULT_DENIED ? "forged" : "unreadable");
  // Whoever forges learns nothing from the answer.
  callback_reply_not_taken(req, entry->profile.scheme, status,
                           status == 401 ? "the callback is not signed by this provider" : why);
}

static const struct entry *find(const struct callbacks *c, const char *provider)
{
  for (size_t i = 0; i < c->count; i++) {
    if (strcmp(c->entries[i].provider, provider) == 0) return &c->entries[i];
  }
  return NULL;
}

static void take(struct callbacks *c, const struct entry *entry, struct web_request *req)
{
  const char *why = NULL;
  struct call *call = MEM_NEW(struct call);
  *call = (struct call){.callbacks = c, .entry = entry, .req = req};
  struct callback_request r = {.content_type = web_header(req, "Content-Type"), .header = header_of, .ctx = req};
  r.body = web_body(req, &r.body_len);
  enum result result = callback_read(&entry->profile, &entry->keys, c->signature, &r, clk_wall(), &call->event, &why);
  if (result == RESULT_OK) {
    apply(call);
  } else {
    refuse(c, entry, req, result, why);
    mem_free(call);
  }
}

void callback_handle(struct callbacks *c, struct web_request *req)
{
  const struct entry *entry = c == NULL ? NULL : find(c, web_param(req, "provider"));
  if (entry != NULL) {
    take(c, entry, req);
  } else if (c == NULL) {
    callback_reply_not_taken(req, CALLBACK_NONE, 503, "starting");
  } else {
    web_reply_problem(req,
                      &(struct web_problem){
                          .code = "NOT_FOUND", .status = 404, .detail = "no provider of this name sends callbacks"});
  }
}

// --- life

static const struct provider_conf *block_of(const struct fulfiller_conf *conf, const char *provider)
{
  for (size_t i = 0; i < conf->providers.count; i++) {
    if (strcmp(conf->providers.items[i].name, provider) == 0) return conf->providers.items[i].block;
  }
  return NULL;
}

static enum result add_entry(struct callbacks *c, const struct conf_entry *conf, struct conf_fault *fault)
{
  const struct provider_conf *block = conf->block;
  struct entry *entry = &c->entries[c->count];
  if (block->callback.profile == CALLBACK_NONE) return RESULT_OK;
  enum result result = callback_profile_compile(block, &entry->profile, fault);
  if (result == RESULT_OK) result = callback_keys_load(&block->callback, &entry->keys, fault);
  if (result != RESULT_OK) return result;
  entry->provider = conf->name;
  for (size_t i = 0; i < ACTION_COUNT; i++) entry->can_inquire[i] = block->actions[i].inquire.path != NULL;
  c->count++;
  return RESULT_OK;
}

enum result callbacks_new(struct runtime *rt, struct db_pool *db, struct letters *letters,
                          const struct fulfiller_conf *conf, struct callbacks **out_callbacks,
                          struct conf_fault *out_fault)
{
  enum result result = RESULT_OK;
  struct callbacks *c = MEM_NEW(struct callbacks);
  *c = (struct callbacks){.rt = rt, .letters = letters, .signature = signature_new()};
  c->line = callback_line_new(rt, db, conf->daemon.database.pool_size);
  c->entries = MEM_ARRAY(struct entry, conf->providers.count);
  for (size_t i = 0; result == RESULT_OK && i < conf->providers.count; i++)
    result = add_entry(c, &conf->providers.items[i], out_fault);
  if (result == RESULT_OK)
    *out_callbacks = c;
  else
    callbacks_free(c);
  return result;
}

void callbacks_reload(struct callbacks *c, const struct fulfiller_conf *conf)
{
  struct callback_keys *fresh = MEM_ARRAY(struct callback_keys, c->count);
  struct conf_fault fault;
  enum result result = RESULT_OK;
  for (size_t i = 0; result == RESULT_OK && i < c->count; i++) {
    const struct provider_conf *block = block_of(conf, c->entries[i].provider);
    // Another profile, or a provider that is gone, waits for the restart.
    if (block == NULL || block->callback.profile != (int)c->entries[i].profile.scheme) continue;
    result = callback_keys_load(&block->callback, &fresh[i], &fault);
    if (result != RESULT_OK)
      LOG(c->rt->log, EV_CONFIG_REJECTED, F_STR("provider", c->entries[i].provider), F_STR("detail", fault.text));
  }
  for (size_t i = 0; i < c->count; i++) {
    if (result == RESULT_OK && fresh[i].count > 0) {
      struct callback_keys old = c->entries[i].keys;
      c->entries[i].keys = fresh[i];
      fresh[i] = old;
    }
    callback_keys_release(&fresh[i]);
  }
  mem_free(fresh);
}

void callbacks_free(struct callbacks *c)
{
  if (c == NULL) return;
  for (size_t i = 0; i < c->count; i++) callback_keys_release(&c->entries[i].keys);
  mem_free(c->entries);
  signature_free(c->signature);
  callback_line_free(c->line);
  mem_free(c);
}
