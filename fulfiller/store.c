// SPDX-License-Identifier: Apache-2.0
// Statements of the fulfiller. Loop thread.
#include "fulfiller/store.h"

#include <inttypes.h>
#include <stdio.h>

#include "common/contract.h"
#include "common/mem.h"
#include "fulfiller/lane.h"
#include "sql_fulfiller.inc"

enum take_column {
  TAKE_ACTIVITY_ID,
  TAKE_CLAIM_ID,
  TAKE_ATTEMPT,
  TAKE_TRIES,
  TAKE_DOING,
  TAKE_USER_ID,
  TAKE_QUANTITY,
  TAKE_BIZ_ID,
  TAKE_CHANNEL,
  TAKE_ACTIVITY_CODE,
  TAKE_REWARD_CODE,
  TAKE_AMOUNT,
  TAKE_CURRENCY,
  TAKE_PARAMS,
  TAKE_CREATED_AT,
  TAKE_PENDING_SINCE,
  TAKE_TRUST_IN_MS,
  TAKE_PROVIDER_REF,
  TAKE_TRACE,
  TAKE_MAY_ACT,
  TAKE_HOLD_UNTIL,
  TAKE_MAY_CLOSE
};

#define EARLIER_BYTES_MAX (8 * 1024 * 1024)  // 256 claims, every byte of a record escaped

static void put_text(struct db_args *a, const char *text)
{
  if (text == NULL || text[0] == '\0')
    db_args_array_null(a);
  else
    db_args_array_text(a, text, strlen(text));
}

// --- take

void store_take(struct db_request *req, const struct claim_key *const *keys, size_t count, const struct provider *p)
{
  struct db_args *a = &req->args;
  req->statement = &SQL_CLAIM_TAKE;
  db_args_clear(a);
  db_args_array(a, DB_ARRAY_INT8);
  for (size_t i = 0; i < count; i++) db_args_array_i64(a, keys[i]->activity_id);
  db_args_array_end(a);
  db_args_array(a, DB_ARRAY_INT8);
  for (size_t i = 0; i < count; i++) db_args_array_i64(a, keys[i]->claim_id);
  db_args_array_end(a);
  db_args_array(a, DB_ARRAY_INT4);
  for (size_t i = 0; i < count; i++) db_args_array_i64(a, keys[i]->attempt);
  db_args_array_end(a);
  db_args_i64(a, p->lease.us);
  db_args_i64(a, p->conf->not_found_after.us);
  db_args_text(a, p->name);
  db_args_array(a, DB_ARRAY_TEXT);
  for (size_t i = 0; i < count; i++) put_text(a, keys[i]->trace);
  db_args_array_end(a);
}

struct claim_key store_taken_key(const struct db_rows *rows, size_t row)
{
  return (struct claim_key){.activity_id = db_rows_i64(rows, row, TAKE_ACTIVITY_ID),
                            .claim_id = db_rows_i64(rows, row, TAKE_CLAIM_ID),
                            .attempt = (int32_t)db_rows_i64(rows, row, TAKE_ATTEMPT)};
}

struct span store_taken_trust(const struct db_rows *rows, size_t row)
{
  return span_ms(db_rows_i64(rows, row, TAKE_TRUST_IN_MS));
}

// Copies a column behind the others; NULL stays NULL.
static const char *place(const struct db_rows *rows, size_t row, size_t column, char **at)
{
  if (db_rows_is_null(rows, row, column)) return NULL;
  size_t size = db_rows_text_len(rows, row, column) + 1;
  const char *text = memcpy(*at, db_rows_text(rows, row, column), size);
  *at += size;
  return text;
}

static struct job *new_job(const struct db_rows *rows, size_t row)
{
  static const size_t columns[] = {TAKE_BIZ_ID,      TAKE_CHANNEL,  TAKE_ACTIVITY_CODE,
                                   TAKE_REWARD_CODE, TAKE_CURRENCY, TAKE_PROVIDER_REF};
  size_t bytes = 0;
  for (size_t i = 0; i < ARRAY_LEN(columns); i++) bytes += db_rows_text_len(rows, row, columns[i]) + 1;
  struct job *job = mem_zalloc(1, sizeof *job + bytes);
  char *at = job->texts;
  job->facts.biz_id = place(rows, row, TAKE_BIZ_ID, &at);
  job->facts.channel = place(rows, row, TAKE_CHANNEL, &at);
  job->facts.activity_code = place(rows, row, TAKE_ACTIVITY_CODE, &at);
  job->facts.reward_code = place(rows, row, TAKE_REWARD_CODE, &at);
  job->facts.currency = place(rows, row, TAKE_CURRENCY, &at);
  job->facts.provider_ref = place(rows, row, TAKE_PROVIDER_REF, &at);
  return job;
}

// What is to be done, and under which names.
static void read_action(struct job *job, const struct db_rows *rows, size_t row)
{
  enum call_kind kind;
  bool is_known = action_of_step(db_rows_text(rows, row, TAKE_DOING), &job->action, &kind);
  ENSURE(is_known);  // the database's CHECK has the same names
  job->must_inquire = kind == CALL_INQUIRE;
  job->is_wanted = db_rows_bool(rows, row, TAKE_MAY_ACT);
  job->may_close = db_rows_bool(rows, row, TAKE_MAY_CLOSE);
  snprintf(job->id, sizeof job->id, "%" PRId64 "-%" PRId64, job->key.activity_id, job->key.claim_id);
  snprintf(job->request_id, sizeof job->request_id, "%" PRId64 "-%" PRId64 "%s", job->key.activity_id,
           job->key.claim_id, action_suffix(job->action));
  snprintf(job->trace, sizeof job->trace, "%s", db_rows_text(rows, row, TAKE_TRACE));
  memcpy(job->key.trace, job->trace, sizeof job->key.trace);
}

static void read_facts(struct job *job, const struct db_rows *rows, size_t row)
{
  struct claim_facts *facts = &job->facts;
  facts->request_id = job->request_id;
  facts->activity_id = job->key.activity_id;
  facts->claim_id = job->key.claim_id;
  facts->user_id = db_rows_i64(rows, row, TAKE_USER_ID);
  facts->quantity = db_rows_i64(rows, row, TAKE_QUANTITY);
  facts->has_amount = !db_rows_is_null(rows, row, TAKE_AMOUNT);
  facts->amount = db_rows_i64(rows, row, TAKE_AMOUNT);
  facts->has_hold = !db_rows_is_null(rows, row, TAKE_HOLD_UNTIL);
  if (facts->has_hold) facts->hold_until = db_rows_time(rows, row, TAKE_HOLD_UNTIL);
  facts->params = job->params;
}

struct job *store_taken_job(const struct db_rows *rows, size_t row, bool wants_params)
{
  struct job *job = new_job(rows, row);
  list_init(&job->node);
  job->state = JOB_TAKEN;
  job->key = store_taken_key(rows, row);
  job->tries = db_rows_i64(rows, row, TAKE_TRIES);
  job->created_at = db_rows_time(rows, row, TAKE_CREATED_AT);
  job->pending_since = db_rows_time(rows, row, TAKE_PENDING_SINCE);
  read_action(job, rows, row);
  if (wants_params)
    job->params = json_loadb(db_rows_text(rows, row, TAKE_PARAMS), db_rows_text_len(rows, row, TAKE_PARAMS), 0, NULL);
  read_facts(job, rows, row);
  return job;
}

// --- settle

#define PUT_ARRAY(a, type, put)          \
  do {                                   \
    db_args_array((a), (type));          \
    for (size_t i = 0; i < count; i++) { \
      const struct job *j = jobs[i];     \
      put;                               \
    }                                    \
    db_args_array_end(a);                \
  } while (0)

// Only an action made under this lease moves the instant from which "not found" counts; -1: it stays.
static int64_t trust_ms(const struct job *j, struct mono_time now)
{
  if (!j->has_acted) return -1;
  if (decision_has_call_ended(j->call.verdict.status)) return 0;
  int64_t left = j->lane->provider.conf->not_found_after.us - mono_since(now, j->call.called_at).us;
  return left > 0 ? (left + 999) / 1000 : 0;
}

static void put_trust(struct db_args *a, int64_t ms)
{
  if (ms < 0)
    db_args_array_null(a);
  else
    db_args_array_i64(a, ms);
}

static void put_status(struct db_args *a, int status)
{
  if (status == 0)
    db_args_array_null(a);
  else
    db_args_array_i64(a, status);
}

static const char *detail_of(const struct verdict *v) { return v->detail[0] != '\0' ? v->detail : v->code; }

// "name":"text", or nothing at all for no text: the column is null then.
static void put_member(struct buf *b, const char *name, const char *text)
{
  if (text == NULL || text[0] == '\0') return;
  buf_printf(b, ",\"%s\":", name);
  buf_put_json(b, text, strlen(text));
}

static void put_earlier(struct buf *b, const struct job *j)
{
  const struct job_call *call = j->earlier;
  const struct verdict *v = &call->verdict;
  buf_puts(b, b->len == 0 ? "[" : ",");
  buf_printf(b,
             "{\"a\":%" PRId64 ",\"c\":%" PRId64 ",\"attempt\":%" PRId32 ",\"call\":%d,\"started_us\":%" PRId64
             ",\"duration_us\":%" PRId64,
             j->key.activity_id, j->key.claim_id, j->key.attempt, j->call_number - 1, call->started_at.us,
             call->duration.us);
  if (v->status != 0) buf_printf(b, ",\"http\":%d", v->status);
  put_member(b, "step", action_request_name(j->action, call->kind));
  put_member(b, "provider", j->lane->provider.name);
  put_member(b, "outcome", outcome_name(v->outcome));
  put_member(b, "code", v->code);
  put_member(b, "detail", detail_of(v));
  put_member(b, "request", call->request);
  put_member(b, "answer", call->answer);
  buf_putc(b, '}');
}

// The inquiries that came before the deciding calls of some of them.
static void put_earlier_calls(struct db_args *a, struct job *const *jobs, size_t count)
{
  struct buf b;
  buf_init(&b, EARLIER_BYTES_MAX);
  for (size_t i = 0; i < count; i++) {
    if (jobs[i]->earlier != NULL) put_earlier(&b, jobs[i]);
  }
  if (b.len > 0) buf_putc(&b, ']');
  if (b.len > 0 && buf_result(&b) == RESULT_OK)
    db_args_text(a, buf_text(&b));
  else
    db_args_null(a);
  buf_release(&b);
}

// Most of them are no charges: then nothing is said at all.
static void put_urls(struct db_args *a, struct job *const *jobs, size_t count)
{
  bool has_any = false;
  for (size_t i = 0; i < count && !has_any; i++) has_any = jobs[i]->call.verdict.url[0] != '\0';
  if (has_any)
    PUT_ARRAY(a, DB_ARRAY_TEXT, put_text(a, j->call.verdict.url));
  else
    db_args_null(a);
}

void store_settle(struct db_request *req, struct job *const *jobs, size_t count, struct mono_time now)
{
  struct db_args *a = &req->args;
  req->statement = &SQL_CLAIM_SETTLE;
  db_args_clear(a);
  PUT_ARRAY(a, DB_ARRAY_INT8, db_args_array_i64(a, j->key.activity_id));
  PUT_ARRAY(a, DB_ARRAY_INT8, db_args_array_i64(a, j->key.claim_id));
  PUT_ARRAY(a, DB_ARRAY_INT4, db_args_array_i64(a, j->key.attempt));
  PUT_ARRAY(a, DB_ARRAY_INT4, db_args_array_i64(a, j->call_number));
  PUT_ARRAY(a, DB_ARRAY_TEXT, put_text(a, job_step(j)));
  PUT_ARRAY(a, DB_ARRAY_TEXT, put_text(a, outcome_name(j->decision.outcome)));
  PUT_ARRAY(a, DB_ARRAY_TEXT, put_text(a, j->lane->provider.name));
  PUT_ARRAY(a, DB_ARRAY_INT4, put_status(a, j->call.verdict.status));
  PUT_ARRAY(a, DB_ARRAY_TEXT, put_text(a, j->call.verdict.ref));
  PUT_ARRAY(a, DB_ARRAY_TEXT, put_text(a, j->call.verdict.code));
  PUT_ARRAY(a, DB_ARRAY_TEXT, put_text(a, detail_of(&j->call.verdict)));
  PUT_ARRAY(a, DB_ARRAY_TIMESTAMPTZ, db_args_array_time(a, j->call.started_at));
  PUT_ARRAY(a, DB_ARRAY_INT8, db_args_array_i64(a, j->call.duration.us));
  PUT_ARRAY(a, DB_ARRAY_INT8, db_args_array_i64(a, span_to_ms(j->decision.due)));
  PUT_ARRAY(a, DB_ARRAY_TEXT, put_text(a, j->decision.review));
  PUT_ARRAY(a, DB_ARRAY_INT8, put_trust(a, trust_ms(j, now)));
  PUT_ARRAY(a, DB_ARRAY_TEXT, put_text(a, j->call.request));
  PUT_ARRAY(a, DB_ARRAY_TEXT, put_text(a, j->call.answer));
  put_earlier_calls(a, jobs, count);
  PUT_ARRAY(a, DB_ARRAY_TEXT, put_text(a, j->trace));
  put_urls(a, jobs, count);
}

struct settled_row store_settled_row(const struct db_rows *rows, size_t row)
{
  const char *status = db_rows_text(rows, row, 2);
  return (struct settled_row){.activity_id = db_rows_i64(rows, row, 0),
                              .claim_id = db_rows_i64(rows, row, 1),
                              .is_under_review = db_rows_bool(rows, row, 3),
                              .review_cause = db_rows_text(rows, row, 4),
                              .has_given_back = strcmp(status, "succeeded") != 0 && strcmp(status, "issuing") != 0};
}

// --- dead letters and figures

void store_unreadable(struct db_request *req, const char *provider, const char *why, const char *body)
{
  req->statement = &SQL_DEAD_LETTER_UNREADABLE;
  db_args_clear(&req->args);
  db_args_text(&req->args, provider);
  db_args_text(&req->args, "unreadable_message");
  db_args_text(&req->args, why);
  db_args_text(&req->args, body);
}

int64_t store_letter_id(const struct db_rows *rows) { return db_rows_count(rows) > 0 ? db_rows_i64(rows, 0, 0) : 0; }

const struct db_statement *store_figures(struct db_args *args)
{
  (void)args;
  return &SQL_DELIVERY_FIGURES;
}

struct figure_row store_figure_row(const struct db_rows *rows, size_t row)
{
  return (struct figure_row){strcmp(db_rows_text(rows, row, 0), "due") == 0, db_rows_text(rows, row, 1),
                             db_rows_i64(rows, row, 2)};
}
