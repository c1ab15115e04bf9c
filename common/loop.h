// SPDX-License-Identifier: Apache-2.0
// One turn of libevent at a time, with timers, descriptor watches, signals, work at the end of a turn, and deferred
// frees. Everything here belongs to the thread that runs the loop; loop_wake is the exception.
#pragma once

#include <stdbool.h>

#include "common/clk.h"
#include "common/compiler.h"

struct loop;
struct metric_set;

struct loop *loop_new(void);
void loop_free(struct loop *loop);
void loop_set_metrics(struct loop *loop, struct metric_set *metrics);
struct mono_time loop_now(const struct loop *loop);  // taken once per turn
// Waits for events (at most max_wait) and runs them, then the end-of-turn work, then the deferred frees.
void loop_turn(struct loop *loop, struct span max_wait);
void loop_wake(struct loop *loop);  // any thread: makes a waiting turn return

// Runs fn(ctx) once at the end of this turn. The node is the caller's and may be armed again from inside fn.
struct loop_task {
  struct loop_task *next;
  void (*fn)(void *ctx);
  void *ctx;
  bool armed;
};
void loop_defer(struct loop *loop, struct loop_task *task, void (*fn)(void *ctx), void *ctx);  // no effect if armed
void loop_defer_cancel(struct loop *loop, struct loop_task *task);
// The only legal way to free an object from inside one of its own callbacks.
void loop_defer_free(struct loop *loop, void *object, void (*free_fn)(void *object));

struct loop_timer;
struct loop_timer *loop_timer_new(struct loop *loop, void (*on_due)(void *ctx), void *ctx);
void loop_timer_set(struct loop_timer *t, struct span delay);  // re-arms
void loop_timer_clear(struct loop_timer *t);
bool loop_timer_is_set(const struct loop_timer *t);
void loop_timer_free(struct loop_timer *t);  // NULL is allowed

enum { LOOP_READ = 1, LOOP_WRITE = 2 };
struct loop_watch;
struct loop_watch *loop_watch_new(struct loop *loop, int fd, void (*on_ready)(void *ctx, int what), void *ctx);
void loop_watch_set(struct loop_watch *w, int what);  // 0: stop; edge changes only touch the kernel when needed
void loop_watch_free(struct loop_watch *w);           // NULL is allowed; before the fd is closed

struct loop_signal;
struct loop_signal *loop_signal_new(struct loop *loop, int signal_number, void (*on_signal)(void *ctx), void *ctx);
void loop_signal_free(struct loop_signal *s);
