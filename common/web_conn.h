// SPDX-License-Identifier: Apache-2.0
// What the files of the HTTP server share: server, connection, request. Private to web*.c.
// Owner: the loop thread.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/buf.h"
#include "common/clk.h"
#include "common/list.h"
#include "common/loop.h"
#include "common/metric.h"
#include "common/trace.h"
#include "common/web.h"
#include "common/web_parse.h"

#define WEB_TRACE_BYTES TRACE_PARENT_BYTES
#define WEB_CODES_KEPT  16

// States of a connection; each has its list in the server, oldest first, so that time-outs only look at the first one.
enum conn_state {
  CONN_IDLE,       // between requests: no byte of the next one
  CONN_READING,    // a request has begun
  CONN_HANDLING,   // the request belongs to its handler until the reply
  CONN_FLUSHING,   // closes when everything is sent
  CONN_LINGERING,  // all is sent and our side is shut; the client's bytes are read and dropped so that no reset eats
                   // the answer
  CONN_CLOSED,     // waits for the end of the turn to be freed
  CONN_STATE_COUNT
};

struct web_name_value {
  const char *name, *value;
};

struct web_request {
  struct web_parse parse;
  const struct web_route *route;  // NULL: none matched, or the request is broken
  struct web_match match;
  const char *routed_in;  // the buffer that match points into
  struct web_name_value params[WEB_PATH_PARAMS_MAX];
  size_t param_count;
  struct web_name_value query[WEB_QUERY_PARAMS_MAX];
  size_t query_count;
  const char *path;  // decoded
  char *scratch;     // decoded texts of this request; the storage is kept for the next one
  size_t scratch_cap;
  bool is_head;
  bool must_close;  // this is the last request of its connection
  struct web_caller caller;
  char trace[WEB_TRACE_BYTES];  // "" until asked for
  char body_saved;              // the byte that the NUL behind the body replaced
  struct mono_time started;
  struct buf headers;  // of the reply, as they are sent
  unsigned header_count;
  bool has_policy;                // the handler has set a Content-Security-Policy of its own
  bool has_language, is_chinese;  // chosen otherwise than by Accept-Language
};

struct web_conn {
  struct list node;           // in the list of its state
  struct list dirty_node;     // in the server's list of connections with work at the end of the turn
  struct list stalled_node;   // in the server's list of connections whose client does not read
  struct web_server *server;  // NULL: the server is gone, the request still with its handler
  void *handler_ctx;
  struct web_calls *calls;
  struct loop_watch *watch;
  int fd;
  int watched;  // what the watch is set to
  enum conn_state state;
  struct mono_time since;  // entered this state
  struct mono_time stalled_since;
  bool gone;       // the client has left or the connection is broken: answers are dropped
  bool eof;        // the client has shut its side
  bool linger;     // close gently: unread bytes may be under way
  bool is_large;   // its request is one of the few that may have a body over body_max
  size_t dropped;  // bytes read while lingering
  char *in;
  size_t in_len, in_cap;
  struct buf out;
  size_t out_at;  // sent up to here
  struct web_request request;
};

struct web_counts {  // of one route
  struct metric_series *seconds;
  struct {
    int status;
    struct metric_series *requests;
  } codes[WEB_CODES_KEPT];
};

struct web_server {
  struct runtime *rt;
  struct web_conf conf;  // the strings are the caller's
  const struct web_routes *routes;
  void *handler_ctx;
  struct web_calls *calls;
  int listener;  // -1: closed
  struct loop_watch *listen_watch;
  int port;
  bool accept_paused;
  bool draining;
  bool overlooks_newcomers;  // the end of accepting has begun
  struct mono_time drain_since;
  char *not_ready;  // NULL: ready
  char *degraded;   // NULL: nothing is missing
  web_auth_fn *auth;
  void *auth_ctx;
  web_gate_fn *gate;   // NULL: none
  const char *policy;  // Content-Security-Policy
  struct list conns[CONN_STATE_COUNT];
  struct list dirty, stalled;
  size_t conn_count;  // without closed ones
  size_t handling_count;
  size_t large_count;  // at most WEB_LARGE_BODIES_MAX
  struct loop_task flush_task;
  struct loop_timer *sweep;
  struct buf page;            // bodies that the server makes itself
  struct web_counts *counts;  // standard routes, then the caller's, then "none"
  int64_t date_s;             // second of date
  char date[32];              // "Sun, 06 Nov 1994 08:49:37 GMT"
  struct trace_source traces;
};

// web_conn.c
void conn_new(struct web_server *s, int fd);
void conn_close(struct web_conn *c);         // at once; freed at the end of the turn
void conn_free(struct web_conn *c);          // outside of callbacks only
void conn_request_done(struct web_conn *c);  // the reply is in c->out
void conn_time_out(struct web_conn *c);      // CONN_READING took too long
bool conn_has_output(const struct web_conn *c);
void conn_touch(struct web_conn *c);  // counts its time in this state from now
void conn_flush_dirty(void *server);  // end of turn
// web_std.c
void web_std_route(struct web_request *req);     // the head is known: finds the route
void web_std_dispatch(struct web_request *req);  // the request is complete: answers, or hands it to its handler
bool web_std_refuses(struct web_request *req);   // would dispatch refuse it whatever the body is?
bool web_std_is_json(const char *content_type);
// web_request.c
bool web_request_decode(struct web_request *req);  // path, parameters, query; false: malformed
// web_reply.c
void web_reply_fault(struct web_request *req, int status, const char *detail);  // closes the connection afterwards
void web_reply_continue(struct web_conn *c);
struct web_conn *web_request_conn(const struct web_request *req);
// web.c
void web_server_arm_sweep(struct web_server *s);
void web_server_resume_accept(struct web_server *s);
void web_server_count(struct web_server *s, const struct web_route *route, int status, struct span took);
