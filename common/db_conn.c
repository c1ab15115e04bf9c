// SPDX-License-Identifier: Apache-2.0
// One connection of the pool: connects for ever, sends units of work (prepare, execute, sync) and reads their results
// without ever blocking. It always reads while it writes, so large arguments and large results cannot wait for each
// other. Owner: the pool; loop thread.
#include "common/db_internal.h"

#include <libpq-fe.h>
#include <string.h>

#include "common/backoff.h"
#include "common/contract.h"
#include "common/log.h"

static const struct backoff_policy reconnect_policy = {.base = {50000}, .cap = {2000000}, .jitter_percent = 50};

static void on_ready(void *ctx, int what);
static void on_timer(void *ctx);
static void on_close_task(void *ctx);

void db_conn_init(struct db_conn *c, struct db_pool *pool, uint32_t number)
{
  c->pool = pool;
  c->number = number;
  list_init(&c->node);
  c->timer = loop_timer_new(pool->rt.loop, on_timer, c);
}

bool db_conn_has_room(const struct db_conn *c)
{
  size_t depth = c->pool->conf.pooler ? 1 : DB_DEPTH;  // without pipeline mode, one after the other
  return c->state == DB_CONN_UP && !c->is_doomed && c->flight_count < depth;
}

// --- connecting

static void watch(struct db_conn *c, int what)
{
  if (c->watch == NULL) c->watch = loop_watch_new(c->pool->rt.loop, PQsocket(c->pg), on_ready, c);
  loop_watch_set(c->watch, what);
}

static void drop_socket(struct db_conn *c)
{
  loop_watch_free(c->watch);
  c->watch = NULL;
  PQfinish(c->pg);
  c->pg = NULL;
}

static void reconnect_later(struct db_conn *c)
{
  c->state = DB_CONN_DOWN;
  loop_timer_set(c->timer, backoff_delay(&reconnect_policy, c->failed_attempts++, c->pool->seed++));
}

static void connect_failed(struct db_conn *c, const char *why)
{
  db_pool_on_connect_failed(c->pool, c, why);
  drop_socket(c);
  reconnect_later(c);
}

// Called by libpq while it parses, that is for the oldest flight.
static void on_notice(void *ctx, const PGresult *notice)
{
  struct db_conn *c = ctx;
  if (c->flight_count > 0 && db_notice_lost_standby(notice)) c->flights[c->first_flight].lost_standby = true;
}

static void connected(struct db_conn *c)
{
  bool is_ready = PQsetnonblocking(c->pg, 1) == 0 && (c->pool->conf.pooler || PQenterPipelineMode(c->pg) == 1);
  if (!is_ready) {
    connect_failed(c, PQerrorMessage(c->pg));
    return;
  }
  memset(c->is_prepared, 0, sizeof c->is_prepared);
  loop_timer_clear(c->timer);
  c->failed_attempts = 0;
  c->state = DB_CONN_UP;
  watch(c, LOOP_READ);
  LOG(c->pool->rt.log, EV_DB_CONNECTED, F_UINT("connection", c->number), F_STR("host", PQhost(c->pg)),
      F_STR("port", PQport(c->pg)), F_STR("database", PQdb(c->pg)), F_INT("server_pid", PQbackendPID(c->pg)));
  db_pool_on_up(c->pool, c);
}

static void connect_step(struct db_conn *c)
{
  // libpq may close its socket and open another under the same number, so the watch goes first.
  loop_watch_free(c->watch);
  c->watch = NULL;
  switch (PQconnectPoll(c->pg)) {
    case PGRES_POLLING_READING: watch(c, LOOP_READ); return;
    case PGRES_POLLING_WRITING: watch(c, LOOP_WRITE); return;
    case PGRES_POLLING_OK: connected(c); return;
    default: connect_failed(c, PQerrorMessage(c->pg));
  }
}

void db_conn_start(struct db_conn *c)
{
  struct db_params params;
  db_params_init(&params, &c->pool->conf, c->pool->application_name, c->pool->role);
  c->state = DB_CONN_CONNECTING;
  c->pg = PQconnectStartParams(params.keywords, params.values, 1);
  db_params_release(&params);
  ENSURE(c->pg != NULL);                     // out of memory only
  PQsetNoticeReceiver(c->pg, on_notice, c);  // libpq's own one writes to stderr
  if (PQstatus(c->pg) == CONNECTION_BAD) {
    connect_failed(c, PQerrorMessage(c->pg));
    return;
  }
  loop_timer_set(c->timer, c->pool->conf.connect_timeout);
  watch(c, LOOP_WRITE);
}

static void on_timer(void *ctx)
{
  struct db_conn *c = ctx;
  if (c->state == DB_CONN_DOWN)
    db_conn_start(c);
  else if (c->state == DB_CONN_CONNECTING)
    connect_failed(c, "no answer within database.connect_timeout");
}

// --- closing

void db_conn_doom(struct db_conn *c, const char *why)
{
  if (c->is_doomed) return;
  c->is_doomed = true;
  c->why_doomed = why;
  db_pool_on_doomed(c->pool, c);
  loop_defer(c->pool->rt.loop, &c->close_task, on_close_task, c);
}

static struct db_flight take_first_flight(struct db_conn *c)
{
  struct db_flight f = c->flights[c->first_flight];
  c->flights[c->first_flight] = (struct db_flight){0};
  c->first_flight = (c->first_flight + 1) % DB_DEPTH;
  c->flight_count--;
  return f;
}

static void clear_results(struct db_flight *f)
{
  PQclear(f->rows);
  PQclear(f->error);
}

static void lose_flights(struct db_conn *c, const char *why)
{
  while (c->flight_count > 0) {
    struct db_flight f = take_first_flight(c);
    db_answer_lost_flight(c->pool, &f, why);
    clear_results(&f);
  }
}

static void on_close_task(void *ctx)
{
  struct db_conn *c = ctx;
  const char *why = c->why_doomed;
  c->is_doomed = false;
  drop_socket(c);
  reconnect_later(c);
  db_pool_on_down(c->pool, c, why);
  lose_flights(c, why);
  db_pool_dispatch(c->pool);
}

void db_conn_release(struct db_conn *c)
{
  loop_defer_cancel(c->pool->rt.loop, &c->close_task);
  loop_timer_free(c->timer);
  c->timer = NULL;
  drop_socket(c);
  c->state = DB_CONN_DOWN;
  lose_flights(c, "the pool was closed");
}

// --- sending

static void flush(struct db_conn *c)
{
  int left = PQflush(c->pg);
  if (left < 0) {
    db_conn_doom(c, "write failed");
    return;
  }
  loop_watch_set(c->watch, left == 0 ? LOOP_READ : LOOP_READ | LOOP_WRITE);
  for (size_t i = 0; left == 0 && i < c->flight_count; i++)
    c->flights[(c->first_flight + i) % DB_DEPTH].is_flushed = true;
}

static bool put_pipelined(struct db_conn *c, struct db_flight *f, const struct db_statement *st,
                          const struct db_wire_args *w)
{
  bool *is_prepared = &c->is_prepared[f->ticket->statement];
  if (!*is_prepared) {
    if (PQsendPrepare(c->pg, st->name, st->sql, 0, NULL) != 1) return false;
    *is_prepared = true;
    f->prepares = true;
  }
  return PQsendQueryPrepared(c->pg, st->name, w->count, w->values, w->lengths, w->formats, 1) == 1 &&
         PQpipelineSync(c->pg) == 1;
}

bool db_conn_send(struct db_conn *c, struct db_ticket *t)
{
  REQUIRE(db_conn_has_room(c));
  const struct db_statement *st = c->pool->statements[t->statement].statement;
  struct db_wire_args wire;
  db_args_to_wire(&t->req->args, &wire);
  struct db_flight f = {.ticket = t, .sent = loop_now(c->pool->rt.loop)};
  bool is_put = c->pool->conf.pooler ? PQsendQueryParams(c->pg, st->sql, wire.count, NULL, wire.values, wire.lengths,
                                                         wire.formats, 1) == 1
                                     : put_pipelined(c, &f, st, &wire);
  if (!is_put) {  // without its sync the server cannot commit what may have left already
    db_conn_doom(c, "write failed");
    return false;
  }
  c->flights[(c->first_flight + c->flight_count++) % DB_DEPTH] = f;
  flush(c);
  return true;
}

// --- reading

static void end_flight(struct db_conn *c)
{
  struct db_flight f = take_first_flight(c);
  db_answer_flight(c->pool, c, &f);
  clear_results(&f);
}

static void keep_error(struct db_conn *c, struct db_flight *f, PGresult *result)
{
  if (f->prepares) c->is_prepared[f->ticket->statement] = false;
  if (f->error == NULL)
    f->error = result;
  else
    PQclear(result);  // the first one tells the cause
}

static void keep_rows(struct db_flight *f, PGresult *result)
{
  PGresult **slot = &f->rows;
  if (f->prepares) {
    f->prepares = false;
    PQclear(result);
    return;
  }
  PQclear(*slot);
  *slot = result;
}

static void take_result(struct db_conn *c, struct db_flight *f, PGresult *result)
{
  switch (PQresultStatus(result)) {
    case PGRES_COMMAND_OK:
    case PGRES_TUPLES_OK:
    case PGRES_EMPTY_QUERY: keep_rows(f, result); return;
    case PGRES_FATAL_ERROR: keep_error(c, f, result); return;
    case PGRES_PIPELINE_SYNC:
      PQclear(result);
      end_flight(c);
      return;
    case PGRES_PIPELINE_ABORTED:  // the rest of a unit whose error is kept already
      PQclear(result);
      return;
    default:  // COPY and the like have no place in a statement of ours
      PQclear(result);
      db_conn_doom(c, "unexpected kind of result");
  }
}

static void read_results(struct db_conn *c)
{
  bool was_null = false;
  while (!c->is_doomed && PQisBusy(c->pg) == 0 && c->flight_count > 0) {
    PGresult *result = PQgetResult(c->pg);
    if (result != NULL) {
      was_null = false;
      take_result(c, &c->flights[c->first_flight], result);
    } else if (c->pool->conf.pooler) {
      end_flight(c);
    } else if (was_null) {
      db_conn_doom(c, "results out of step");
    } else {
      was_null = true;  // the end of one statement of the unit
    }
  }
}

static void on_ready(void *ctx, int what)
{
  struct db_conn *c = ctx;
  if (c->state == DB_CONN_CONNECTING) {
    connect_step(c);
    return;
  }
  if (c->is_doomed) return;
  bool is_alive = (what & LOOP_READ) == 0 || PQconsumeInput(c->pg) == 1;
  read_results(c);  // also when the peer has gone: its last words are in the buffer
  if (!is_alive || PQstatus(c->pg) == CONNECTION_BAD) db_conn_doom(c, "connection lost");
  if (!c->is_doomed) flush(c);
}
