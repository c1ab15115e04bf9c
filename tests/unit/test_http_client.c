// SPDX-License-Identifier: Apache-2.0
// Tests of common/http_client against a server that misbehaves: what arrived there, and which stage is reported.
// Owner: unit tests.
#include "tests/unit/http_fixture.h"

// --- answers

static void a_complete_answer_is_handed_over(void **state)
{
  struct fixture *f = *state;
  start(f, &(struct step){.answer = OK_ANSWER}, 1);
  struct outcome o;
  struct http_request r = post_to(f->url);
  send_and_wait(f, &r, &o);
  assert_int_equal(o.stage, HTTP_ANSWERED);
  assert_int_equal(o.status, 200);
  assert_string_equal(buf_text(&o.body), "{\"status\":\"OK\"}");
  assert_string_equal(buf_text(&o.retry_after), "7");
  assert_string_equal(buf_text(&o.content_type), "application/json");
  assert_string_equal(buf_text(&o.fault), "");
  assert_true(o.duration.us > 0 && o.duration.us < 8000000);
  outcome_release(&o);
  const char *seen = buf_text(&f->fake.seen);
  assert_memory_equal(seen, "POST /credits HTTP/1.1\r\n", 24);
  assert_non_null(strstr(seen, "\r\nContent-Type: application/json\r\n"));
  assert_non_null(strstr(seen, "\r\nIdempotency-Key: 12-345\r\n"));
  assert_non_null(strstr(seen, "\r\nX-Empty:\r\n"));
  assert_non_null(strstr(seen, "\r\n\r\n{\"requestId\":\"12-345\"}"));
  assert_null(strstr(seen, "Expect:"));
}

static void methods_are_sent_as_given(void **state)
{
  struct fixture *f = *state;
  static const struct {
    const char *method, *body, *line, *has_not;
  } cases[] = {
      {"GET", NULL, "GET /credits HTTP/1.1\r\n", "Content-Length"},
      {"DELETE", NULL, "DELETE /credits HTTP/1.1\r\n", "Content-Length"},
      {"PUT", "{}", "PUT /credits HTTP/1.1\r\n", "x-www-form"},
      {"POST", NULL, "POST /credits HTTP/1.1\r\n", "x-www-form"},
      {"DELETE", "{}", "DELETE /credits HTTP/1.1\r\n", "x-www-form"},
  };
  start(f, &(struct step){.answer = OK_ANSWER}, 1);
  for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
    struct http_request r = post_to(f->url);
    r.method = cases[i].method;
    r.body = cases[i].body;
    r.body_len = cases[i].body ? strlen(cases[i].body) : 0;
    r.header_count = 0;
    expect_answer(f, &r, 200);
    assert_memory_equal(buf_text(&f->fake.seen), cases[i].line, strlen(cases[i].line));
    assert_null(strstr(buf_text(&f->fake.seen), cases[i].has_not));
    if (cases[i].body) assert_non_null(strstr(buf_text(&f->fake.seen), "\r\n\r\n{}"));
  }
  assert_int_equal(atomic_load(&f->fake.connections), 1);  // kept all along
}

static void redirects_are_not_followed(void **state)
{
  struct fixture *f = *state;
  start(f, &(struct step){.answer = "HTTP/1.1 302 Found\r\nLocation: /elsewhere\r\nContent-Length: 0\r\n\r\n"}, 1);
  struct http_request r = post_to(f->url);
  expect_answer(f, &r, 302);
  assert_int_equal(atomic_load(&f->fake.hits), 1);
}

static void refusals_of_the_other_side_are_answers(void **state)
{
  struct fixture *f = *state;
  start(f, &(struct step){.answer = "HTTP/1.1 503 Busy\r\nContent-Length: 2\r\n\r\n{}"}, 1);
  struct http_request r = post_to(f->url);
  expect_answer(f, &r, 503);
}

// --- stages

static void b72_no_answer_in_time_is_unknown(void **state)
{
  struct fixture *f = *state;
  start(f, &(struct step){.answer = OK_ANSWER, .delay_ms = 1500}, 1);
  struct http_request r = post_to(f->url);
  struct outcome o;
  r.total_timeout = span_ms(400);
  send_and_wait(f, &r, &o);
  assert_int_equal(o.stage, HTTP_SENT_NO_ANSWER);
  assert_true(o.duration.us >= 390000 && o.duration.us < 1490000);
  outcome_release(&o);
  assert_int_equal(atomic_load(&f->fake.hits), 1);
}

static void broken_answers_are_unknown(void **state)
{
  struct fixture *f = *state;
  const struct step steps[] = {
      {.close = true},
      {.answer = "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"status\"", .close = true},
      {.answer = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab", .close = true},
      {.answer = "HTTP/1.1 200 O", .close = true},
      {.answer = "nonsense\r\n\r\n", .close = true},
      {.answer = "HTTP/1.1 100 Continue\r\n\r\n", .close = true},
      {.answer = "HTTP/1.1 200 OK\r\nContent-Length: 1048576\r\n\r\n", .flood = 1048576},
      {.answer = "HTTP/1.1 200 OK\r\n\r\n", .flood = 1048576, .close = true},
  };
  start(f, steps, ARRAY_LEN(steps));
  for (size_t i = 0; i < ARRAY_LEN(steps); i++) {
    struct http_request r = post_to(f->url);
    r.fresh_connection = true;
    expect_fault(f, &r, HTTP_SENT_NO_ANSWER);
  }
  assert_int_equal(atomic_load(&f->fake.hits), ARRAY_LEN(steps));
}

static void the_cap_of_the_answer_is_exact(void **state)
{
  struct fixture *f = *state;
  start(f, &(struct step){.answer = OK_ANSWER}, 1);
  struct http_request r = post_to(f->url);
  struct outcome o;
  r.answer_max = 15;
  expect_answer(f, &r, 200);
  r.answer_max = 14;
  send_and_wait(f, &r, &o);
  assert_int_equal(o.stage, HTTP_SENT_NO_ANSWER);
  assert_string_equal(buf_text(&o.fault), "the answer is too large");
  outcome_release(&o);
  r.answer_max = 15;  // the buffer is used again
  expect_answer(f, &r, 200);
}

static void refused_connections_are_safe_to_repeat(void **state)
{
  struct fixture *f = *state;
  start(f, &(struct step){.answer = OK_ANSWER, .close = true}, 1);
  struct http_request r = post_to(f->url);
  expect_answer(f, &r, 200);  // the handle that is used again has sent bytes before
  fake_stop(&f->fake);
  expect_fault(f, &r, HTTP_NEVER_SENT);
}

static void unknown_names_are_safe_to_repeat(void **state)
{
  struct fixture *f = *state;
  struct http_request r = post_to("http://no-such-host.invalid/credits");
  r.connect_timeout = span_ms(300);
  struct mono_time begun = clk_mono();
  expect_fault(f, &r, HTTP_NEVER_SENT);
  assert_true(mono_since(clk_mono(), begun).us < 4000000);  // B69: the connect time-out ends a slow look-up
}

static void a_connect_time_out_is_safe_to_repeat(void **state)
{
  struct fixture *f = *state;
  int listener, port, fill[8];
  char url[64];
  listen_on_any_port(&listener, &port, 0);
  struct sockaddr_in a = {
      .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr = {htonl(INADDR_LOOPBACK)}};
  for (size_t i = 0; i < ARRAY_LEN(fill); i++) {  // fills the queue of a server that never accepts
    fill[i] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    (void)connect(fill[i], (const struct sockaddr *)&a, sizeof a);
  }
  (void)snprintf(url, sizeof url, "http://127.0.0.1:%d/", port);
  struct http_request r = post_to(url);
  struct outcome o;
  r.connect_timeout = span_ms(300);
  send_and_wait(f, &r, &o);
  assert_int_equal(o.stage, HTTP_NEVER_SENT);
  assert_true(o.duration.us >= 290000 && o.duration.us < 4000000);
  outcome_release(&o);
  for (size_t i = 0; i < ARRAY_LEN(fill); i++) close(fill[i]);
  close(listener);
}

static void a_tls_failure_is_safe_to_repeat(void **state)
{
  struct fixture *f = *state;
  char url[64];
  start(f, &(struct step){.answer = "not TLS at all", .close = true}, 1);
  (void)snprintf(url, sizeof url, "https://127.0.0.1:%d/", f->fake.port);
  struct http_request r = post_to(url);
  r.total_timeout = span_ms(300);
  expect_fault(f, &r, HTTP_NEVER_SENT);
  assert_int_equal(atomic_load(&f->fake.hits), 0);
}

static void a_call_that_waits_for_a_connection_is_safe_to_repeat(void **state)
{
  struct fixture *f = *state;
  struct outcome first = {0}, second = {0};
  start(f, &(struct step){.answer = OK_ANSWER, .delay_ms = 1500}, 1);
  struct http_request r = post_to(f->url);
  r.total_timeout = span_ms(300);
  assert_int_equal(http_client_send(f->client, &r, on_answer, &first, NULL), RESULT_OK);
  r.total_timeout = span_ms(100);
  assert_int_equal(http_client_send(f->client, &r, on_answer, &second, NULL), RESULT_OK);
  wait_for(f, &second);
  assert_int_equal(second.stage, HTTP_NEVER_SENT);
  wait_for(f, &first);
  assert_int_equal(first.stage, HTTP_SENT_NO_ANSWER);
  outcome_release(&first);
  outcome_release(&second);
}

// --- limits and life

static void a_full_client_takes_nothing(void **state)
{
  struct fixture *f = *state;
  struct outcome first = {0}, second = {0};
  start(f, &(struct step){.answer = OK_ANSWER}, 1);
  struct http_request r = post_to(f->url);
  struct http_call *call = NULL;
  assert_int_equal(http_client_send(f->client, &r, on_answer, &first, &call), RESULT_OK);
  assert_non_null(call);
  assert_int_equal(http_client_send(f->client, &r, on_answer, &second, NULL), RESULT_FULL);
  assert_int_equal(http_client_open(f->client), 1);
  wait_for(f, &first);
  assert_int_equal(second.calls, 0);
  outcome_release(&first);
  expect_answer(f, &r, 200);
}

static void malformed_requests_are_refused(void **state)
{
  struct fixture *f = *state;
  struct outcome o = {0};
  static const char *const urls[] = {"ftp://127.0.0.1/", "file:///etc/passwd", "127.0.0.1", "",
                                     "javascript:x",     "httpx://a/"};
  static const struct http_header bad[] = {{"X", "a\r\nY: b"}, {"X\r\nY", "b"}, {"", "b"}, {"X Y", "b"}, {"X:", "b"}};
  for (size_t i = 0; i < ARRAY_LEN(urls); i++) {
    struct http_request r = post_to(urls[i]);
    assert_int_equal(http_client_send(f->client, &r, on_answer, &o, NULL), RESULT_INVALID);
  }
  for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
    struct http_request r = post_to("http://127.0.0.1/");
    r.headers = &bad[i];
    r.header_count = 1;
    assert_int_equal(http_client_send(f->client, &r, on_answer, &o, NULL), RESULT_INVALID);
  }
  struct http_request r = post_to("http://127.0.0.1/");
  r.method = "PO ST";
  assert_int_equal(http_client_send(f->client, &r, on_answer, &o, NULL), RESULT_INVALID);
  assert_int_equal(http_client_open(f->client), 0);
}

static void open_calls_are_told_when_the_client_ends(void **state)
{
  struct fixture *f = *state;
  struct outcome sent = {0}, unsent = {0};
  start(f, &(struct step){.answer = OK_ANSWER, .delay_ms = 2000}, 1);
  struct http_request r = post_to(f->url);
  assert_int_equal(http_client_send(f->client, &r, on_answer, &sent, NULL), RESULT_OK);
  struct mono_time end = mono_after(clk_mono(), span_s(10));
  while (atomic_load(&f->fake.hits) == 0 && mono_before(clk_mono(), end)) loop_turn(f->rt.loop, span_ms(5));
  assert_int_equal(http_client_send(f->client, &r, on_answer, &unsent, NULL), RESULT_OK);
  http_client_free(f->client);
  f->client = NULL;
  assert_int_equal(sent.calls, 1);
  assert_int_equal(sent.stage, HTTP_SENT_NO_ANSWER);
  assert_int_equal(unsent.calls, 1);
  assert_int_equal(unsent.stage, HTTP_NEVER_SENT);
  outcome_release(&sent);
  outcome_release(&unsent);
}

struct chain {
  struct fixture *f;
  struct http_request r;
  int left, answered;
};

static void on_chain(void *ctx, const struct http_answer *a)
{
  struct chain *c = ctx;
  c->answered += a->stage == HTTP_ANSWERED;
  if (--c->left > 0) assert_int_equal(http_client_send(c->f->client, &c->r, on_chain, c, NULL), RESULT_OK);
}

static void a_callback_may_send_the_next_call(void **state)
{
  struct fixture *f = *state;
  start(f, &(struct step){.answer = OK_ANSWER}, 1);
  struct chain c = {f, post_to(f->url), 200, 0};
  assert_int_equal(http_client_send(f->client, &c.r, on_chain, &c, NULL), RESULT_OK);
  struct mono_time end = mono_after(clk_mono(), span_s(30));
  while (c.left > 0 && mono_before(clk_mono(), end)) loop_turn(f->rt.loop, span_ms(10));
  assert_int_equal(c.answered, 200);
  assert_int_equal(atomic_load(&f->fake.hits), 200);
}

#define T(name, set) cmocka_unit_test_setup_teardown(name, set, teardown)

int main(void)
{
  const struct CMUnitTest tests[] = {
      T(a_complete_answer_is_handed_over, setup),
      T(methods_are_sent_as_given, setup),
      T(redirects_are_not_followed, setup),
      T(refusals_of_the_other_side_are_answers, setup),
      T(b72_no_answer_in_time_is_unknown, setup),
      T(broken_answers_are_unknown, setup),
      T(the_cap_of_the_answer_is_exact, setup),
      T(refused_connections_are_safe_to_repeat, setup),
      T(unknown_names_are_safe_to_repeat, setup),
      T(a_connect_time_out_is_safe_to_repeat, setup),
      T(a_tls_failure_is_safe_to_repeat, setup),
      T(a_call_that_waits_for_a_connection_is_safe_to_repeat, setup_one_connection),
      T(a_full_client_takes_nothing, setup_one_call),
      T(malformed_requests_are_refused, setup),
      T(open_calls_are_told_when_the_client_ends, setup),
      T(a_callback_may_send_the_next_call, setup_one_call),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
