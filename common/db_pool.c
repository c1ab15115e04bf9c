// SPDX-License-Identifier: Apache-2.0
// The pool: hands waiting requests to connections with room, oldest first, and watches their deadlines.
// Owner: the daemon that made it; loop thread.
#include <libpq-fe.h>
#include <string.h>

#include "common/contract.h"
#include "common/db_internal.h"
#include "common/log.h"
#include "common/mem.h"
#include "common/metric.h"

static const struct span down_tolerance = {1000000};     // without any connection, requests wait this long
static const struct span orphan_grace_min = {30000000};  // a statement that timed out may run on at least this long
static const struct span connect_log_interval = {5000000};

static void on_due(void *ctx);
static void on_down_too_long(void *ctx);

struct db_pool *db_pool_new(struct runtime *rt, const struct db_conf *conf, const char *application_name,
                            const char *role)
{
  struct db_pool *pool = MEM_NEW(struct db_pool);
  pool->rt = *rt;
  pool->conf = *conf;
  pool->conf.conninfo = mem_strdup(conf->conninfo == NULL ? "" : conf->conninfo);
  pool->application_name = mem_strdup(application_name);
  pool->role = role == NULL ? NULL : mem_strdup(role);
  pool->seed = (uint64_t)clk_mono().us;
  pool->connect_failure_logged = (struct mono_time){-connect_log_interval.us};
  list_init(&pool->idle);
  list_init(&pool->waiting);
  list_init(&pool->free_tickets);
  pool->conn_count = (size_t)conf->pool_size;
  pool->ticket_count = (size_t)conf->queue_max + pool->conn_count * DB_DEPTH;
  pool->tickets = MEM_ARRAY(struct db_ticket, pool->ticket_count);
  heap_init(&pool->due, pool->ticket_count);
  pool->due_timer = loop_timer_new(rt->loop, on_due, pool);
  pool->down_timer = loop_timer_new(rt->loop, on_down_too_long, pool);
  loop_timer_set(pool->down_timer, down_tolerance);
  pool->conns = MEM_ARRAY(struct db_conn, pool->conn_count);
  for (size_t i = 0; i < pool->conn_count; i++) db_conn_init(&pool->conns[i], pool, (uint32_t)i);
  for (size_t i = 0; i < pool->conn_count; i++) db_conn_start(&pool->conns[i]);
  return pool;
}

void db_pool_reload(struct db_pool *pool, const struct db_conf *conf)
{
  pool->conf.statement_timeout = conf->statement_timeout;
  pool->conf.slow_statement = conf->slow_statement;
}

bool db_pool_is_up(const struct db_pool *pool) { return pool->up_count > 0; }

size_t db_pool_open_requests(const struct db_pool *pool) { return pool->open_count; }

// --- tickets

static struct db_ticket *take_ticket(struct db_pool *pool)
{
  struct list *node = list_take_first(&pool->free_tickets);
  if (node != NULL) return CONTAINER_OF(node, struct db_ticket, node);
  if (pool->tickets_used == pool->ticket_count) return NULL;
  struct db_ticket *t = &pool->tickets[pool->tickets_used++];
  list_init(&t->node);
  return t;
}

void db_pool_release_ticket(struct db_pool *pool, struct db_ticket *t)
{
  REQUIRE(t->req == NULL && t->state != DB_TICKET_FREE && !list_is_linked(&t->node));
  heap_remove(&pool->due, &t->due);
  t->state = DB_TICKET_FREE;
  t->conn = NULL;
  list_add_last(&pool->free_tickets, &t->node);
}

void db_pool_count_waiting(struct db_pool *pool, int change)
{
  pool->waiting_count = (size_t)((int64_t)pool->waiting_count + change);
  metric_put(pool->rt.metrics, M_DB_POOL_WAITING, (double)pool->waiting_count);
}

// One loop timer for all: it is touched only when the new item comes first, which with equal time-outs is seldom.
static void arm_due_timer(struct db_pool *pool, struct mono_time due)
{
  if (loop_timer_is_set(pool->due_timer) && !mono_before(due, pool->timer_at)) return;
  pool->timer_at = due;
  loop_timer_set(pool->due_timer, mono_since(due, loop_now(pool->rt.loop)));
}

void db_pool_add_due(struct db_pool *pool, struct db_ticket *t, struct mono_time due)
{
  heap_remove(&pool->due, &t->due);
  ENSURE(heap_add(&pool->due, &t->due, due) == RESULT_OK);  // there are no more tickets than places
  arm_due_timer(pool, due);
}

static void let_wait(struct db_pool *pool, struct db_ticket *t, bool is_first)
{
  t->state = DB_TICKET_WAITING;
  if (is_first)
    list_add_last(pool->waiting.next, &t->node);  // before the first one
  else
    list_add_last(&pool->waiting, &t->node);
  db_pool_add_due(pool, t, t->deadline);
}

void db_pool_delay_ticket(struct db_pool *pool, struct db_ticket *t, struct span delay)
{
  struct mono_time due = mono_after(loop_now(pool->rt.loop), delay);
  t->state = DB_TICKET_DELAYED;
  db_pool_count_waiting(pool, 1);
  db_pool_add_due(pool, t, mono_before(t->deadline, due) ? t->deadline : due);
}

// --- submission

// A statement may stand in several translation units; its name is its identity.
static size_t know_statement(struct db_pool *pool, const struct db_statement *statement)
{
  for (size_t i = 0; i < pool->statement_count; i++) {
    if (pool->statements[i].statement == statement) return i;
  }
  for (size_t i = 0; i < pool->statement_count; i++) {
    const struct db_statement *known = pool->statements[i].statement;
    if (strcmp(known->name, statement->name) != 0) continue;
    REQUIRE(strcmp(known->sql, statement->sql) == 0);
    return i;
  }
  REQUIRE(pool->statement_count < DB_STATEMENTS_MAX);
  pool->statements[pool->statement_count] =
      (struct db_known_statement){statement, METRIC_SERIES(pool->rt.metrics, M_DB_REQUEST_SECONDS, statement->name)};
  return pool->statement_count++;
}

enum result db_pool_submit(struct db_pool *pool, struct db_request *req)
{
  REQUIRE(req->on_rows != NULL && req->on_error != NULL && req->on_timeout != NULL);
  if (buf_result(&req->args.bytes) != RESULT_OK) return RESULT_TOO_BIG;
  if (pool->is_closing || pool->is_refusing) return RESULT_UNAVAILABLE;
  bool must_wait = list_is_empty(&pool->idle) || !list_is_empty(&pool->waiting);
  if (must_wait && pool->waiting_count >= (size_t)pool->conf.queue_max) return RESULT_FULL;
  struct db_ticket *t = take_ticket(pool);
  if (t == NULL) return RESULT_FULL;

  struct span timeout = req->timeout.us > 0 ? req->timeout : pool->conf.statement_timeout;
  req->pool = pool;
  req->link = t;
  req->tries = 0;
  t->req = req;
  t->statement = know_statement(pool, req->statement);
  t->submitted = loop_now(pool->rt.loop);
  t->deadline = mono_after(t->submitted, timeout);
  pool->open_count++;
  db_pool_count_waiting(pool, 1);
  let_wait(pool, t, false);
  db_pool_dispatch(pool);
  return RESULT_OK;
}

// Never calls back, so it may be called from anywhere.
void db_pool_dispatch(struct db_pool *pool)
{
  while (!list_is_empty(&pool->waiting) && !list_is_empty(&pool->idle)) {
    struct db_conn *c = CONTAINER_OF(pool->idle.prev, struct db_conn, node);  // the last used: its backend is warm
    struct db_ticket *t = CONTAINER_OF(list_take_first(&pool->waiting), struct db_ticket, node);
    db_pool_count_waiting(pool, -1);
    t->state = DB_TICKET_RUNNING;
    t->conn = c;
    if (!db_conn_send(c, t)) {
      t->conn = NULL;
      t->req->tries++;
      db_pool_delay_ticket(pool, t, (struct span){0});
    } else if (!db_conn_has_room(c) && list_is_linked(&c->node)) {
      list_remove(&c->node);
    }
  }
}

// --- deadlines

static void become_orphan(struct db_pool *pool, struct db_ticket *t, struct mono_time now)
{
  struct span grace = {3 * mono_since(t->deadline, t->submitted).us};
  if (grace.us < orphan_grace_min.us) grace = orphan_grace_min;
  t->state = DB_TICKET_ORPHAN;
  db_pool_add_due(pool, t, mono_after(now, grace));
  db_answer_timeout(pool, t);
}

static void end_delay(struct db_pool *pool, struct db_ticket *t, struct mono_time now)
{
  if (pool->is_refusing || t->req->tries > DB_TRIES_MAX || !mono_before(now, t->deadline)) {
    db_pool_count_waiting(pool, -1);
    db_answer_not_sent(pool, t, "given up between two tries");
    return;
  }
  let_wait(pool, t, true);
}

static void ticket_is_due(struct db_pool *pool, struct db_ticket *t, struct mono_time now)
{
  heap_remove(&pool->due, &t->due);
  switch (t->state) {
    case DB_TICKET_WAITING:
      list_remove(&t->node);
      db_pool_count_waiting(pool, -1);
      db_answer_not_sent(pool, t, "no connection became free in time");
      return;
    case DB_TICKET_DELAYED: end_delay(pool, t, now); return;
    case DB_TICKET_RUNNING: become_orphan(pool, t, now); return;
    case DB_TICKET_ORPHAN:  // the connection's end does not cancel the statement
      db_conn_doom(t->conn, "a statement that had timed out did not end");
      return;
    case DB_TICKET_FREE: break;
  }
  REQUIRE(t->state != DB_TICKET_FREE);
}

static void on_due(void *ctx)
{
  struct db_pool *pool = ctx;
  struct mono_time now = loop_now(pool->rt.loop);
  for (struct heap_node *n = heap_first(&pool->due); n != NULL && !mono_before(now, n->due);
       n = heap_first(&pool->due)) {
    ticket_is_due(pool, CONTAINER_OF(n, struct db_ticket, due), now);
  }
  db_pool_dispatch(pool);
  struct heap_node *next = heap_first(&pool->due);
  if (next != NULL) arm_due_timer(pool, next->due);
}

// --- connections that come and go

static void count_up(struct db_pool *pool, int change)
{
  pool->up_count = (size_t)((int64_t)pool->up_count + change);
  metric_put(pool->rt.metrics, M_DB_POOL_CONNECTED, (double)pool->up_count);
}

void db_pool_on_up(struct db_pool *pool, struct db_conn *c)
{
  count_up(pool, 1);
  loop_timer_clear(pool->down_timer);
  pool->is_refusing = false;
  list_add_last(&pool->idle, &c->node);
  db_pool_dispatch(pool);
}

void db_pool_on_doomed(struct db_pool *pool, struct db_conn *c)
{
  (void)pool;
  if (list_is_linked(&c->node)) list_remove(&c->node);
}

void db_pool_on_down(struct db_pool *pool, struct db_conn *c, const char *why)
{
  count_up(pool, -1);
  LOG(pool->rt.log, EV_DB_CONNECTION_LOST, F_UINT("connection", c->number), F_STR("reason", why),
      F_UINT("still_up", pool->up_count));
  if (pool->up_count == 0) loop_timer_set(pool->down_timer, down_tolerance);
}

void db_pool_on_connect_failed(struct db_pool *pool, const struct db_conn *c, const char *why)
{
  struct mono_time now = loop_now(pool->rt.loop);
  if (mono_since(now, pool->connect_failure_logged).us < connect_log_interval.us) return;
  pool->connect_failure_logged = now;
  size_t len = strlen(why);
  while (len > 0 && why[len - 1] == '\n') len--;
  LOG(pool->rt.log, EV_DB_CONNECTION_LOST, F_UINT("connection", c->number), F_STR("reason", "connect_failed"),
      F_BYTES("detail", why, len), F_UINT("attempt", c->failed_attempts + 1), F_UINT("still_up", pool->up_count));
}

static void give_up_waiting(struct db_pool *pool, const char *why)
{
  struct list *node;
  while ((node = list_take_first(&pool->waiting)) != NULL) {
    db_pool_count_waiting(pool, -1);
    db_answer_not_sent(pool, CONTAINER_OF(node, struct db_ticket, node), why);
  }
}

static void on_down_too_long(void *ctx)
{
  struct db_pool *pool = ctx;
  pool->is_refusing = true;
  give_up_waiting(pool, "the database cannot be reached");
}

static void give_up_delayed(struct db_pool *pool)
{
  for (size_t i = 0; i < pool->tickets_used; i++) {
    struct db_ticket *t = &pool->tickets[i];
    if (t->state != DB_TICKET_DELAYED) continue;
    db_pool_count_waiting(pool, -1);
    db_answer_not_sent(pool, t, "the pool was closed");
  }
}

void db_pool_free(struct db_pool *pool)
{
  if (pool == NULL) return;
  REQUIRE(pool->answering == 0);  // from inside a callback: loop_defer_free
  pool->is_closing = true;
  for (size_t i = 0; i < pool->conn_count; i++) db_conn_release(&pool->conns[i]);
  give_up_waiting(pool, "the pool was closed");
  give_up_delayed(pool);
  loop_timer_free(pool->due_timer);
  loop_timer_free(pool->down_timer);
  heap_release(&pool->due);
  mem_free(pool->conns);
  mem_free(pool->tickets);
  mem_free(pool->conf.conninfo);
  mem_free(pool->application_name);
  mem_free(pool->role);
  mem_free(pool);
}
