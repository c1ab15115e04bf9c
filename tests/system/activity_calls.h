// SPDX-License-Identifier: Apache-2.0
// Calls of the activity API in tests: one scheduler, JSON in and out, asserts that show what came instead.
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/jsonx.h"
#include "common/mem.h"
#include "tests/support/http.h"
#include "tests/support/stack.h"
#include "tests/support/support.h"

#define BODY(start, end, more)                                                        \
  "{\"name\":\"Test\",\"kind\":\"reward\",\"startAt\":\"" start "\",\"endAt\":\"" end \
  "\",\"timeZone\":\"Asia/Shanghai\",\"rewardCode\":\"r\"" more "}"
#define RUNNING(more) BODY("2020-01-01T00:00:00Z", "2099-01-01T00:00:00+08:00", more)
#define COMING(more)  BODY("2098-01-01T00:00:00Z", "2099-01-01T00:00:00+08:00", more)
#define STOCK         ",\"stock\":{\"total\":10}"

struct fixture {
  struct server *server;
  struct stack *stack;
  int port;
};

UNUSED static int start(void **state)
{
  struct fixture *f = MEM_NEW(struct fixture);
  f->server = server_start();
  f->stack = stack_start(f->server,
                         &(struct stack_options){.no_fulfiller = true, .no_reconciler = true, .no_simulator = true});
  f->port = f->stack->scheduler_ports[0];
  *state = f;
  return 0;
}

UNUSED static int stop(void **state)
{
  struct fixture *f = *state;
  stack_free(f->stack);
  server_free(f->server);
  mem_free(f);
  return 0;
}

// --- calling

struct call {
  int status;
  json_t *json;
  char *etag, *location, *replayed;
};

UNUSED static struct call call_with(struct fixture *f, const char *method, const char *path, const char *body,
                                    const char *headers)
{
  struct http_answer a;
  http_call(&(struct http_request){.port = f->port, .method = method, .path = path, .body = body, .headers = headers},
            &a);
  struct call c = {a.status, a.body_len > 0 ? http_answer_json(&a) : NULL, http_answer_header(&a, "ETag"),
                   http_answer_header(&a, "Location"), http_answer_header(&a, "Idempotent-Replayed")};
  http_answer_release(&a);
  return c;
}

UNUSED static void call_release(struct call *c)
{
  json_decref(c->json);
  mem_free(c->etag);
  mem_free(c->location);
  mem_free(c->replayed);
}

UNUSED static const char *text_at(const struct call *c, const char *pointer)
{
  const json_t *j = c->json != NULL ? jsonx_pointer(c->json, pointer) : NULL;
  return json_is_string(j) ? json_string_value(j) : "";
}

UNUSED static int64_t number_at(const struct call *c, const char *pointer)
{
  const json_t *j = c->json != NULL ? jsonx_pointer(c->json, pointer) : NULL;
  return json_is_integer(j) ? json_integer_value(j) : -1;
}

UNUSED static void assert_call(struct fixture *f, const char *method, const char *path, const char *body, int status,
                               const char *code)
{
  struct call c = call_with(f, method, path, body, NULL);
  if (c.status != status || (code != NULL && strcmp(text_at(&c, "/code"), code) != 0)) {
    fail_msg("%s %s %s: %d %s %s, expected %d %s", method, path, body != NULL ? body : "", c.status,
             text_at(&c, "/code"), text_at(&c, "/detail"), status, code != NULL ? code : "");
  }
  call_release(&c);
}

UNUSED static void put(struct fixture *f, const char *path, const char *body, int status)
{
  assert_call(f, "PUT", path, body, status, NULL);
}

UNUSED static void make_reward(struct fixture *f)
{
  struct call c = call_with(f, "PUT", "/v1/rewards/r",
                            "{\"provider\":\"simulator\",\"amount\":{\"amount\":100,\"currency\":\"CNY\"}}", NULL);
  assert_true(c.status == 201 || c.status == 200);
  call_release(&c);
}

UNUSED static void claim(struct fixture *f, const char *activity, const char *biz_id, int status, const char *code)
{
  char *body = support_format("{\"activityCode\":\"%s\",\"userId\":7,\"bizId\":\"%s\"}", activity, biz_id);
  assert_call(f, "POST", "/v1/claims", body, status, code);
  mem_free(body);
}

UNUSED static bool claim_is(struct fixture *f, const char *activity, const char *biz_id, int status)
{
  char *body = support_format("{\"activityCode\":\"%s\",\"userId\":7,\"bizId\":\"%s\"}", activity, biz_id);
  struct call c = call_with(f, "POST", "/v1/claims", body, NULL);
  bool is_it = c.status == status;
  call_release(&c);
  mem_free(body);
  return is_it;
}
