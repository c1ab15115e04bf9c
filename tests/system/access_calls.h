// SPDX-License-Identifier: Apache-2.0
// What the tests of access share: a stack that asks for keys, one key per scope, two reconcilers, and calls that show
// keys, cookies and tokens.
// Owner: the including test program.
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/buf.h"
#include "common/compiler.h"
#include "common/mem.h"
#include "tests/support/http.h"
#include "tests/support/stack.h"
#include "tests/support/support.h"

#define SCOPES     5
#define KEY_BYTES  47
#define TEXT_BYTES 64

static const char *const scope_names[SCOPES] = {"read", "claims", "activities", "review", "admin"};

struct rig {
  struct server *server;
  struct stack *stack;
  struct process *other;  // a second reconciler
  int other_port;
  char keys[SCOPES][KEY_BYTES];  // one per scope, named key-SCOPE
};

// Runs `reconciler WORDS…`; returns its status, and what it printed in out.
#define RUN(rig, out, ...) stack_command((rig)->stack, "reconciler", (const char *const[]){__VA_ARGS__, NULL}, (out))

UNUSED static void add_key(struct rig *rig, const char *name, const char *scope, char out_key[KEY_BYTES])
{
  struct buf out;
  buf_init(&out, 4096);
  assert_int_equal(RUN(rig, &out, "keys", "add", name, "--scope", scope), 0);
  assert_true(out.len > KEY_BYTES && buf_text(&out)[KEY_BYTES - 1] == '\n');  // behind it: that it is shown once
  assert_memory_equal(buf_text(&out), "lg_", 3);
  memcpy(out_key, buf_text(&out), KEY_BYTES - 1);
  out_key[KEY_BYTES - 1] = '\0';
  buf_release(&out);
}

UNUSED static int set_up(void **state)
{
  static struct rig rig;
  static const char *const env[] = {"LARGESSE_SCHEDULER__AUTH=keys",
                                    "LARGESSE_FULFILLER__AUTH=keys",
                                    "LARGESSE_RECONCILER__AUTH=keys",
                                    "LARGESSE_LOG__LEVEL=debug",
                                    "USER=olga",
                                    NULL};
  rig.server = server_start();
  rig.stack = stack_start(rig.server, &(struct stack_options){.no_simulator = true, .env = env});
  rig.other = stack_start_another(rig.stack, "reconciler");
  rig.other_port = process_port(rig.other);
  for (size_t i = 0; i < SCOPES; i++) {
    char *name = support_format("key-%s", scope_names[i]);
    add_key(&rig, name, scope_names[i], rig.keys[i]);
    mem_free(name);
  }
  *state = &rig;
  return 0;
}

UNUSED static int tear_down(void **state)
{
  struct rig *rig = *state;
  process_free(rig->other);
  stack_free(rig->stack);
  server_free(rig->server);
  return 0;
}

// --- calls

struct ask {
  const char *method, *path, *key, *session, *token, *body, *further;
};

UNUSED static void call(struct http_conn *conn, const struct ask *a, struct http_answer *out)
{
  struct buf headers;
  buf_init(&headers, 4096);
  if (a->key != NULL) buf_printf(&headers, "Authorization: Bearer %s\r\n", a->key);
  if (a->session != NULL) buf_printf(&headers, "Cookie: largesse_session=%s\r\n", a->session);
  if (a->token != NULL) buf_printf(&headers, "X-CSRF-Token: %s\r\n", a->token);
  if (a->further != NULL) buf_puts(&headers, a->further);
  http_conn_call(
      conn,
      &(struct http_request){.method = a->method, .path = a->path, .headers = buf_text(&headers), .body = a->body},
      out);
  buf_release(&headers);
}

UNUSED static int ask_at(int port, const struct ask *a)
{
  struct http_conn conn;
  struct http_answer answer;
  http_conn_init(&conn, port);
  call(&conn, a, &answer);
  int status = answer.status;
  http_answer_release(&answer);
  http_conn_release(&conn);
  return status;
}
#define ASK(port, ...) ask_at((port), &(struct ask){__VA_ARGS__})

struct session {
  char cookie[TEXT_BYTES], token[TEXT_BYTES];
};

UNUSED static void copy(char out[TEXT_BYTES], const char *text, size_t len)
{
  assert_true(len < TEXT_BYTES);
  memcpy(out, text, len);
  out[len] = '\0';
}

// Signs in; what the browser had before is sent along. Checks what the cookie may be used for.
UNUSED static void sign_in(int port, const char *key, const char *old, const char *further, struct session *out)
{
  struct http_conn conn;
  struct http_answer answer;
  char *body = support_format("{\"key\":\"%s\"}", key);
  http_conn_init(&conn, port);
  call(&conn, &(struct ask){"POST", "/v1/session", .session = old, .body = body, .further = further}, &answer);
  assert_int_equal(answer.status, 200);
  char *cookie = http_answer_header(&answer, "Set-Cookie");
  assert_non_null(cookie);
  assert_memory_equal(cookie, "largesse_session=", 17);
  size_t len = strcspn(cookie + 17, ";");
  assert_int_equal(len, 43);
  copy(out->cookie, cookie + 17, len);
  assert_string_equal(cookie + 17 + len, further != NULL ? "; Path=/; HttpOnly; SameSite=Strict; Secure"
                                                         : "; Path=/; HttpOnly; SameSite=Strict");
  json_t *json = http_answer_json(&answer);
  const char *token = json_string_value(json_object_get(json, "csrf"));
  assert_non_null(token);
  copy(out->token, token, strlen(token));
  json_decref(json);
  mem_free(cookie);
  mem_free(body);
  http_answer_release(&answer);
  http_conn_release(&conn);
}
