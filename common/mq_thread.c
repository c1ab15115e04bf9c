// SPDX-License-Identifier: Apache-2.0
// The life of a broker connection: connect, read what is there, let the role work, wait; after a loss pause and begin
// again. Owner: the connection's thread. It waits for the socket and for its bell, never inside a read.
#include <amqp.h>
#include <amqp_framing.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>

#include "common/backoff.h"
#include "common/mq_conn.h"

#define RECONNECT_BASE_MS    100
#define HEALTHY_AFTER_S      5     // a connection that lived this long starts the pauses from the beginning
#define TURN_MAX_MS          1000  // heartbeats are looked after at least this often (the shortest is 5 s)
#define RELEASE_EVERY_FRAMES 64

void mq_conn_fail(struct mq_conn *c, const char *format, ...)
{
  if (c->failed) return;  // the first reason is the true one
  c->failed = true;
  va_list args;
  va_start(args, format);
  vsnprintf(c->reason, sizeof c->reason, format, args);
  va_end(args);
}

void mq_conn_note(struct mq_conn *c, enum mq_note_kind kind, const char *text)
{
  struct mq_note note = {.kind = kind};
  snprintf(note.text, sizeof note.text, "%s", text);
  // A full ring means that the loop stands still: the line is lost, the state is not (see `up`, `blocked`, `fault`).
  enum result r = mq_ring_push(&c->notes, &note);
  if (r != RESULT_OK) mq_bell_ring(c->to_loop);
}

void mq_conn_set_fault(struct mq_conn *c, const char *text)
{
  pthread_mutex_lock(&c->lock);
  bool changed = strcmp(c->fault, text) != 0;
  if (changed) snprintf(c->fault, sizeof c->fault, "%s", text);
  pthread_mutex_unlock(&c->lock);
  if (changed && text[0] != '\0') mq_conn_note(c, MQ_NOTE_REFUSED, text);
  if (changed) mq_bell_ring(c->to_loop);
}

void mq_conn_due(struct mq_conn *c, struct mono_time at)
{
  if (mono_before(at, c->due)) c->due = at;
}

bool mq_conn_can_write(const struct mq_conn *c)
{
  struct pollfd p = {.fd = c->fd, .events = POLLOUT};
  return poll(&p, 1, 0) == 1;
}

void mq_conn_send(struct mq_conn *c, uint16_t channel, uint32_t method, void *decoded)
{
  if (c->failed) return;
  int status = amqp_send_method(c->amqp, channel, method, decoded);
  if (status != AMQP_STATUS_OK) mq_conn_fail(c, "write failed: %s", amqp_error_string2(status));
}

static void on_blocked(struct mq_conn *c, amqp_bytes_t reason)
{
  char text[MQ_TEXT_BYTES];
  snprintf(text, sizeof text, "%.*s", (int)(reason.len < 200 ? reason.len : 200), (const char *)reason.bytes);
  // The broker reads nothing for as long as its alarm lasts; that must not count as a dead peer.
  mq_conn_set_user_timeout(c, MQ_BLOCKED_TIMEOUT_MS);
  c->strict_at = (struct mono_time){0};
  atomic_store(&c->blocked, true);
  mq_conn_note(c, MQ_NOTE_BLOCKED, text);
}

// It says so before it reads: to the kernel it has been silent for the whole alarm, and with the short time-out again
// it would give the connection up at the next probe.
static void on_unblocked(struct mq_conn *c)
{
  c->strict_at = mono_after(mono_after(clk_mono(), c->heartbeat), c->heartbeat);
  atomic_store(&c->blocked, false);
  mq_conn_note(c, MQ_NOTE_UNBLOCKED, "");
}

static void look_at_strictness(struct mq_conn *c)
{
  if (c->strict_at.us == 0 || mono_before(clk_mono(), c->strict_at)) return;
  mq_conn_set_user_timeout(c, 2 * span_to_ms(c->heartbeat));
  c->strict_at = (struct mono_time){0};
}

static void on_connection_frame(struct mq_conn *c, const amqp_frame_t *frame)
{
  if (frame->frame_type != AMQP_FRAME_METHOD) return;
  const amqp_method_t *m = &frame->payload.method;
  if (m->id == AMQP_CONNECTION_BLOCKED_METHOD) {
    const amqp_connection_blocked_t *b = m->decoded;
    on_blocked(c, b->reason);
  } else if (m->id == AMQP_CONNECTION_UNBLOCKED_METHOD) {
    on_unblocked(c);
  } else if (m->id == AMQP_CONNECTION_CLOSE_METHOD) {
    const amqp_connection_close_t *close = m->decoded;
    amqp_connection_close_ok_t ok = {0};
    mq_conn_fail(c, "closed by the broker: %u %.*s", close->reply_code, (int)close->reply_text.len,
                 (const char *)close->reply_text.bytes);
    (void)amqp_send_method(c->amqp, 0, AMQP_CONNECTION_CLOSE_OK_METHOD, &ok);  // it may be gone already
  }
}

// Hands out what has arrived. Returns without waiting; heartbeats are sent and watched inside the library's call.
static void drain(struct mq_conn *c)
{
  for (int i = 0; i < MQ_FRAMES_PER_TURN && !c->failed; i++) {
    amqp_frame_t frame;
    struct timeval none = {0, 0};
    int status = amqp_simple_wait_frame_noblock(c->amqp, &frame, &none);
    if (status == AMQP_STATUS_TIMEOUT) {
      amqp_maybe_release_buffers(c->amqp);
      return;
    }
    if (status != AMQP_STATUS_OK) {
      mq_conn_fail(c, "%s", amqp_error_string2(status));
      return;
    }
    if (frame.channel == 0)
      on_connection_frame(c, &frame);
    else
      c->role->on_frame(c->self, &frame);
    if (i % RELEASE_EVERY_FRAMES == RELEASE_EVERY_FRAMES - 1) amqp_maybe_release_buffers(c->amqp);
  }
  c->again = true;
}

static void wait_for_news(struct mq_conn *c)
{
  int64_t ms = span_to_ms(mono_since(c->due, clk_mono())) + 1;
  if (ms < 0) ms = 0;
  if (ms > TURN_MAX_MS) ms = TURN_MAX_MS;
  bool at_once = c->again || amqp_frames_enqueued(c->amqp) || amqp_data_in_buffer(c->amqp);
  struct pollfd p[2] = {{.fd = c->fd, .events = (short)(POLLIN | (c->want_write ? POLLOUT : 0))},
                        {.fd = c->to_thread, .events = POLLIN}};
  poll(p, 2, at_once ? 0 : (int)ms);
  if (p[1].revents != 0) mq_bell_clear(c->to_thread);
}

static void live(struct mq_conn *c)
{
  c->role->on_up(c->self);
  while (!c->failed && !atomic_load(&c->stopping)) {
    c->again = c->want_write = false;
    c->due = mono_after(clk_mono(), span_ms(TURN_MAX_MS));
    drain(c);
    look_at_strictness(c);
    if (!c->failed) c->role->on_work(c->self);
    if (!c->failed) wait_for_news(c);
  }
  if (c->failed) return;
  c->role->on_work(c->self);  // acks that were handed over before the stop
}

// Waits before the next attempt; a bell (new work to refuse, or the end) is answered at once.
static void pause_after(struct mq_conn *c, struct span delay)
{
  struct mono_time until = mono_after(clk_mono(), delay);
  while (!atomic_load(&c->stopping)) {
    c->role->on_down(c->self);
    int64_t ms = span_to_ms(mono_since(until, clk_mono()));
    if (ms <= 0) return;
    struct pollfd p = {.fd = c->to_thread, .events = POLLIN};
    if (poll(&p, 1, ms > TURN_MAX_MS ? TURN_MAX_MS : (int)ms) == 1) mq_bell_clear(c->to_thread);
  }
}

static void one_connection(struct mq_conn *c)
{
  c->failed = false;
  c->reason[0] = '\0';
  c->strict_at = (struct mono_time){0};
  if (!mq_conn_open(c)) {
    mq_conn_close(c, false);
    if (!atomic_load(&c->stopping)) mq_conn_note(c, MQ_NOTE_ATTEMPT_FAILED, c->reason);
    return;
  }
  struct mono_time since = clk_mono();
  atomic_store(&c->up, true);
  mq_conn_note(c, MQ_NOTE_UP, "");
  live(c);
  atomic_store(&c->up, false);
  mq_conn_close(c, !c->failed && !atomic_load(&c->blocked));
  if (atomic_exchange(&c->blocked, false)) mq_conn_note(c, MQ_NOTE_UNBLOCKED, "");
  if (c->failed) mq_conn_note(c, MQ_NOTE_LOST, c->reason);
  if (mono_since(clk_mono(), since).us >= span_s(HEALTHY_AFTER_S).us) c->attempts = 0;
}

void *mq_conn_run(void *conn)
{
  struct mq_conn *c = conn;
  struct backoff_policy policy = {.base = span_ms(RECONNECT_BASE_MS), .cap = c->reconnect_max, .jitter_percent = 30};
  while (!atomic_load(&c->stopping)) {
    one_connection(c);
    c->role->on_down(c->self);
    if (atomic_load(&c->stopping)) break;
    pause_after(c, backoff_delay(&policy, c->attempts, (uint64_t)clk_mono().us));
    if (c->attempts < 1000) c->attempts++;
  }
  pthread_mutex_lock(&c->lock);
  c->ended = true;
  pthread_cond_broadcast(&c->progress);
  pthread_mutex_unlock(&c->lock);
  return NULL;
}
