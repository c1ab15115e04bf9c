// SPDX-License-Identifier: Apache-2.0
// The routes of a daemon, as its command prints them, called by everybody who may and may not. For test_access.c.
#pragma once

#include "tests/system/access_calls.h"

struct route {
  char method[8], path[128], scopes[64], body[16];
};

// {name} becomes something that no such thing is called.
static void fill_path(char path[128])
{
  char filled[128];
  size_t len = 0;
  for (const char *p = path; *p != '\0';) {
    if (*p == '{') {
      p = strchr(p, '}') + 1;
      memcpy(filled + len, "9-9", 3);
      len += 3;
    } else {
      filled[len++] = *p++;
    }
    assert_true(len < sizeof filled - 4);
  }
  filled[len] = '\0';
  memcpy(path, filled, len + 1);
}

static bool allows(const struct route *r, const char *scope)
{
  char list[70];
  char *word;
  (void)snprintf(list, sizeof list, ",%s,", r->scopes);
  word = support_format(",%s,", scope);
  bool found = strstr(list, word) != NULL;
  mem_free(word);
  return found;
}

// A request that reaches the handler, which finds nothing to do: no object, or nothing of such a name.
static int try_route(struct http_conn *conn, const struct route *r, struct ask a)
{
  bool is_csv = strcmp(r->body, "csv") == 0;
  struct http_answer answer;
  a.method = r->method;
  a.path = r->path;
  a.body = strcmp(r->body, "-") == 0 ? NULL : is_csv ? "?" : "[]";
  a.further = is_csv ? "Content-Type: text/csv\r\n" : NULL;
  call(conn, &a, &answer);
  if (answer.status == 401) {
    char *way = http_answer_header(&answer, "WWW-Authenticate");
    assert_non_null(way);
    mem_free(way);
  }
  int status = answer.status;
  http_answer_release(&answer);
  return status;
}

static void expect(const struct route *r, const char *who, int status, int expected)
{
  bool is_met = expected != 0 ? status == expected : status != 0 && status != 401 && status != 403;
  if (!is_met)
    fail_msg("%s %s as %s: %d, not %s", r->method, r->path, who, status,
             expected == 401   ? "401"
             : expected == 403 ? "403"
                               : "let through");
}

static void try_keys(const struct rig *rig, struct http_conn *conn, const struct route *r)
{
  bool is_open = strcmp(r->scopes, "-") == 0;
  static const char stranger[] = "lg_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
  if (strcmp(r->path, "/v1/session") == 0 && is_open) return;  // who signs in shows a key in the body
  expect(r, "nobody", try_route(conn, r, (struct ask){.key = NULL}), is_open ? 0 : 401);
  expect(r, "a stranger", try_route(conn, r, (struct ask){.key = stranger}), is_open ? 0 : 401);
  for (size_t i = 0; i < SCOPES; i++)
    expect(r, scope_names[i], try_route(conn, r, (struct ask){.key = rig->keys[i]}),
           is_open || allows(r, scope_names[i]) ? 0 : 403);
}

static void try_session(struct http_conn *conn, const struct route *r, const char *scope, const struct session *s)
{
  bool is_open = strcmp(r->scopes, "-") == 0, is_get = strcmp(r->method, "GET") == 0;
  if (strcmp(r->path, "/v1/session") == 0 && !is_get) return;  // they would begin or end it
  int expected = is_open || allows(r, scope) ? 0 : 403;
  expect(r, scope, try_route(conn, r, (struct ask){.session = s->cookie}), is_get ? expected : is_open ? 0 : 403);
  expect(r, scope, try_route(conn, r, (struct ask){.session = s->cookie, .token = s->cookie}),
         is_get    ? expected
         : is_open ? 0
                   : 403);
  expect(r, scope, try_route(conn, r, (struct ask){.session = s->cookie, .token = s->token}), expected);
}

static void take_word(const char **io_at, char *out, size_t size)
{
  size_t len = strcspn(*io_at, " \n");
  assert_true(len > 0 && len < size);
  memcpy(out, *io_at, len);
  out[len] = '\0';
  *io_at += len + 1;
}

// Each line of `NAME routes`: method, path, scopes, body, label.
static size_t walk_routes(const struct rig *rig, const char *name, int port, const struct session *sessions)
{
  struct buf out;
  struct http_conn conn;
  size_t count = 0;
  buf_init(&out, 256 * 1024);
  http_conn_init(&conn, port);
  assert_int_equal(stack_command(rig->stack, name, (const char *const[]){"routes", NULL}, &out), 0);
  for (const char *line = buf_text(&out); *line != '\0'; line = strchr(line, '\n') + 1) {
    struct route r;
    const char *at = line;
    take_word(&at, r.method, sizeof r.method);
    take_word(&at, r.path, sizeof r.path);
    take_word(&at, r.scopes, sizeof r.scopes);
    take_word(&at, r.body, sizeof r.body);
    fill_path(r.path);
    try_keys(rig, &conn, &r);
    for (size_t i = 0; sessions != NULL && i < SCOPES; i++)
      if (strcmp(scope_names[i], "claims") != 0) try_session(&conn, &r, scope_names[i], &sessions[i]);
    count++;
  }
  http_conn_release(&conn);
  buf_release(&out);
  return count;
}
