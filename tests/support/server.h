// SPDX-License-Identifier: Apache-2.0
// PostgreSQL and RabbitMQ for test programs. The runner starts one pair for the whole run and names it in the
// environment (LARGESSE_TEST_HOME, LARGESSE_TEST_PORT); a program started alone starts its own and stops it at its end.
// Each program asks for databases and virtual hosts of its own, so that programs can run side by side. Whoever stops,
// restarts or starves a server must have it for itself: its source has the line `// runs alone`.
#pragma once

#include <stdbool.h>

#include "common/buf.h"
#include "tests/support/sql.h"

struct server;

struct server *server_start(void);
void server_free(struct server *s);  // stops the servers if this program started them; NULL is allowed

int server_set_up(void **state);  // for cmocka; *state is the server
int server_tear_down(void **state);

// Databases. The template has every migration, made once by `scheduler migrate`.
char *server_conninfo(const struct server *s, const char *database);    // libpq text; heap
char *server_new_database(struct server *s, const char *prefix);        // migrated; its name; heap
char *server_new_empty_database(struct server *s, const char *prefix);  // nothing in it
struct sql *server_open(const struct server *s, const char *database);
int server_pg_port(const struct server *s);

// A fresh virtual host of the broker: amqp://guest:guest@127.0.0.1:PORT/tN; heap.
char *server_new_broker_url(struct server *s);
int server_mq_port(const struct server *s);

int server_free_port(struct server *s);

// Faults. Each returns when it is done.
void server_postgres_stop(struct server *s, bool immediate);  // immediate: as after a crash
void server_postgres_start(struct server *s);
void server_postgres_restart(struct server *s, bool immediate);
void server_broker_kill(struct server *s);      // SIGKILL
void server_broker_start(struct server *s);     // about 6 s
void server_broker_stop_app(struct server *s);  // clean stop; about 2 s
void server_broker_start_app(struct server *s);
void server_broker_alarm(struct server *s, bool on);  // memory alarm: publishers are blocked
// Takes back the faults that a case which failed in their midst has left: the next case, and the next program on these
// servers, find them whole. server_free does it too.
void server_heal(struct server *s);
// How often a text stands in RabbitMQ's log.
int server_broker_log_count(const struct server *s, const char *text);
void server_rabbitmqctl(struct server *s, const char *const *args, struct buf *out);  // ended by NULL; out may be NULL
