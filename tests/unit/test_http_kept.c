// SPDX-License-Identifier: Apache-2.0
// Tests of common/http_client and common/http_sockets: kept connections that die, or that say what nobody asked for,
// and handles that are used again.
// Owner: unit tests.
#include <errno.h>

#include "common/http_sockets.h"
#include "tests/unit/http_fixture.h"

static void b67_a_kept_connection_that_dies_may_be_hit_twice_with_one_id(void **state)
{
  struct fixture *f = *state;
  const struct step steps[] = {{.answer = OK_ANSWER}, {.close = true}, {.answer = OK_ANSWER}};
  start(f, steps, ARRAY_LEN(steps));
  struct http_request r = post_to(f->url);
  expect_answer(f, &r, 200);
  expect_answer(f, &r, 200);
  int hits = atomic_load(&f->fake.hits);
  assert_true(hits == 3);  // libcurl's own repetition, with the same bytes
  assert_non_null(strstr(buf_text(&f->fake.seen), "Idempotency-Key: 12-345"));
}

static void b67_a_fresh_connection_is_never_repeated(void **state)
{
  struct fixture *f = *state;
  const struct step steps[] = {{.answer = OK_ANSWER}, {.close = true}, {.answer = OK_ANSWER}};
  start(f, steps, ARRAY_LEN(steps));
  struct http_request r = post_to(f->url);
  r.fresh_connection = true;
  expect_answer(f, &r, 200);
  expect_fault(f, &r, HTTP_SENT_NO_ANSWER);
  assert_int_equal(atomic_load(&f->fake.hits), 2);
  assert_int_equal(atomic_load(&f->fake.connections), 2);
}

static void b67_never_resend_hits_a_kept_connection_once(void **state)
{
  struct fixture *f = *state;
  const struct step steps[] = {{.answer = OK_ANSWER}, {.close = true}, {.answer = OK_ANSWER}};
  start(f, steps, ARRAY_LEN(steps));
  struct http_request r = post_to(f->url);
  r.never_resend = true;
  expect_answer(f, &r, 200);
  expect_fault(f, &r, HTTP_SENT_NO_ANSWER);
  assert_int_equal(atomic_load(&f->fake.hits), 2);
}

// Two answers to one request: the second may not become the answer to the next one.
static void what_waits_on_a_kept_connection_answers_nothing(void **state)
{
  struct fixture *f = *state;
  const struct step steps[] = {{.answer = OK_ANSWER, .unasked = "HTTP/1.1 409 Conflict\r\nContent-Length: 2\r\n\r\n{}"},
                               {.answer = OK_ANSWER},
                               {.answer = OK_ANSWER, .unasked = "tail"},
                               {.answer = OK_ANSWER}};
  start(f, steps, ARRAY_LEN(steps));
  struct http_request r = post_to(f->url);
  for (size_t i = 0; i < ARRAY_LEN(steps); i++) {
    r.never_resend = i > 1;
    expect_answer(f, &r, 200);
    while (atomic_load(&f->fake.unasked) < (int)(i / 2 + 1)) (void)poll(NULL, 0, 1);
  }
  assert_int_equal(atomic_load(&f->fake.hits), 4);         // each was sent once
  assert_int_equal(atomic_load(&f->fake.connections), 3);  // the others were kept
}

// A handle stays set up for the next call of the same kind.
static void a_call_has_nothing_of_the_one_before(void **state)
{
  struct fixture *f = *state;
  struct outcome unsent = {0};
  start(f, &(struct step){.answer = OK_ANSWER}, 1);
  struct http_request r = post_to(f->url);
  expect_answer(f, &r, 200);
  assert_non_null(strstr(buf_text(&f->fake.seen), "\r\nIdempotency-Key: 12-345\r\n"));
  r.header_count = 0;
  r.body = "{}";
  r.body_len = 2;
  expect_answer(f, &r, 200);
  const char *seen = buf_text(&f->fake.seen);
  assert_null(strstr(seen, "Idempotency-Key"));
  assert_null(strstr(seen, "Content-Type"));
  assert_non_null(strstr(seen, "\r\nContent-Length: 2\r\n"));
  assert_non_null(strstr(seen, "\r\n\r\n{}"));
  assert_int_equal(http_client_send(f->client, &r, on_answer, &unsent, NULL), RESULT_OK);
  http_client_free(f->client);
  f->client = NULL;
  assert_int_equal(unsent.calls, 1);
  assert_int_equal(unsent.stage, HTTP_NEVER_SENT);  // its handle has sent bytes before
  outcome_release(&unsent);
}

// Nobody watches a kept connection between two calls, as far as libcurl knows. When the other side closes it, the loop
// must not go round for that, and the next call takes another one.
static void a_kept_connection_may_end_between_calls(void **state)
{
  struct fixture *f = *state;
  start(f, &(struct step){.answer = OK_ANSWER, .close = true}, 1);
  struct http_request r = post_to(f->url);
  for (int i = 1; i <= 3; i++) {
    expect_answer(f, &r, 200);
    struct mono_time end = mono_after(clk_mono(), span_ms(100));
    int turns = 0;
    for (; mono_before(clk_mono(), end); turns++) loop_turn(f->rt.loop, span_ms(50));
    assert_in_range(turns, 1, 20);
    assert_int_equal(atomic_load(&f->fake.connections), i);
  }
}

static struct sockaddr_in loopback(uint32_t host, int port)
{
  return (struct sockaddr_in){
      .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl((127u << 24) + host)};
}

static int listen_on(uint32_t host, int *out_port)
{
  struct sockaddr_in at = loopback(host, 0);
  socklen_t len = sizeof at;
  int fd = socket(AF_INET, SOCK_STREAM, 0);
  assert_return_code(bind(fd, (struct sockaddr *)&at, sizeof at), errno);
  assert_return_code(listen(fd, 1), errno);
  assert_return_code(getsockname(fd, (struct sockaddr *)&at, &len), errno);
  *out_port = ntohs(at.sin_port);
  return fd;
}

// From a port that others may have too, as the kernel gives them when it runs short.
static int connect_from(int own_port, uint32_t host, int port, int *out_own_port)
{
  struct sockaddr_in own = loopback(1, own_port), other = loopback(host, port);
  socklen_t len = sizeof own;
  int fd = socket(AF_INET, SOCK_STREAM, 0), on = 1;
  assert_return_code(setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on), errno);
  assert_return_code(bind(fd, (struct sockaddr *)&own, sizeof own), errno);
  assert_return_code(connect(fd, (struct sockaddr *)&other, sizeof other), errno);
  assert_return_code(getsockname(fd, (struct sockaddr *)&own, &len), errno);
  *out_own_port = ntohs(own.sin_port);
  return fd;
}

static void on_ready(void *ctx, int fd, int what) { (void)ctx, (void)fd, (void)what; }

// A name with several addresses: the port of a connection to one may be the port of a connection to another.
static void connections_from_one_port_are_told_apart(void **state)
{
  struct fixture *f = *state;
  struct http_sockets *s = http_sockets_new(f->rt.loop, on_ready, NULL);
  struct http_ends ends[2];
  static const char *const ips[] = {"127.0.0.2", "127.0.0.3"};
  int listeners[2], ours[2], theirs[2], own_port = 0;
  for (uint32_t i = 0; i < 2; i++) {
    ends[i] = (struct http_ends){.ip = ips[i], .own_ip = "127.0.0.1"};
    listeners[i] = listen_on(2 + i, &ends[i].port);
    ours[i] = connect_from(own_port, 2 + i, ends[i].port, &own_port);
    ends[i].own_port = own_port;
    theirs[i] = accept(listeners[i], NULL, NULL);
    http_sockets_opened(s, ours[i]);
    assert_true(http_sockets_is_quiet(s, &ends[i]));
  }
  assert_int_equal(ends[0].own_port, ends[1].own_port);
  assert_int_equal(write(theirs[1], "?", 1), 1);
  struct pollfd wait = {.fd = ours[1], .events = POLLIN};
  assert_int_equal(poll(&wait, 1, 5000), 1);
  assert_true(http_sockets_is_quiet(s, &ends[0]));
  assert_false(http_sockets_is_quiet(s, &ends[1]));
  for (int i = 0; i < 2; i++) {
    http_sockets_closed(s, ours[i]);
    close(ours[i]), close(theirs[i]), close(listeners[i]);
  }
  http_sockets_free(s);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
  const struct CMUnitTest tests[] = {
      T(b67_a_kept_connection_that_dies_may_be_hit_twice_with_one_id),
      T(b67_a_fresh_connection_is_never_repeated),
      T(b67_never_resend_hits_a_kept_connection_once),
      T(what_waits_on_a_kept_connection_answers_nothing),
      T(a_call_has_nothing_of_the_one_before),
      T(a_kept_connection_may_end_between_calls),
      T(connections_from_one_port_are_told_apart),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
