// SPDX-License-Identifier: Apache-2.0
// Outgoing HTTP: libcurl multi on the loop. Says exactly how far a call got, since that decides whether it may be
// repeated. A kept connection on which something waits that was not asked for is closed and not used. Loop thread only.
// The only user of curl.h.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/clk.h"
#include "common/net_guard.h"
#include "common/result.h"
#include "common/runtime.h"

enum http_stage {
  HTTP_NEVER_SENT,      // no byte of the request left: name, connect or TLS failed; safe to repeat
  HTTP_SENT_NO_ANSWER,  // it may have taken effect: time-out, connection closed, answer too large or broken
  HTTP_ANSWERED,        // a complete answer came
};
struct http_header {
  const char *name, *value;
};
struct http_request {
  const char *method;  // GET, POST, PUT, DELETE
  const char *url;     // http or https only; redirects are not followed
  const struct http_header *headers;
  size_t header_count;
  const char *body;  // NULL: none
  size_t body_len;
  struct span connect_timeout, total_timeout;
  size_t answer_max;      // bytes of body; more is HTTP_SENT_NO_ANSWER with "too large"
  bool never_resend;      // sent once: a kept connection that dies is HTTP_SENT_NO_ANSWER (libcurl would send it again)
  bool fresh_connection;  // for profiles without a request id: never on a kept connection (libcurl resends there)
};
struct http_answer {  // valid during the callback
  enum http_stage stage;
  int status;        // 0 unless answered
  const char *body;  // NUL-terminated, "" if none
  size_t body_len;
  const char *retry_after;   // header as sent; "" if none
  const char *content_type;  // "" if none
  const char *fault;         // what went wrong, one line, without secrets; "" when answered
  struct span duration;
};
typedef void http_answer_fn(void *ctx, const struct http_answer *answer);

struct http_client;
struct http_call;  // an open call
// calls_max: open calls at once; connections_per_host: connections open at once to one host and port, the calls beyond
// wait for one of them within their time-outs (and have then never been sent).
struct http_client *http_client_new(struct runtime *rt, size_t calls_max, long connections_per_host);
void http_client_free(struct http_client *c);  // open calls get HTTP_SENT_NO_ANSWER or HTTP_NEVER_SENT first
// For addresses that others choose: connections are made only to what the guard allows, whatever a name resolves to;
// else the call is HTTP_NEVER_SENT. Before the first call, for the client's whole life, which the guard outlives.
void http_client_set_guard(struct http_client *c, const struct net_guard *guard);
// Everything is copied. RESULT_FULL: not taken, no callback. out_call may be NULL.
MUST_CHECK enum result http_client_send(struct http_client *c, const struct http_request *r, http_answer_fn *on_answer,
                                        void *ctx, struct http_call **out_call);
size_t http_client_open(const struct http_client *c);
