// SPDX-License-Identifier: Apache-2.0
// The event loop: one turn of libevent at a time, then the work put off to the end of the turn, then the deferred
// frees. Owner: the thread that calls loop_turn; loop_wake alone may be called from any thread.
#include "common/loop.h"

#include <errno.h>
#include <event2/event.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "common/contract.h"
#include "common/mem.h"
#include "common/metric.h"

// Behind a pointer, so that loop_now can take the time when a turn is first asked for it: libevent does not tell when
// it stops waiting, and a busy turn always asks.
struct turn_clock {
  struct mono_time now;
  bool in_turn, is_taken;
};

struct parked_object {
  void *object;
  void (*free_fn)(void *object);
};

struct loop {
  struct event_base *base;
  struct event *max_wait;
  struct event *wake;
  int wake_fd;
  struct turn_clock *clock;
  struct metric_set *metrics;
  struct loop_task *tasks;  // armed since the last end of a turn, newest last
  struct loop_task **tasks_end;
  struct loop_task *running_tasks;  // being run: a task may cancel another
  struct parked_object *parked;
  size_t parked_count, parked_cap;
};

static void on_max_wait(evutil_socket_t fd, short what, void *ctx)
{
  (void)fd, (void)what, (void)ctx;  // its only purpose is to end the wait
}

static void on_wake(evutil_socket_t fd, short what, void *ctx)
{
  (void)what, (void)ctx;
  uint64_t count;
  ssize_t got;
  do got = read(fd, &count, sizeof count);
  while (got < 0 && errno == EINTR);
}

static struct event_base *base_new(void)
{
  struct event_config *config = event_config_new();
  ENSURE(config != NULL);
  // The default clock is coarse (4 ms): timers would be due before clk_mono says so.
  ENSURE(event_config_set_flag(config, EVENT_BASE_FLAG_PRECISE_TIMER) == 0);
  struct event_base *base = event_base_new_with_config(config);
  event_config_free(config);
  return base;
}

struct loop *loop_new(void)
{
  struct loop *loop = MEM_NEW(struct loop);
  loop->clock = MEM_NEW(struct turn_clock);
  loop->tasks_end = &loop->tasks;
  loop->base = base_new();
  ENSURE(loop->base != NULL);
  loop->wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  ENSURE(loop->wake_fd >= 0);
  loop->wake = event_new(loop->base, loop->wake_fd, EV_READ | EV_PERSIST, on_wake, loop);
  loop->max_wait = evtimer_new(loop->base, on_max_wait, loop);
  ENSURE(loop->wake != NULL && loop->max_wait != NULL);
  ENSURE(event_add(loop->wake, NULL) == 0);
  return loop;
}

static void free_parked(struct loop *loop)
{
  for (size_t i = 0; i < loop->parked_count; i++) {  // a free function may park more
    struct parked_object p = loop->parked[i];
    p.free_fn(p.object);
  }
  loop->parked_count = 0;
}

void loop_free(struct loop *loop)
{
  if (loop == NULL) return;
  free_parked(loop);
  mem_free(loop->parked);
  event_free(loop->wake);
  event_free(loop->max_wait);
  event_base_free(loop->base);
  close(loop->wake_fd);
  mem_free(loop->clock);
  mem_free(loop);
}

void loop_set_metrics(struct loop *loop, struct metric_set *metrics) { loop->metrics = metrics; }

struct mono_time loop_now(const struct loop *loop)
{
  struct turn_clock *clock = loop->clock;
  if (!clock->in_turn) return clk_mono();
  if (!clock->is_taken) {
    clock->now = clk_mono();
    clock->is_taken = true;
  }
  return clock->now;
}

static struct timeval to_timeval(struct span s)
{
  if (s.us < 0) s.us = 0;
  return (struct timeval){.tv_sec = (time_t)(s.us / 1000000), .tv_usec = (suseconds_t)(s.us % 1000000)};
}

static void wait_for_events(struct loop *loop, struct span max_wait)
{
  bool must_not_wait = loop->tasks != NULL || max_wait.us <= 0;
  if (!must_not_wait) {
    struct timeval tv = to_timeval(max_wait);
    ENSURE(evtimer_add(loop->max_wait, &tv) == 0);
  }
  ENSURE(event_base_loop(loop->base, must_not_wait ? EVLOOP_NONBLOCK : EVLOOP_ONCE) >= 0);
}

// Tasks armed from here on belong to the next turn, which then does not wait: no task can starve the descriptors.
static void run_tasks(struct loop *loop)
{
  loop->running_tasks = loop->tasks;
  loop->tasks = NULL;
  loop->tasks_end = &loop->tasks;
  while (loop->running_tasks != NULL) {
    struct loop_task *task = loop->running_tasks;
    loop->running_tasks = task->next;
    task->next = NULL;
    task->armed = false;
    task->fn(task->ctx);
  }
}

void loop_turn(struct loop *loop, struct span max_wait)
{
  struct turn_clock *clock = loop->clock;
  REQUIRE(!clock->in_turn);
  clock->in_turn = true;
  clock->is_taken = false;
  wait_for_events(loop, max_wait);
  if (loop->tasks != NULL) (void)loop_now(loop);
  run_tasks(loop);
  free_parked(loop);
  clock->in_turn = false;
  if (clock->is_taken && loop->metrics != NULL) {
    metric_observe(loop->metrics, M_LOOP_TURN_SECONDS, span_to_seconds(mono_since(clk_mono(), clock->now)));
  }
}

void loop_wake(struct loop *loop)
{
  int saved = errno;
  uint64_t one = 1;
  ssize_t put;
  do put = write(loop->wake_fd, &one, sizeof one);  // EAGAIN: the counter is full, so the loop is awake anyway
  while (put < 0 && errno == EINTR);
  errno = saved;
}

void loop_defer(struct loop *loop, struct loop_task *task, void (*fn)(void *ctx), void *ctx)
{
  if (task->armed) return;
  task->armed = true;
  task->fn = fn;
  task->ctx = ctx;
  task->next = NULL;
  *loop->tasks_end = task;
  loop->tasks_end = &task->next;
}

static bool unlink_task(struct loop_task **list, struct loop_task *task)
{
  for (struct loop_task **at = list; *at != NULL; at = &(*at)->next) {
    if (*at != task) continue;
    *at = task->next;
    return true;
  }
  return false;
}

void loop_defer_cancel(struct loop *loop, struct loop_task *task)
{
  if (!task->armed) return;
  if (!unlink_task(&loop->running_tasks, task)) {
    ENSURE(unlink_task(&loop->tasks, task));
    loop->tasks_end = &loop->tasks;
    while (*loop->tasks_end != NULL) loop->tasks_end = &(*loop->tasks_end)->next;
  }
  task->next = NULL;
  task->armed = false;
}

void loop_defer_free(struct loop *loop, void *object, void (*free_fn)(void *object))
{
  if (loop->parked_count == loop->parked_cap) {
    loop->parked_cap = loop->parked_cap == 0 ? 64 : loop->parked_cap * 2;
    loop->parked = mem_resize(loop->parked, loop->parked_cap, sizeof *loop->parked);
  }
  loop->parked[loop->parked_count++] = (struct parked_object){object, free_fn};
}

// --- timers

struct loop_timer {
  struct event *event;
  void (*on_due)(void *ctx);
  void *ctx;
};

static void on_timer_event(evutil_socket_t fd, short what, void *ctx)
{
  (void)fd, (void)what;
  struct loop_timer *t = ctx;
  t->on_due(t->ctx);  // may free t
}

struct loop_timer *loop_timer_new(struct loop *loop, void (*on_due)(void *ctx), void *ctx)
{
  struct loop_timer *t = MEM_NEW(struct loop_timer);
  t->on_due = on_due;
  t->ctx = ctx;
  t->event = evtimer_new(loop->base, on_timer_event, t);
  ENSURE(t->event != NULL);
  return t;
}

void loop_timer_set(struct loop_timer *t, struct span delay)
{
  struct timeval tv = to_timeval(delay);
  ENSURE(evtimer_add(t->event, &tv) == 0);
}

void loop_timer_clear(struct loop_timer *t) { ENSURE(evtimer_del(t->event) == 0); }

bool loop_timer_is_set(const struct loop_timer *t) { return evtimer_pending(t->event, NULL) != 0; }

void loop_timer_free(struct loop_timer *t)
{
  if (t == NULL) return;
  event_free(t->event);
  mem_free(t);
}

// --- descriptors

// Two events, so that a change of one direction is one change in the kernel and none of the other's.
struct loop_watch {
  struct event *read_event, *write_event;
  int wanted;
  void (*on_ready)(void *ctx, int what);
  void *ctx;
};

static void on_watch_event(evutil_socket_t fd, short what, void *ctx)
{
  (void)fd;
  struct loop_watch *w = ctx;
  w->on_ready(w->ctx, (what & EV_READ) != 0 ? LOOP_READ : LOOP_WRITE);  // may free w
}

struct loop_watch *loop_watch_new(struct loop *loop, int fd, void (*on_ready)(void *ctx, int what), void *ctx)
{
  struct loop_watch *w = MEM_NEW(struct loop_watch);
  w->on_ready = on_ready;
  w->ctx = ctx;
  w->read_event = event_new(loop->base, fd, EV_READ | EV_PERSIST, on_watch_event, w);
  w->write_event = event_new(loop->base, fd, EV_WRITE | EV_PERSIST, on_watch_event, w);
  ENSURE(w->read_event != NULL && w->write_event != NULL);
  return w;
}

static void want(struct event *event, bool wanted)
{
  ENSURE((wanted ? event_add(event, NULL) : event_del(event)) == 0);
}

void loop_watch_set(struct loop_watch *w, int what)
{
  int changed = w->wanted ^ what;
  w->wanted = what;
  if ((changed & LOOP_READ) != 0) want(w->read_event, (what & LOOP_READ) != 0);
  if ((changed & LOOP_WRITE) != 0) want(w->write_event, (what & LOOP_WRITE) != 0);
}

void loop_watch_free(struct loop_watch *w)
{
  if (w == NULL) return;
  event_free(w->read_event);
  event_free(w->write_event);
  mem_free(w);
}

// --- signals

struct loop_signal {
  struct event *event;
  void (*on_signal)(void *ctx);
  void *ctx;
};

static void on_signal_event(evutil_socket_t fd, short what, void *ctx)
{
  (void)fd, (void)what;
  struct loop_signal *s = ctx;
  s->on_signal(s->ctx);
}

struct loop_signal *loop_signal_new(struct loop *loop, int signal_number, void (*on_signal)(void *ctx), void *ctx)
{
  struct loop_signal *s = MEM_NEW(struct loop_signal);
  s->on_signal = on_signal;
  s->ctx = ctx;
  s->event = evsignal_new(loop->base, signal_number, on_signal_event, s);
  ENSURE(s->event != NULL);
  ENSURE(event_add(s->event, NULL) == 0);
  return s;
}

void loop_signal_free(struct loop_signal *s)
{
  if (s == NULL) return;
  event_free(s->event);
  mem_free(s);
}
