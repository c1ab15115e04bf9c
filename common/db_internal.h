// SPDX-License-Identifier: Apache-2.0
// What the db_*.c files share and nobody else may include: tickets, connections, the pool. libpq's types stay
// incomplete here, so that its header is included by those files alone.
#pragma once

#include "common/db.h"
#include "common/heap.h"
#include "common/list.h"
#include "common/loop.h"

struct pg_conn;
struct pg_result;
struct metric_series;

enum {
  DB_DEPTH = 1,      // units of work in flight on one connection; each ends with a sync of its own
  DB_TRIES_MAX = 5,  // of a statement that met a deadlock or a serialization failure
};

struct db_rows {
  struct pg_result *result;
};

// One submitted request, from submission until its statement is known to have ended. The request itself leaves at its
// callback, which may come earlier (time-out): then `req` is NULL and only the connection is still occupied.
enum db_ticket_state { DB_TICKET_FREE, DB_TICKET_WAITING, DB_TICKET_RUNNING, DB_TICKET_DELAYED, DB_TICKET_ORPHAN };
struct db_ticket {
  struct list node;      // pool->free_tickets or pool->waiting
  struct heap_node due;  // pool->due: deadline, end of a delay, or end of an orphan's grace
  enum db_ticket_state state;
  struct db_request *req;
  size_t statement;  // index into pool->statements
  struct mono_time submitted, deadline;
  struct db_conn *conn;  // while running or orphaned
};

// A unit of work that was sent: prepare (perhaps), execute, sync.
struct db_flight {
  struct db_ticket *ticket;
  struct mono_time sent;
  bool prepares;           // the first result is the prepare's
  bool is_flushed;         // its sync has left this process; before that the server cannot have committed it
  bool lost_standby;       // committed here, but the wait for the standby was cut short
  struct pg_result *rows;  // last good result, kept until the sync says that it is committed
  struct pg_result *error;
};

enum db_conn_state { DB_CONN_DOWN, DB_CONN_CONNECTING, DB_CONN_UP };
struct db_conn {
  struct db_pool *pool;
  struct list node;  // pool->idle while it is up and has room
  enum db_conn_state state;
  struct pg_conn *pg;
  struct loop_watch *watch;
  struct loop_timer *timer;     // connect time-out, or pause before the next attempt
  struct loop_task close_task;  // closing from inside a callback is put off to the end of the turn
  bool is_doomed;               // takes no more work; close_task is armed
  const char *why_doomed;
  uint32_t failed_attempts;
  uint32_t number;
  struct db_flight flights[DB_DEPTH];  // a ring: the oldest is first
  size_t first_flight, flight_count;
  bool is_prepared[DB_STATEMENTS_MAX];
};

struct db_known_statement {
  const struct db_statement *statement;
  struct metric_series *seconds;
};

struct db_pool {
  struct runtime rt;
  struct db_conf conf;  // strings are copies
  char *application_name, *role;
  struct db_conn *conns;
  size_t conn_count, up_count;
  struct list idle, waiting, free_tickets;
  struct db_ticket *tickets;  // all there will ever be; the first tickets_used have been used before
  size_t ticket_count, tickets_used;
  size_t waiting_count;  // waiting or delayed
  size_t open_count;     // requests that still await their callback
  struct heap due;
  struct loop_timer *due_timer;
  struct mono_time timer_at;  // when due_timer fires; meaningless if it is not set
  struct loop_timer *down_timer;
  bool is_refusing;  // no connection is up and none has been for a second
  bool is_closing;
  unsigned answering;  // callbacks on the stack
  uint64_t seed;       // spreads delays
  struct mono_time connect_failure_logged;
  struct db_known_statement statements[DB_STATEMENTS_MAX];
  size_t statement_count;
};

// db_params.c: keywords for PQconnect*Params.
enum { DB_PARAMS_MAX = 16 };
struct db_params {
  const char *keywords[DB_PARAMS_MAX], *values[DB_PARAMS_MAX];
  size_t count;
  struct buf options;
};
void db_params_init(struct db_params *p, const struct db_conf *conf, const char *application_name, const char *role);
void db_params_add(struct db_params *p, const char *keyword, const char *value);
void db_params_release(struct db_params *p);

// db_args.c, for PQsendQuery*: pointers into the arguments' bytes.
struct db_wire_args {
  const char *values[DB_ARGS_MAX];
  int lengths[DB_ARGS_MAX], formats[DB_ARGS_MAX];
  int count;
};
void db_args_to_wire(const struct db_args *a, struct db_wire_args *out);

// db_error.c
struct db_error db_error_of(const struct pg_result *result, enum db_failure failure);
bool db_error_is(const struct pg_result *result, const char *sqlstate);
bool db_error_ended_session(const struct pg_result *result);  // FATAL or PANIC: the backend is gone
bool db_error_is_raised(const struct pg_result *result);  // a RAISE of our own SQL functions: an answer, not a fault
bool db_error_is_stale_plan(
    const struct pg_result *result);  // tables changed under a prepared statement; reconnecting cures it
bool db_notice_lost_standby(const struct pg_result *notice);

// db_conn.c: one connection. It knows flights, not what becomes of them.
void db_conn_init(struct db_conn *c, struct db_pool *pool, uint32_t number);
void db_conn_start(struct db_conn *c);
bool db_conn_has_room(const struct db_conn *c);
bool db_conn_send(struct db_conn *c, struct db_ticket *t);  // false: nothing was sent, and the connection is doomed
void db_conn_doom(struct db_conn *c, const char *why);      // closes at the end of the turn; why is a literal
void db_conn_release(struct db_conn *c);                    // gives up what is in flight

// db_pool.c, called by db_conn.c
void db_pool_on_up(struct db_pool *pool, struct db_conn *c);
void db_pool_on_doomed(struct db_pool *pool, struct db_conn *c);
void db_pool_on_down(struct db_pool *pool, struct db_conn *c,
                     const char *why);  // it was up; its flights follow as lost
void db_pool_on_connect_failed(struct db_pool *pool, const struct db_conn *c, const char *why);

// db_answer.c: what becomes of a flight, and the only ways out of a request
void db_answer_flight(struct db_pool *pool, struct db_conn *c, const struct db_flight *f);     // its sync came
void db_answer_lost_flight(struct db_pool *pool, const struct db_flight *f, const char *why);  // its connection went
void db_answer_not_sent(struct db_pool *pool, struct db_ticket *t, const char *why);
void db_answer_timeout(struct db_pool *pool, struct db_ticket *t);

// db_pool.c, called by db_answer.c
void db_pool_release_ticket(struct db_pool *pool, struct db_ticket *t);
void db_pool_delay_ticket(struct db_pool *pool, struct db_ticket *t, struct span delay);  // waits, then is sent again
void db_pool_count_waiting(struct db_pool *pool, int change);
void db_pool_add_due(struct db_pool *pool, struct db_ticket *t, struct mono_time due);
void db_pool_dispatch(struct db_pool *pool);
