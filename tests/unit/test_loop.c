// SPDX-License-Identifier: Apache-2.0
// The loop: turns, deferred work and frees, timers, watches, signals and wake-ups.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "common/loop.h"
#include "common/mem.h"

struct trace {
  struct loop *loop;
  char text[64];
  struct loop_task a, b;
  struct loop_timer *timer;
  struct loop_watch *watch;
  int fds[2];
  int count;
};

static int set_up(void **state)
{
  struct trace *t = MEM_NEW(struct trace);
  t->loop = loop_new();
  assert_int_equal(pipe2(t->fds, O_NONBLOCK | O_CLOEXEC), 0);
  *state = t;
  return 0;
}

static int tear_down(void **state)
{
  struct trace *t = *state;
  loop_timer_free(t->timer);
  loop_watch_free(t->watch);
  loop_free(t->loop);
  close(t->fds[0]);
  close(t->fds[1]);
  mem_free(t);
  return 0;
}

static void note(struct trace *t, const char *what)
{
  size_t len = strlen(t->text);
  assert_true(len + 1 < sizeof t->text);
  t->text[len] = what[0];
}

static void on_a(void *ctx) { note(ctx, "a"); }
static void on_b(void *ctx) { note(ctx, "b"); }
static void on_a_again(void *ctx)
{
  struct trace *t = ctx;
  note(t, "A");
  if (++t->count < 3) loop_defer(t->loop, &t->a, on_a_again, t);
}
static void on_a_cancels_b(void *ctx)
{
  struct trace *t = ctx;
  note(t, "x");
  loop_defer_cancel(t->loop, &t->b);
}

static void tasks_run_once_in_order_at_the_end_of_a_turn(void **state)
{
  struct trace *t = *state;
  loop_defer(t->loop, &t->a, on_a, t);
  loop_defer(t->loop, &t->b, on_b, t);
  loop_defer(t->loop, &t->a, on_a, t);  // armed already
  assert_string_equal(t->text, "");
  loop_turn(t->loop, span_s(10));
  assert_string_equal(t->text, "ab");
  loop_turn(t->loop, span_ms(0));
  assert_string_equal(t->text, "ab");
}

static void a_task_armed_by_itself_runs_in_the_next_turn_which_does_not_wait(void **state)
{
  struct trace *t = *state;
  loop_defer(t->loop, &t->a, on_a_again, t);
  struct mono_time begin = clk_mono();
  loop_turn(t->loop, span_s(10));
  assert_string_equal(t->text, "A");
  loop_turn(t->loop, span_s(10));
  loop_turn(t->loop, span_s(10));
  assert_string_equal(t->text, "AAA");
  assert_true(mono_since(clk_mono(), begin).us < 9000000);
}

static void a_cancelled_task_does_not_run(void **state)
{
  struct trace *t = *state;
  loop_defer(t->loop, &t->a, on_a_cancels_b, t);
  loop_defer(t->loop, &t->b, on_b, t);
  loop_turn(t->loop, span_ms(0));
  assert_string_equal(t->text, "x");
  loop_defer(t->loop, &t->a, on_a, t);
  loop_defer(t->loop, &t->b, on_b, t);
  loop_defer_cancel(t->loop, &t->b);
  loop_defer_cancel(t->loop, &t->a);
  loop_defer(t->loop, &t->b, on_b, t);
  loop_turn(t->loop, span_ms(0));
  assert_string_equal(t->text, "xb");
}

struct parked {
  struct trace *trace;
  bool parks_another;
};

static void free_parked(void *object)
{
  struct parked *p = object;
  note(p->trace, "f");
  if (p->parks_another) {
    struct parked *other = MEM_NEW(struct parked);
    other->trace = p->trace;
    loop_defer_free(p->trace->loop, other, free_parked);
  }
  mem_free(p);
}

static void frees_come_after_the_tasks_of_the_turn(void **state)
{
  struct trace *t = *state;
  struct parked *p = MEM_NEW(struct parked);
  *p = (struct parked){t, true};
  loop_defer_free(t->loop, p, free_parked);
  loop_defer(t->loop, &t->a, on_a, t);
  loop_turn(t->loop, span_ms(0));
  assert_string_equal(t->text, "aff");
}

static void what_is_parked_is_freed_with_the_loop(void **state)
{
  struct trace *t = *state;
  struct loop *loop = loop_new();
  struct trace other = {.loop = loop};
  struct parked *p = MEM_NEW(struct parked);
  *p = (struct parked){&other, false};
  loop_defer_free(loop, p, free_parked);
  loop_free(loop);
  assert_string_equal(other.text, "f");
  assert_string_equal(t->text, "");
}

static void on_timer(void *ctx) { note(ctx, "t"); }

static void a_timer_is_not_early_and_fires_once(void **state)
{
  struct trace *t = *state;
  t->timer = loop_timer_new(t->loop, on_timer, t);
  assert_false(loop_timer_is_set(t->timer));
  struct mono_time begin = clk_mono();
  loop_timer_set(t->timer, span_ms(20));
  assert_true(loop_timer_is_set(t->timer));
  while (t->text[0] == '\0') loop_turn(t->loop, span_s(5));
  struct span taken = mono_since(clk_mono(), begin);
  assert_in_range(taken.us, 19900, 10000000);
  assert_false(loop_timer_is_set(t->timer));
  loop_turn(t->loop, span_ms(30));
  assert_string_equal(t->text, "t");
}

static void a_timer_can_be_moved_and_cleared(void **state)
{
  struct trace *t = *state;
  t->timer = loop_timer_new(t->loop, on_timer, t);
  loop_timer_set(t->timer, span_s(100));
  loop_timer_set(t->timer, span_ms(-5));
  loop_turn(t->loop, span_s(5));
  assert_string_equal(t->text, "t");
  loop_timer_set(t->timer, span_ms(5));
  loop_timer_clear(t->timer);
  loop_turn(t->loop, span_ms(20));
  assert_string_equal(t->text, "t");
}

static void a_turn_waits_no_longer_than_asked(void **state)
{
  struct trace *t = *state;
  struct mono_time begin = clk_mono();
  loop_turn(t->loop, span_ms(30));
  assert_in_range(mono_since(clk_mono(), begin).us, 29000, 10000000);
}

static void *wake_later(void *ctx)
{
  usleep(20000);
  loop_wake(ctx);
  return NULL;
}

static void a_wake_from_another_thread_ends_the_wait(void **state)
{
  struct trace *t = *state;
  pthread_t thread;
  struct mono_time begin = clk_mono();
  assert_int_equal(pthread_create(&thread, NULL, wake_later, t->loop), 0);
  loop_turn(t->loop, span_s(30));
  assert_true(mono_since(clk_mono(), begin).us < 10000000);
  pthread_join(thread, NULL);
}

static void on_ready_free(void *ctx, int what)
{
  struct trace *t = ctx;
  note(t, what == LOOP_READ ? "r" : "w");
  loop_watch_free(t->watch);
  t->watch = NULL;
}

static void on_ready(void *ctx, int what)
{
  struct trace *t = ctx;
  char byte;
  note(t, what == LOOP_READ ? "r" : "w");
  if (what == LOOP_READ) assert_int_equal(read(t->fds[0], &byte, 1), 1);
}

static void a_watch_reports_only_what_is_wanted(void **state)
{
  struct trace *t = *state;
  t->watch = loop_watch_new(t->loop, t->fds[0], on_ready, t);
  assert_int_equal(write(t->fds[1], "12", 2), 2);
  loop_turn(t->loop, span_ms(5));
  assert_string_equal(t->text, "");
  loop_watch_set(t->watch, LOOP_READ);
  loop_turn(t->loop, span_s(5));
  loop_turn(t->loop, span_s(5));
  assert_string_equal(t->text, "rr");
  loop_watch_set(t->watch, 0);
  assert_int_equal(write(t->fds[1], "3", 1), 1);
  loop_turn(t->loop, span_ms(5));
  assert_string_equal(t->text, "rr");
}

static void a_watch_may_be_freed_by_its_own_callback(void **state)
{
  struct trace *t = *state;
  t->watch = loop_watch_new(t->loop, t->fds[1], on_ready_free, t);
  loop_watch_set(t->watch, LOOP_READ | LOOP_WRITE);
  loop_turn(t->loop, span_s(5));
  assert_string_equal(t->text, "w");
  loop_turn(t->loop, span_ms(5));
  assert_string_equal(t->text, "w");
}

static void on_signal(void *ctx) { note(ctx, "s"); }

static void a_signal_is_an_event_of_the_loop(void **state)
{
  struct trace *t = *state;
  struct loop_signal *s = loop_signal_new(t->loop, SIGUSR1, on_signal, t);
  raise(SIGUSR1);
  assert_string_equal(t->text, "");
  loop_turn(t->loop, span_s(5));
  if (t->text[0] == '\0') loop_turn(t->loop, span_s(5));  // its own pipe may take a turn
  assert_string_equal(t->text, "s");
  loop_signal_free(s);
}

static void on_sleepy(void *ctx)
{
  struct trace *t = ctx;
  struct mono_time first = loop_now(t->loop);
  usleep(3000);
  t->count = loop_now(t->loop).us == first.us ? 1 : -1;
}

static void now_stands_still_within_a_turn_and_moves_between_turns(void **state)
{
  struct trace *t = *state;
  loop_defer(t->loop, &t->a, on_sleepy, t);
  loop_turn(t->loop, span_ms(0));
  assert_int_equal(t->count, 1);
  struct mono_time before = loop_now(t->loop);
  usleep(1000);
  assert_true(mono_before(before, loop_now(t->loop)));
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
  const struct CMUnitTest tests[] = {
      CASE(tasks_run_once_in_order_at_the_end_of_a_turn),
      CASE(a_task_armed_by_itself_runs_in_the_next_turn_which_does_not_wait),
      CASE(a_cancelled_task_does_not_run),
      CASE(frees_come_after_the_tasks_of_the_turn),
      CASE(what_is_parked_is_freed_with_the_loop),
      CASE(a_timer_is_not_early_and_fires_once),
      CASE(a_timer_can_be_moved_and_cleared),
      CASE(a_turn_waits_no_longer_than_asked),
      CASE(a_wake_from_another_thread_ends_the_wait),
      CASE(a_watch_reports_only_what_is_wanted),
      CASE(a_watch_may_be_freed_by_its_own_callback),
      CASE(a_signal_is_an_event_of_the_loop),
      CASE(now_stands_still_within_a_turn_and_moves_between_turns),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
