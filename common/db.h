// SPDX-License-Identifier: Apache-2.0
// Asynchronous PostgreSQL on the loop: a pool of connections, a bounded queue, prepared statements that follow each
// reconnect, and exactly one callback per request. Plus a small blocking session for commands. The only user of
// libpq-fe.h.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/buf.h"
#include "common/clk.h"
#include "common/conf.h"
#include "common/limits.h"
#include "common/result.h"
#include "common/runtime.h"

struct db_conf {
  char *conninfo;  // libpq conninfo or URI; empty: PG* variables and libpq's defaults alone
  int64_t pool_size;
  int64_t queue_max;  // requests that may wait; one more is RESULT_FULL
  struct span connect_timeout, statement_timeout, slow_statement;
  bool pooler;  // behind pgbouncer in transaction mode: unnamed statements, no start-up options
};
// clang-format off
#define DB_CONF_KEYS(config_type, member) \
  {"database.conninfo", CONF_TEXT, offsetof(config_type, member.conninfo), "", 0, 4096, CONF_SENSITIVE, NULL, NULL, "libpq connection string or URI; PG* variables fill what it leaves out"}, \
  {"database.pool_size", CONF_INT, offsetof(config_type, member.pool_size), "8", 1, 64, 0, NULL, NULL, "connections per daemon"}, \
  {"database.queue_max", CONF_INT, offsetof(config_type, member.queue_max), "4096", 1, 1000000, 0, NULL, NULL, "requests that may wait for a connection; more are answered 503"}, \
  {"database.connect_timeout", CONF_SPAN, offsetof(config_type, member.connect_timeout), "5s", 100000, 60000000, 0, NULL, NULL, "a connection attempt is given up after this"}, \
  {"database.statement_timeout", CONF_SPAN, offsetof(config_type, member.statement_timeout), "10s", 100000, 600000000, CONF_RELOADABLE, NULL, NULL, "a request without an answer counts as timed out after this; its statement is never cancelled"}, \
  {"database.slow_statement", CONF_SPAN, offsetof(config_type, member.slow_statement), "500ms", 0, 600000000, CONF_RELOADABLE, NULL, NULL, "slower statements are logged"}, \
  {"database.pooler", CONF_BOOL, offsetof(config_type, member.pooler), "false", 0, 0, 0, NULL, NULL, "set when a transaction pooler stands before the database"}
// clang-format on

// A statement of sql/queries/<daemon>/<name>.sql, embedded at build. Static storage; parameters carry casts in the SQL.
struct db_statement {
  const char *name;
  const char *sql;
};

// Arguments of one request, in order $1, $2, …; arrays travel in binary. Overflow is remembered; submit then returns
// RESULT_TOO_BIG.
enum db_array_type { DB_ARRAY_BOOL, DB_ARRAY_INT4, DB_ARRAY_INT8, DB_ARRAY_TEXT, DB_ARRAY_TIMESTAMPTZ };
struct db_args {
  struct buf bytes;
  struct db_arg {
    size_t at, len;
    bool is_null, is_binary;
  } items[DB_ARGS_MAX];
  size_t count;
  size_t array_at;  // an open array: where its header lies
  int32_t array_count;
  enum db_array_type array_type;
  bool array_has_null;
};
void db_args_init(struct db_args *a);
void db_args_clear(struct db_args *a);  // for reuse; keeps storage
void db_args_release(struct db_args *a);
void db_args_null(struct db_args *a);
void db_args_text(struct db_args *a, const char *text);                 // NULL gives null
void db_args_bytes(struct db_args *a, const char *bytes, size_t len);   // text of a known length
void db_args_binary(struct db_args *a, const void *bytes, size_t len);  // bytea
void db_args_i64(struct db_args *a, int64_t value);
void db_args_bool(struct db_args *a, bool value);
void db_args_time(struct db_args *a, struct wall_time t);
void db_args_array(struct db_args *a, enum db_array_type type);  // opens an array; then one call per element:
void db_args_array_i64(struct db_args *a, int64_t value);        // INT4, INT8 and BOOL arrays
void db_args_array_time(struct db_args *a, struct wall_time t);
void db_args_array_text(struct db_args *a, const char *bytes, size_t len);
void db_args_array_null(struct db_args *a);
void db_args_array_end(struct db_args *a);

// The rows of a result, in binary format, valid during the callback only. Columns count from 0.
struct db_rows;
size_t db_rows_count(const struct db_rows *rows);
bool db_rows_is_null(const struct db_rows *rows, size_t row, size_t column);
int64_t db_rows_i64(const struct db_rows *rows, size_t row, size_t column);  // int2, int4, int8; 0 for null
bool db_rows_bool(const struct db_rows *rows, size_t row, size_t column);
const char *db_rows_text(const struct db_rows *rows, size_t row,
                         size_t column);  // text, varchar, json; NUL-terminated; "" for null
size_t db_rows_text_len(const struct db_rows *rows, size_t row, size_t column);
struct wall_time db_rows_time(const struct db_rows *rows, size_t row, size_t column);  // timestamptz; 0 for null
int db_rows_column(const struct db_rows *rows, const char *name);                      // -1 if there is none

enum db_failure {
  DB_FAILED_STATEMENT,  // the server refused it: sqlstate tells; nothing was changed by it
  DB_FAILED_NOT_SENT,   // never reached a server: nothing was changed
  DB_FAILED_UNKNOWN,    // connection lost while it ran, or committed without its standby: it may or may not have taken
                        // effect
};
struct db_error {
  enum db_failure failure;
  char sqlstate[6];
  const char *message;  // the server's primary message, for logs only
  const char *detail;   // RAISE ... USING DETAIL; "" if none
  const char *hint;     // "" if none
};

// Embed this in the caller's struct and recover it with CONTAINER_OF. Exactly one of the three is called, once, from
// the loop. 40001 and 40P01 are repeated inside, a few times, before they count as failed.
struct db_request {
  const struct db_statement *statement;
  struct db_args args;  // the caller initialises, fills and releases it; unchanged until the callback
  struct span timeout;  // 0: database.statement_timeout
  void (*on_rows)(struct db_request *req, const struct db_rows *rows);
  void (*on_error)(struct db_request *req, const struct db_error *error);
  void (*on_timeout)(struct db_request *req);  // no answer yet; the statement still runs, its effect is unknown
  struct db_pool *pool;                        // private from here on
  void *link;
  int tries;
};

struct db_pool;
// role: the database role that each connection takes on (SET ROLE), or NULL. Connects in the background and for ever.
struct db_pool *db_pool_new(struct runtime *rt, const struct db_conf *conf, const char *application_name,
                            const char *role);
void db_pool_free(struct db_pool *pool);  // open requests get on_error(DB_FAILED_UNKNOWN or NOT_SENT) first
// RESULT_FULL, RESULT_UNAVAILABLE (no connection is up and none has been for a second) or RESULT_TOO_BIG: no callback
// will come.
MUST_CHECK enum result db_pool_submit(struct db_pool *pool, struct db_request *req);
void db_pool_reload(struct db_pool *pool, const struct db_conf *conf);  // takes the reloadable keys
bool db_pool_is_up(const struct db_pool *pool);
size_t db_pool_open_requests(const struct db_pool *pool);

// Blocking session for commands (migrate, apply, audit). Not on the loop of a serving daemon.
// RESULT_UNAVAILABLE: no connection, or it was lost meanwhile; RESULT_CONFLICT: serialization failure or deadlock,
// worth another try; RESULT_DENIED: missing rights; RESULT_INVALID: any other refusal by the server. db_session_error
// has its words.
struct db_session;
#define DB_WHY_BYTES 512
MUST_CHECK enum result db_session_open(const struct db_conf *conf, const char *application_name, const char *role,
                                       struct db_session **out_session, char out_why[DB_WHY_BYTES]);
void db_session_close(struct db_session *s);
// A script of several statements without parameters (migrations): one implicit transaction unless it says BEGIN.
MUST_CHECK enum result db_session_script(struct db_session *s, const char *sql);
// One statement; args may be NULL. The rows (may be NULL if not wanted) are the caller's: db_rows_free.
MUST_CHECK enum result db_session_query(struct db_session *s, const char *sql, const struct db_args *args,
                                        struct db_rows **out_rows);
void db_rows_free(struct db_rows *rows);
// Any thread, while the session is open: the statement under way is given up (57014); without one nothing happens.
void db_session_cancel(struct db_session *s);
// What the last failed call said: sqlstate, message, detail, hint. Valid until the next call.
const struct db_error *db_session_error(const struct db_session *s);
