// SPDX-License-Identifier: Apache-2.0
// What becomes of a request: rows, error, time-out or another try. Every way out of a request is here and used once.
// Owner: the pool; loop thread.
#include <libpq-fe.h>
#include <string.h>

#include "common/backoff.h"
#include "common/contract.h"
#include "common/db_internal.h"
#include "common/log.h"
#include "common/metric.h"

static const struct backoff_policy retry_policy = {.base = {10000}, .cap = {200000}, .jitter_percent = 80};

static const char *name_of(const struct db_pool *pool, const struct db_ticket *t)
{
  return pool->statements[t->statement].statement->name;
}

// The request leaves its ticket; the ticket of an orphan stays with its flight.
static struct db_request *detach(struct db_pool *pool, struct db_ticket *t)
{
  struct db_request *req = t->req;
  REQUIRE(req != NULL);
  t->req = NULL;
  req->link = NULL;
  pool->open_count--;
  struct span taken = mono_since(loop_now(pool->rt.loop), t->submitted);
  metric_series_observe(pool->statements[t->statement].seconds, span_to_seconds(taken));
  return req;
}

static void answer_error(struct db_pool *pool, struct db_ticket *t, const struct db_error *error)
{
  metric_series_add(METRIC_SERIES(pool->rt.metrics, M_DB_ERRORS, name_of(pool, t), error->sqlstate), 1);
  struct db_request *req = detach(pool, t);
  db_pool_release_ticket(pool, t);
  pool->answering++;
  req->on_error(req, error);
  pool->answering--;
}

static void answer_unknown(struct db_pool *pool, struct db_ticket *t, const PGresult *result, const char *why)
{
  struct db_error error = db_error_of(result, DB_FAILED_UNKNOWN);
  if (error.message[0] == '\0') error.message = why;
  LOG(pool->rt.log, EV_DB_STATEMENT_FAILED, F_STR("statement", name_of(pool, t)), F_STR("reason", "outcome_unknown"),
      F_STR("sqlstate", error.sqlstate), F_STR("detail", error.message));
  answer_error(pool, t, &error);
}

void db_answer_not_sent(struct db_pool *pool, struct db_ticket *t, const char *why)
{
  struct db_error error = db_error_of(NULL, DB_FAILED_NOT_SENT);
  error.message = why;
  answer_error(pool, t, &error);
}

void db_answer_timeout(struct db_pool *pool, struct db_ticket *t)
{
  metric_series_add(METRIC_SERIES(pool->rt.metrics, M_DB_ERRORS, name_of(pool, t), "timeout"), 1);
  LOG(pool->rt.log, EV_DB_STATEMENT_FAILED, F_STR("statement", name_of(pool, t)), F_STR("reason", "timeout"));
  struct db_request *req = detach(pool, t);
  pool->answering++;
  req->on_timeout(req);
  pool->answering--;
}

static void answer_rows(struct db_pool *pool, struct db_ticket *t, const struct db_flight *f)
{
  struct db_rows rows = {f->rows};
  struct db_request *req = detach(pool, t);
  db_pool_release_ticket(pool, t);
  pool->answering++;
  req->on_rows(req, &rows);
  pool->answering--;
}

static bool try_again(struct db_pool *pool, struct db_ticket *t)
{
  if (t->req->tries >= DB_TRIES_MAX || pool->is_closing) return false;
  uint32_t attempt = (uint32_t)t->req->tries++;
  db_pool_delay_ticket(pool, t, backoff_delay(&retry_policy, attempt, pool->seed++));
  return true;
}

static void answer_failure(struct db_pool *pool, struct db_conn *c, struct db_ticket *t, const PGresult *result)
{
  if (db_error_ended_session(result)) {
    db_conn_doom(c, "the server ended the session");
    answer_unknown(pool, t, result, "connection lost");
    return;
  }
  bool is_stale = db_error_is_stale_plan(result);
  if (is_stale) db_conn_doom(c, "tables changed under its prepared statements");
  bool is_worth_a_try = is_stale || db_error_is(result, "40001") || db_error_is(result, "40P01");
  if (is_worth_a_try && try_again(pool, t)) return;
  struct db_error error = db_error_of(result, DB_FAILED_STATEMENT);
  if (!db_error_is_raised(result)) {
    LOG(pool->rt.log, EV_DB_STATEMENT_FAILED, F_STR("statement", name_of(pool, t)), F_STR("reason", "refused"),
        F_STR("sqlstate", error.sqlstate), F_STR("detail", error.message));
  }
  answer_error(pool, t, &error);
}

static void log_if_slow(struct db_pool *pool, const struct db_flight *f)
{
  struct span taken = mono_since(loop_now(pool->rt.loop), f->sent);
  if (taken.us < pool->conf.slow_statement.us) return;
  LOG(pool->rt.log, EV_DB_STATEMENT_SLOW, F_STR("statement", name_of(pool, f->ticket)), F_SPAN("taken_seconds", taken));
}

void db_answer_flight(struct db_pool *pool, struct db_conn *c, const struct db_flight *f)
{
  struct db_ticket *t = f->ticket;
  log_if_slow(pool, f);
  t->conn = NULL;
  if (db_conn_has_room(c) && !list_is_linked(&c->node)) list_add_last(&pool->idle, &c->node);
  if (t->state == DB_TICKET_ORPHAN)
    db_pool_release_ticket(pool, t);
  else if (f->error != NULL)
    answer_failure(pool, c, t, f->error);
  else if (f->rows == NULL)
    answer_unknown(pool, t, NULL, "the server sent no result");
  else if (f->lost_standby)
    answer_unknown(pool, t, NULL, "committed here, but the wait for the standby was cancelled");
  else
    answer_rows(pool, t, f);
  db_pool_dispatch(pool);
}

void db_answer_lost_flight(struct db_pool *pool, const struct db_flight *f, const char *why)
{
  struct db_ticket *t = f->ticket;
  t->conn = NULL;
  if (t->state == DB_TICKET_ORPHAN)
    db_pool_release_ticket(pool, t);
  else if (f->is_flushed)
    answer_unknown(pool, t, f->error, why);
  else if (!try_again(pool, t))
    db_answer_not_sent(pool, t, why);
}
