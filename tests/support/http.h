// SPDX-License-Identifier: Apache-2.0
// A small blocking HTTP/1.1 client for tests and benchmarks: one call, many calls at the same moment, a kept-alive
// connection, and raw bytes. It speaks to 127.0.0.1 only and understands what the daemons send (Content-Length).
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "common/buf.h"

struct http_request {
  int port;
  const char *method;  // NULL: GET, or POST if there is a body
  const char *path;
  const char *headers;  // further header lines, each ended by "\r\n"; NULL: none
  const char *body;     // NULL: none. Content-Type: application/json unless headers name another
  size_t body_len;      // 0: strlen(body)
  int timeout_ms;       // whole call; 0: 15000
};
struct http_answer {
  int status;  // 0: no complete answer (refused, reset, time-out)
  char *head;  // status line and headers; "" without an answer
  char *body;  // NUL-terminated
  size_t body_len;
  double seconds;
};
void http_answer_release(struct http_answer *a);
// The header's value; NULL if absent. Free with mem_free.
char *http_answer_header(const struct http_answer *a, const char *name);
// The body as JSON; ends the test program, showing the body, if it is none. Free with json_decref.
json_t *http_answer_json(const struct http_answer *a);

void http_call(const struct http_request *r, struct http_answer *out);
// All connections are opened first, then all requests are sent, then the answers are read.
void http_call_all(const struct http_request *requests, size_t count, struct http_answer *outs);

// Shorthands; the body is JSON text.
void http_get(int port, const char *path, struct http_answer *out);
void http_post(int port, const char *path, const char *body, struct http_answer *out);
void http_put(int port, const char *path, const char *body, struct http_answer *out);
// The status and, in *out_json (NULL: not wanted), the parsed answer. 0 if there was no answer: *out_json is NULL then.
int http_json(int port, const char *method, const char *path, const char *body, json_t **out_json);

// A kept-alive connection; opened again by itself when the server has closed it.
struct http_conn {
  int port;
  int fd;
};
void http_conn_init(struct http_conn *c, int port);
void http_conn_call(struct http_conn *c, const struct http_request *r, struct http_answer *out);  // r->port is ignored
void http_conn_release(struct http_conn *c);

// A TCP connection to 127.0.0.1, or -1. Close it yourself.
int http_connect(int port);
// Sends bytes as they are and reads until the peer closes, or until timeout_ms pass. True if the peer closed.
bool http_raw(int port, const char *bytes, size_t len, int timeout_ms, struct buf *out);
