// SPDX-License-Identifier: Apache-2.0
// A client and a misbehaving server on one loop, and what is expected of a call.
// Owner: the unit tests of the HTTP client.
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <stdio.h>
#include <cmocka.h>

#include "common/clk.h"
#include "common/http_client.h"
#include "common/loop.h"
#include "tests/unit/fake_http.h"

struct fixture {
  struct runtime rt;
  struct http_client *client;
  struct fake fake;
  char url[64];
};

struct outcome {
  int calls;
  enum http_stage stage;
  int status;
  struct buf body, fault, retry_after, content_type;
  struct span duration;
};

// --- the client

static inline int setup_with(void **state, size_t calls_max, long connections_per_host)
{
  struct fixture *f = MEM_NEW(struct fixture);
  f->rt.loop = loop_new();
  f->client = http_client_new(&f->rt, calls_max, connections_per_host);
  *state = f;
  return 0;
}

static inline int setup(void **state) { return setup_with(state, 16, 16); }
static inline int setup_one_call(void **state) { return setup_with(state, 1, 16); }
static inline int setup_one_connection(void **state) { return setup_with(state, 16, 1); }

static inline int teardown(void **state)
{
  struct fixture *f = *state;
  http_client_free(f->client);
  fake_stop(&f->fake);
  loop_free(f->rt.loop);
  mem_free(f);
  return 0;
}

static inline void start(struct fixture *f, const struct step *steps, size_t count)
{
  fake_start(&f->fake, steps, count);
  (void)snprintf(f->url, sizeof f->url, "http://127.0.0.1:%d/credits", f->fake.port);
}

static inline void keep(struct buf *b, const char *text)
{
  buf_init(b, 1 << 20);
  buf_puts(b, text);
}

static inline void on_answer(void *ctx, const struct http_answer *a)
{
  struct outcome *o = ctx;
  o->calls++;
  o->stage = a->stage;
  o->status = a->status;
  o->duration = a->duration;
  assert_int_equal(strlen(a->body), a->body_len);
  keep(&o->body, a->body);
  keep(&o->fault, a->fault);
  keep(&o->retry_after, a->retry_after);
  keep(&o->content_type, a->content_type);
}

static inline void outcome_release(struct outcome *o)
{
  buf_release(&o->body);
  buf_release(&o->fault);
  buf_release(&o->retry_after);
  buf_release(&o->content_type);
  *o = (struct outcome){0};
}

static inline struct http_request post_to(const char *url)
{
  static const struct http_header headers[] = {
      {"Content-Type", "application/json"}, {"Idempotency-Key", "12-345"}, {"X-Empty", ""}};
  return (struct http_request){.method = "POST",
                               .url = url,
                               .headers = headers,
                               .header_count = ARRAY_LEN(headers),
                               .body = "{\"requestId\":\"12-345\"}",
                               .body_len = 22,
                               .connect_timeout = span_s(5),
                               .total_timeout = span_s(8),
                               .answer_max = 10000};
}

static inline void wait_for(struct fixture *f, const struct outcome *o)
{
  struct mono_time end = mono_after(clk_mono(), span_s(10));
  while (o->calls == 0 && mono_before(clk_mono(), end)) loop_turn(f->rt.loop, span_ms(10));
  assert_int_equal(o->calls, 1);
}

static inline void send_and_wait(struct fixture *f, const struct http_request *r, struct outcome *o)
{
  *o = (struct outcome){0};
  assert_int_equal(http_client_send(f->client, r, on_answer, o, NULL), RESULT_OK);
  assert_int_equal(o->calls, 0);  // never from inside
  wait_for(f, o);
  assert_int_equal(http_client_open(f->client), 0);
}

static inline void expect_fault(struct fixture *f, const struct http_request *r, enum http_stage stage)
{
  struct outcome o;
  send_and_wait(f, r, &o);
  if (o.stage != stage) print_error("stage %d, expected %d: %s\n", (int)o.stage, (int)stage, buf_text(&o.fault));
  assert_int_equal(o.stage, stage);
  assert_int_equal(o.status, 0);
  assert_string_equal(buf_text(&o.body), "");
  assert_true(o.fault.len > 0);
  assert_null(strpbrk(buf_text(&o.fault), "\r\n"));
  outcome_release(&o);
}

static inline void expect_answer(struct fixture *f, const struct http_request *r, int status)
{
  struct outcome o;
  send_and_wait(f, r, &o);
  if (o.stage != HTTP_ANSWERED) print_error("not answered: %s\n", buf_text(&o.fault));
  assert_int_equal(o.stage, HTTP_ANSWERED);
  assert_int_equal(o.status, status);
  assert_string_equal(buf_text(&o.fault), "");
  outcome_release(&o);
}
