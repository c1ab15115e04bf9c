// SPDX-License-Identifier: Apache-2.0
// The loop of a load run: hands out clicks (as fast as clients become free, or at a rate), wakes paused clients, ends
// the run. Owner of all clients; one thread.
#include "tests/bench/load/run.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "common/mem.h"

#define EVENTS_PER_TURN 512
#define SCAN_MS         250

// --- clicks ---

static bool may_make(const struct run *run)
{
  return !run->stopping && (run->conf->requests_max == 0 || run->made < run->conf->requests_max);
}

// When the next click is due; at full speed always now.
static struct mono_time next_due(const struct run *run)
{
  if (run->conf->rate <= 0) return run->now;
  return mono_after(run->started, span_us((int64_t)((double)run->made * 1e6 / run->conf->rate)));
}

static void stop(struct run *run)
{
  if (run->stopping) return;
  run->stopping = true;
  run->stopped_at = run->now;
}

static void hand_out(struct run *run)
{
  while (!list_is_empty(&run->idle) && may_make(run)) {
    run->now = clk_mono();
    struct mono_time due = next_due(run);
    if (mono_before(run->now, due)) return;
    struct run_client *c = CONTAINER_OF(list_take_first(&run->idle), struct run_client, idle);
    run->under_way++;
    run_client_begin(c, due);
  }
}

// Clients are put aside here and get their next click at the end of the turn: no recursion, and events of this turn
// stay valid.
void run_client_is_free(struct run_client *c)
{
  c->state = CLIENT_IDLE;
  c->run->under_way--;
  list_add_last(&c->run->idle, &c->idle);
}

// --- time ---

static void wake_paused(struct run *run)
{
  for (struct heap_node *node = heap_first(&run->pauses); node != NULL && !mono_before(run->now, node->due);
       node = heap_first(&run->pauses)) {
    heap_remove(&run->pauses, node);
    run_client_on_pause_over(CONTAINER_OF(node, struct run_client, pause));
  }
}

static void scan_timeouts(struct run *run)
{
  if (mono_before(run->now, run->next_scan)) return;
  run->next_scan = mono_after(run->now, span_ms(SCAN_MS));
  for (size_t i = 0; i < run->conf->clients; i++) {
    struct run_client *c = &run->clients[i];
    bool open = c->state == CLIENT_CONNECTING || c->state == CLIENT_SENDING || c->state == CLIENT_WAITING;
    if (open && mono_since(run->now, c->sent).us > run->conf->answer_timeout.us) run_client_on_timeout(c);
  }
}

static void sooner(struct mono_time *t, struct mono_time other)
{
  if (mono_before(other, *t)) *t = other;
}

static struct timespec wait_time(const struct run *run)
{
  struct mono_time until = run->next_scan;
  const struct heap_node *pause = heap_first(&run->pauses);
  if (pause != NULL) sooner(&until, pause->due);
  if (may_make(run) && !list_is_empty(&run->idle)) sooner(&until, next_due(run));
  int64_t us = until.us > run->now.us ? until.us - run->now.us : 0;
  return (struct timespec){us / 1000000, (us % 1000000) * 1000};
}

// --- the loop ---

static void on_event(struct run *run, const struct epoll_event *event)
{
  struct signalfd_siginfo info;
  if (event->data.ptr != NULL)
    run_client_on_event(event->data.ptr, event->events);
  else if (read(run->signal_fd, &info, sizeof info) == (ssize_t)sizeof info)
    stop(run);
}

static void turn(struct run *run)
{
  struct epoll_event events[EVENTS_PER_TURN];
  struct timespec wait = wait_time(run);
  int count = epoll_pwait2(run->epoll_fd, events, EVENTS_PER_TURN, &wait, NULL);
  run->now = clk_mono();
  for (int i = 0; i < count; i++) on_event(run, &events[i]);
  wake_paused(run);
  scan_timeouts(run);
  if (run->conf->duration.us > 0 && mono_since(run->now, run->started).us >= run->conf->duration.us) stop(run);
  hand_out(run);
  if (!may_make(run)) stop(run);
}

static bool is_over(const struct run *run)
{
  if (!run->stopping) return false;
  return run->under_way == 0 || mono_since(run->now, run->stopped_at).us > run->conf->grace.us;
}

static enum result watch_signals(struct run *run)
{
  sigset_t set;
  (void)sigemptyset(&set);
  (void)sigaddset(&set, SIGINT);
  (void)sigaddset(&set, SIGTERM);
  if (sigprocmask(SIG_BLOCK, &set, NULL) != 0) return RESULT_IO;
  run->signal_fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
  struct epoll_event event = {.events = EPOLLIN, .data.ptr = NULL};
  bool watched = run->signal_fd >= 0 && epoll_ctl(run->epoll_fd, EPOLL_CTL_ADD, run->signal_fd, &event) == 0;
  return watched ? RESULT_OK : RESULT_IO;
}

static void init_clients(struct run *run)
{
  run->clients = MEM_ARRAY(struct run_client, run->conf->clients);
  for (size_t i = 0; i < run->conf->clients; i++) {
    struct run_client *c = &run->clients[i];
    c->run = run;
    c->fd = -1;
    c->target = i % run->conf->target_count;
    buf_init(&c->out, CLICK_REQUEST_BYTES);
    list_add_last(&run->idle, &c->idle);
  }
}

static void release(struct run *run)
{
  for (size_t i = 0; i < run->conf->clients; i++) {
    run_client_give_up(&run->clients[i]);
    buf_release(&run->clients[i].out);
  }
  mem_free(run->clients);
  heap_release(&run->pauses);
  if (run->signal_fd >= 0) (void)close(run->signal_fd);
  if (run->epoll_fd >= 0) (void)close(run->epoll_fd);
}

enum result run_load(const struct run_conf *conf, struct tally *out_tally)
{
  struct run *run = MEM_NEW(struct run);
  enum result result = RESULT_OK;
  run->conf = conf;
  run->signal_fd = -1;
  list_init(&run->idle);
  heap_init(&run->pauses, conf->clients);
  init_clients(run);
  run->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
  if (run->epoll_fd < 0) result = RESULT_IO;
  if (result == RESULT_OK) result = watch_signals(run);
  run->now = run->started = run->next_scan = clk_mono();
  while (result == RESULT_OK && !is_over(run)) turn(run);
  // Clicks under way at the end count with the time until they were answered, so the rates are not flattered.
  struct mono_time end = mono_before(run->stopped_at, run->last_answer) ? run->last_answer : run->stopped_at;
  run->tally.elapsed = mono_since(end, run->started);
  release(run);
  *out_tally = run->tally;
  mem_free(run);
  return result;
}
