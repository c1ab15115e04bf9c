// SPDX-License-Identifier: Apache-2.0
// Tests of common/http_client and common/http_sockets: kept connections that die, or that say what nobody asked for,
// and handles that are used again.
// Owner: unit tests.
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
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
