// SPDX-License-Identifier: Apache-2.0
// Tests of the HTTP server: keys, large bodies, addresses.
// Owner: unit tests.
#include "tests/unit/web_fixture.h"

// Keys are their own names; "busy" cannot be checked, and of "slow" it is told later.
struct desk {
  struct web_request *late;
};

static enum web_auth_answer check_key(void *ctx, struct web_request *req, const struct web_credential *c,
                                      struct web_caller *out_caller)
{
  struct desk *desk = ctx;
  const char *key = c->key ? c->key : c->session;
  size_t len = c->key ? c->key_len : c->session_len;
  if (len == 4 && memcmp(key, "busy", 4) == 0) return WEB_AUTH_AWAY;
  if (len == 4 && memcmp(key, "slow", 4) == 0) {
    if (!c->may_wait) return WEB_AUTH_AWAY;
    desk->late = req;
    return WEB_AUTH_LATER;
  }
  if (!c->key && c->is_change && (!c->token || strcmp(c->token, "token") != 0)) return WEB_AUTH_FORGED;
  if (len == 6 && memcmp(key, "claims", 6) == 0) out_caller->scopes = WEB_CLAIMS;
  if (len == 6 && memcmp(key, "reader", 6) == 0) out_caller->scopes = WEB_READ;
  if (out_caller->scopes == 0) return WEB_AUTH_NOBODY;
  out_caller->is_person = c->key == NULL;
  memcpy(out_caller->name, key, len);
  out_caller->name[len] = '\0';
  return WEB_AUTH_KNOWN;
}

static void keys_decide_who_may(void **state)
{
  struct fixture *f = *state;
  f->conf.auth = 1;
  start(f);
  web_server_set_auth(f->server, check_key, &(struct desk){NULL});
  static const struct {
    const char *header, *status;
  } cases[] = {{"", "401"},
               {"Authorization: Bearer nobody\r\n", "401"},
               {"Authorization: Basic claims\r\n", "401"},
               {"Authorization: Bearer\r\n", "401"},
               {"Authorization: Bearer reader\r\n", "403"},
               {"Authorization: bearer  claims\r\n", "201"},
               {"Authorization: Bearer busy\r\n", "503"}};
  for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
    struct buf b;
    buf_init(&b, 1000);
    buf_printf(&b, JSON_POST "%sContent-Length: 2\r\n\r\n{}", cases[i].header);
    assert_memory_equal(ask(f, buf_text(&b)) + 9, cases[i].status, 3);
    if (strcmp(cases[i].status, "401") == 0) assert_has(buf_text(&f->got), "\r\nWWW-Authenticate: Bearer");
    if (strcmp(cases[i].status, "503") == 0) assert_has(buf_text(&f->got), "\r\nRetry-After: 1\r\n");
    buf_release(&b);
  }
  assert_has(ask(f, "GET /v1/show/a HTTP/1.1\r\n" HOST "Authorization: Bearer reader\r\n\r\n"), "actor=reader");
  assert_has(ask(f, "GET /livez HTTP/1.1\r\n" HOST "\r\n"), "200 OK");
}

static void sessions_change_nothing_without_their_token(void **state)
{
  struct fixture *f = *state;
  f->conf.auth = 1;
  start(f);
  web_server_set_auth(f->server, check_key, &(struct desk){NULL});
  static const struct {
    const char *header, *status;
  } cases[] = {{"Cookie: largesse_session=nobody\r\nX-CSRF-Token: token\r\n", "401"},
               {"Cookie: other=claims\r\nX-CSRF-Token: token\r\n", "401"},
               {"Cookie: not_largesse_session=claims\r\nX-CSRF-Token: token\r\n", "401"},
               {"Cookie: largesse_session=claims\r\n", "403"},
               {"Cookie: largesse_session=claims\r\nX-CSRF-Token: other\r\n", "403"},
               {"Cookie: largesse_session=reader\r\nX-CSRF-Token: token\r\n", "403"},
               {"Cookie: a=b; largesse_session=claims;c=d\r\nX-CSRF-Token: token\r\n", "201"},
               // Whoever shows a key means that, and needs no token.
               {"Cookie: largesse_session=claims\r\nAuthorization: Bearer nobody\r\nX-CSRF-Token: token\r\n", "401"},
               {"Cookie: largesse_session=nobody\r\nAuthorization: Bearer claims\r\n", "201"}};
  for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
    struct buf b;
    buf_init(&b, 1000);
    buf_printf(&b, JSON_POST "%sContent-Length: 2\r\n\r\n{}", cases[i].header);
    assert_memory_equal(ask(f, buf_text(&b)) + 9, cases[i].status, 3);
    buf_release(&b);
  }
  assert_has(ask(f, "GET /v1/show/a HTTP/1.1\r\n" HOST "Cookie: largesse_session=reader\r\n\r\n"), "actor=reader");
  assert_has(ask(f, "GET /v1/show/a HTTP/1.1\r\n" HOST "Cookie: largesse_session=nobody\r\n\r\n"), "has ended");
}

static void who_is_not_known_yet_waits(void **state)
{
  struct fixture *f = *state;
  struct desk desk = {NULL};
  f->conf.auth = 1;
  start(f);
  web_server_set_auth(f->server, check_key, &desk);
  static const struct {
    enum web_auth_answer answer;
    unsigned scopes;
    const char *status;
  } cases[] = {{WEB_AUTH_KNOWN, WEB_CLAIMS, "201"},
               {WEB_AUTH_KNOWN, WEB_READ, "403"},
               {WEB_AUTH_NOBODY, 0, "401"},
               {WEB_AUTH_FORGED, 0, "403"},
               {WEB_AUTH_AWAY, 0, "503"}};
  for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
    int fd = dial(f);
    put_text(f, fd, JSON_POST "Authorization: Bearer slow\r\nContent-Length: 2\r\n\r\n{}");
    turns(f, 30);
    assert_non_null(desk.late);
    struct web_request *late = desk.late;
    desk.late = NULL;
    web_auth_resolve(late, cases[i].answer, &(struct web_caller){.scopes = cases[i].scopes, .name = "late"});
    buf_clear(&f->got);
    read_answers(f, fd, 1);
    assert_memory_equal(buf_text(&f->got) + 9, cases[i].status, 3);
    close(fd);
  }
  size_t handled = f->handled;
  int fd = dial(f);  // one that leaves meanwhile is not served
  put_text(f, fd, JSON_POST "Authorization: Bearer slow\r\nContent-Length: 2\r\n\r\n{}");
  turns(f, 30);
  (void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &(struct linger){.l_onoff = 1}, sizeof(struct linger));
  close(fd);  // a reset: nobody reads the answer
  turns(f, 30);
  web_auth_resolve(desk.late, WEB_AUTH_KNOWN, &(struct web_caller){.scopes = WEB_CLAIMS});
  fd = dial(f);
  put_text(f, fd, JSON_POST "Authorization: Bearer slow\r\nContent-Length: 2\r\n\r\n{}");
  turns(f, 30);
  web_server_free(f->server);  // nor one whose server has gone
  f->server = NULL;
  web_auth_resolve(desk.late, WEB_AUTH_KNOWN, &(struct web_caller){.scopes = WEB_CLAIMS});
  close(fd);
  assert_int_equal(f->handled, handled);
}

// --- large bodies

static void a_large_body_is_taken_from_who_may_call_only(void **state)
{
  struct fixture *f = *state;
  f->conf.auth = 1;
  start(f);
  web_server_set_auth(f->server, check_key, &(struct desk){NULL});
  static const struct {
    const char *header, *status;
  } cases[] = {{"Content-Length: 150000\r\n", "401"},
               {"Transfer-Encoding: chunked\r\n", "401"},
               {"Content-Length: 150000\r\nAuthorization: Bearer reader\r\n", "403"},
               {"Content-Length: 150000\r\nAuthorization: Bearer busy\r\n", "503"}};
  for (size_t i = 0; i < ARRAY_LEN(cases); i++) {  // answered without the body
    struct buf b;
    buf_init(&b, 1000);
    buf_printf(&b, "POST /v1/big HTTP/1.1\r\n" HOST "Content-Type: application/json\r\n%s\r\n", cases[i].header);
    assert_memory_equal(ask(f, buf_text(&b)) + 9, cases[i].status, 3);
    assert_has(buf_text(&f->got), "\r\nConnection: close\r\n");
    buf_release(&b);
  }
  struct buf b;
  buf_init(&b, 200000);
  buf_puts(&b, "POST /v1/big HTTP/1.1\r\n" HOST
               "Content-Type: application/json\r\nContent-Length: 150000\r\nAuthorization: Bearer claims\r\n\r\n");
  for (int i = 0; i < 15000; i++) buf_puts(&b, "0123456789");
  assert_has(ask(f, buf_text(&b)), "201 Created");
  buf_release(&b);
}

#define BIG_POST     "POST /v1/big HTTP/1.1\r\n" HOST "Content-Type: application/json\r\n"
#define BIG_SIZED    BIG_POST "Content-Length: 1500\r\n\r\n"
#define BIG_CHUNKED  BIG_POST "Transfer-Encoding: chunked\r\n\r\n"
#define SMALL_CHUNKS "2\r\n{}\r\n0\r\n\r\n"

static void large_bodies_are_taken_a_few_at_a_time(void **state)
{
  struct fixture *f = *state;
  int fds[WEB_LARGE_BODIES_MAX];
  f->conf.request_timeout = span_s(60);
  start(f);
  for (size_t i = 0; i < ARRAY_LEN(fds); i++) {
    fds[i] = dial(f);
    put_text(f, fds[i], i % 2 == 0 ? BIG_SIZED : BIG_CHUNKED);
  }
  turns(f, 50);
  assert_has(ask(f, BIG_SIZED), "HTTP/1.1 503 ");
  assert_has(buf_text(&f->got), "\"code\":\"OVERLOADED\"");
  assert_has(buf_text(&f->got), "\r\nRetry-After: 5\r\n");
  assert_has(ask(f, BIG_POST "Content-Length: 2\r\n\r\n{}"), "201 Created");  // a small one needs no place
  close(fds[0]);  // one that leaves and one that is answered make room for one each
  put_text(f, fds[1], SMALL_CHUNKS);
  buf_clear(&f->got);
  read_answers(f, fds[1], 1);
  turns(f, 50);
  fds[0] = dial(f);
  put_text(f, fds[0], BIG_CHUNKED);
  put_text(f, fds[1], BIG_SIZED);
  turns(f, 50);
  assert_has(ask(f, BIG_CHUNKED), "HTTP/1.1 503 ");
  for (size_t i = 0; i < ARRAY_LEN(fds); i++) close(fds[i]);
  turns(f, 50);
  assert_has(ask(f, BIG_CHUNKED SMALL_CHUNKS), "201 Created");
}

// --- addresses

static void only_loopback_goes_without_keys(void **state)
{
  struct fixture *f = *state;
  static const struct {
    const char *listen;
    int auth;
    enum result expected;
  } cases[] = {
      {"0.0.0.0:0", 0, RESULT_DENIED},        {"0.0.0.0:0", 1, RESULT_OK},        {"127.0.0.1:0", 0, RESULT_OK},
      {"localhost:0", 0, RESULT_OK},          {"127.0.0.1", 0, RESULT_INVALID},   {":80", 0, RESULT_INVALID},
      {"127.0.0.1:65536", 0, RESULT_INVALID}, {"127.0.0.1:x", 0, RESULT_INVALID},
  };
  for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
    char why[WEB_WHY_BYTES] = "";
    f->conf.listen = (char *)(uintptr_t)cases[i].listen;
    f->conf.auth = cases[i].auth;
    struct web_server *s = web_server_new(&f->rt, &f->conf, &routes, f);
    assert_int_equal(web_server_start(s, why), cases[i].expected);
    if (cases[i].expected != RESULT_OK) assert_has(why, cases[i].listen);
    web_server_free(s);
  }
}

static void a_busy_port_is_one_clear_line(void **state)
{
  struct fixture *f = *state;
  char listen_at[32], why[WEB_WHY_BYTES] = "";
  struct buf b;
  buf_init(&b, 30);
  buf_printf(&b, "127.0.0.1:%d", web_server_port(f->server));
  memcpy(listen_at, buf_text(&b), b.len + 1);
  struct web_conf conf = f->conf;
  conf.listen = listen_at;
  struct web_server *second = web_server_new(&f->rt, &conf, &routes, f);
  assert_int_equal(web_server_start(second, why), RESULT_UNAVAILABLE);
  assert_has(why, listen_at);
  assert_has(why, "in use");
  web_server_free(second);
  buf_release(&b);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(keys_decide_who_may, setup, teardown),
      cmocka_unit_test_setup_teardown(sessions_change_nothing_without_their_token, setup, teardown),
      cmocka_unit_test_setup_teardown(who_is_not_known_yet_waits, setup, teardown),
      cmocka_unit_test_setup_teardown(a_large_body_is_taken_from_who_may_call_only, setup, teardown),
      cmocka_unit_test_setup_teardown(large_bodies_are_taken_a_few_at_a_time, setup, teardown),
      cmocka_unit_test_setup_teardown(only_loopback_goes_without_keys, setup, teardown),
      cmocka_unit_test_setup_teardown(a_busy_port_is_one_clear_line, setup_started, teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
