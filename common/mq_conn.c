// SPDX-License-Identifier: Apache-2.0
// The loop's side of a broker connection: start, bounded stop, and news from the thread turned into log lines and
// metrics. Owner: the loop thread.
#include "common/mq_conn.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "common/contract.h"
#include "common/log.h"
#include "common/loop.h"
#include "common/mem.h"
#include "common/metric.h"

#define ATTEMPT_LOG_PERIOD_S 30

void mq_conn_init(struct mq_conn *c, const struct mq_role *role, void *self, struct runtime *rt,
                  const struct mq_conf *conf, const char *connection_name)
{
  *c = (struct mq_conn){.role = role, .self = self, .rt = rt, .fd = -1};
  c->name = mem_strdup(connection_name);
  c->url = mem_strdup(conf->url);
  c->password_file = mem_strdup(conf->password_file != NULL ? conf->password_file : "");
  c->heartbeat = conf->heartbeat;
  c->connect_timeout = conf->connect_timeout;
  c->reconnect_max = conf->reconnect_max;
  c->to_thread = mq_bell_new();
  c->to_loop = mq_bell_new();
  REQUIRE(c->to_thread >= 0 && c->to_loop >= 0);
  mq_ring_init(&c->notes, sizeof(struct mq_note), MQ_NOTES_MAX, c->to_loop);
  pthread_condattr_t attr;
  REQUIRE(pthread_mutex_init(&c->lock, NULL) == 0);
  REQUIRE(pthread_condattr_init(&attr) == 0);
  REQUIRE(pthread_condattr_setclock(&attr, CLOCK_MONOTONIC) == 0);
  REQUIRE(pthread_cond_init(&c->progress, &attr) == 0);
  pthread_condattr_destroy(&attr);
}

void mq_conn_start(struct mq_conn *c)
{
  metric_series_put(METRIC_SERIES(c->rt->metrics, M_MQ_CONNECTED, c->role->name), 0);
  c->watch = loop_watch_new(c->rt->loop, c->to_loop, mq_conn_bell, c);
  loop_watch_set(c->watch, LOOP_READ);
  // Signals belong to the loop: the new thread inherits a mask with all of them blocked.
  sigset_t all, old;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &old);
  int error = pthread_create(&c->thread, NULL, mq_conn_run, c);
  pthread_sigmask(SIG_SETMASK, &old, NULL);
  REQUIRE(error == 0);
}

static bool ended_within(struct mq_conn *c, int64_t ms)
{
  struct mono_time until = mono_after(clk_mono(), span_ms(ms));
  struct timespec at = {.tv_sec = until.us / 1000000, .tv_nsec = until.us % 1000000 * 1000};
  pthread_mutex_lock(&c->lock);
  int waited = 0;
  while (!c->ended && waited == 0) waited = pthread_cond_timedwait(&c->progress, &c->lock, &at);
  bool ended = c->ended;
  pthread_mutex_unlock(&c->lock);
  return ended;
}

bool mq_conn_stop(struct mq_conn *c)
{
  atomic_store(&c->stopping, true);
  mq_bell_ring(c->to_thread);
  bool ended = ended_within(c, MQ_STOP_GRACE_MS);
  if (!ended) {
    pthread_mutex_lock(&c->lock);
    if (c->fd >= 0) shutdown(c->fd, SHUT_RDWR);
    pthread_mutex_unlock(&c->lock);
    ended = ended_within(c, MQ_STOP_FORCE_MS);
  }
  if (ended)
    pthread_join(c->thread, NULL);
  else
    pthread_detach(c->thread);
  loop_watch_free(c->watch);
  c->watch = NULL;
  metric_series_put(METRIC_SERIES(c->rt->metrics, M_MQ_CONNECTED, c->role->name), 0);
  return ended;
}

void mq_conn_release(struct mq_conn *c)
{
  mq_ring_release(&c->notes);
  close(c->to_thread);
  close(c->to_loop);
  pthread_cond_destroy(&c->progress);
  pthread_mutex_destroy(&c->lock);
  mem_free(c->name);
  mem_free(c->url);
  mem_free(c->password_file);
}

const char *mq_conn_fault(const struct mq_conn *c) { return c->fault_seen[0] != '\0' ? c->fault_seen : NULL; }

static void log_note(struct mq_conn *c, const struct mq_note *note)
{
  struct log *log = c->rt->log;
  const char *text = note->text[0] != '\0' ? note->text : NULL;
  switch (note->kind) {
    case MQ_NOTE_UP: LOG(log, EV_MQ_CONNECTED, F_STR("connection", c->name), F_STR("detail", text)); return;
    case MQ_NOTE_LOST: LOG(log, EV_MQ_CONNECTION_LOST, F_STR("connection", c->name), F_STR("detail", text)); return;
    case MQ_NOTE_BLOCKED: LOG(log, EV_MQ_BLOCKED, F_STR("connection", c->name), F_STR("detail", text)); return;
    case MQ_NOTE_UNBLOCKED: LOG(log, EV_MQ_UNBLOCKED, F_STR("connection", c->name)); return;
    case MQ_NOTE_REFUSED: LOG(log, EV_MQ_TOPOLOGY_REFUSED, F_STR("connection", c->name), F_STR("detail", text)); return;
    case MQ_NOTE_CANCELLED:
      metric_add(c->rt->metrics, M_MQ_CONSUMERS_CANCELLED, 1);
      LOG(log, EV_MQ_CONSUMER_CANCELLED, F_STR("connection", c->name), F_STR("detail", text));
      return;
    case MQ_NOTE_ATTEMPT_FAILED: break;
  }
  // A broker that stays away fails an attempt every few seconds: one line now and then is enough.
  struct mono_time now = clk_mono();
  if (c->attempt_logged_at.us != 0 && mono_before(now, mono_after(c->attempt_logged_at, span_s(ATTEMPT_LOG_PERIOD_S))))
    return;
  c->attempt_logged_at = now;
  LOG(log, EV_MQ_CONNECTION_LOST, F_STR("connection", c->name), F_STR("reason", "connect_failed"),
      F_STR("detail", text));
}

void mq_conn_bell(void *conn, int what)
{
  (void)what;
  struct mq_conn *c = conn;
  mq_bell_clear(c->to_loop);
  struct mq_note note;
  while (mq_ring_pop(&c->notes, &note, 1) == 1) {
    if (note.kind == MQ_NOTE_LOST) c->attempt_logged_at = clk_mono();  // the loss itself was a line
    log_note(c, &note);
  }
  pthread_mutex_lock(&c->lock);
  memcpy(c->fault_seen, c->fault, sizeof c->fault_seen);
  pthread_mutex_unlock(&c->lock);
  metric_series_put(METRIC_SERIES(c->rt->metrics, M_MQ_CONNECTED, c->role->name), atomic_load(&c->up) ? 1 : 0);
  c->role->on_bell(c->self);
}
