// SPDX-License-Identifier: Apache-2.0
// Inside mq_*.c only: one connection to RabbitMQ and its thread. A role (publisher, consumer) hangs its hooks into it.
// Owner: fields say which thread; what both touch is atomic or under `lock`.
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/clk.h"
#include "common/mq.h"
#include "common/mq_ring.h"
#include "common/result.h"
#include "common/runtime.h"

struct amqp_connection_state_t_;
struct amqp_frame_t_;
struct loop_watch;

#define MQ_TEXT_BYTES         400     // reasons and faults; longer ones are cut
#define MQ_NOTES_MAX          256     // news on its way to the log
#define MQ_FRAMES_PER_TURN    512     // read before writing gets its turn
#define MQ_STOP_GRACE_MS      800     // a closing thread may take this long by itself,
#define MQ_STOP_FORCE_MS      600     // and this long after its socket was shut down
#define MQ_BLOCKED_TIMEOUT_MS 300000  // TCP_USER_TIMEOUT while the broker does not read
#define MQ_SHORT_TEXT_MAX     255     // AMQP short string

enum mq_note_kind {
  MQ_NOTE_UP,
  MQ_NOTE_LOST,
  MQ_NOTE_ATTEMPT_FAILED,
  MQ_NOTE_BLOCKED,
  MQ_NOTE_UNBLOCKED,
  MQ_NOTE_REFUSED,
  MQ_NOTE_CANCELLED
};
struct mq_note {
  enum mq_note_kind kind;
  char text[MQ_TEXT_BYTES];
};

struct mq_role {
  const char *name;  // label of the metric: "publisher", "consumer"
  // On the connection's thread:
  void (*on_up)(void *self);                                        // logged in; channels are all closed
  void (*on_frame)(void *self, const struct amqp_frame_t_ *frame);  // any frame but those of channel 0
  void (*on_work)(void *self);  // every turn while up; may set again, want_write, due
  void (*on_down)(void *self);  // after a loss, and every turn while there is no connection
  // On the loop thread:
  void (*on_bell)(void *self);
};

struct mq_conn {
  const struct mq_role *role;
  void *self;
  struct runtime *rt;
  char *name, *url, *password_file;
  struct span heartbeat, connect_timeout, reconnect_max;

  // Loop thread
  struct loop_watch *watch;
  char fault_seen[MQ_TEXT_BYTES];
  struct mono_time attempt_logged_at;

  // Both
  pthread_t thread;
  pthread_mutex_t lock;
  pthread_cond_t progress;  // acks were written, or the thread ends
  bool ended;               // under lock: the thread's last word
  int fd;  // our duplicate of the socket; the thread writes it under lock, so that the loop can shut it down
  char fault[MQ_TEXT_BYTES];  // under lock
  int to_thread, to_loop;     // bells
  atomic_bool stopping, up, blocked;
  struct mq_ring notes;

  // The connection's thread
  struct amqp_connection_state_t_ *amqp;
  bool failed;
  char reason[MQ_TEXT_BYTES];
  uint32_t attempts;
  bool again;                  // the role has more to do at once
  bool want_write;             // the role waits for room in the socket
  struct mono_time due;        // the role wants a turn at this instant
  struct mono_time strict_at;  // from then on the broker has to read again; 0: it has to already, or it is blocked
};

// Loop thread. start after the role's own fields are ready. False from stop: the thread hangs in a call that cannot be
// interrupted (a name server); it was left behind, and whatever it may touch must not be freed.
void mq_conn_init(struct mq_conn *c, const struct mq_role *role, void *self, struct runtime *rt,
                  const struct mq_conf *conf, const char *connection_name);
void mq_conn_start(struct mq_conn *c);
MUST_CHECK bool mq_conn_stop(struct mq_conn *c);
void mq_conn_release(struct mq_conn *c);
const char *mq_conn_fault(const struct mq_conn *c);  // NULL: none
void mq_conn_bell(void *conn, int what);             // the watch's callback

// The connection's thread.
void *mq_conn_run(void *conn);
void mq_conn_fail(struct mq_conn *c, const char *format, ...) PRINTF_LIKE(2, 3);  // ends the connection after this step
void mq_conn_note(struct mq_conn *c, enum mq_note_kind kind, const char *text);
void mq_conn_set_fault(struct mq_conn *c, const char *text);  // "" clears
void mq_conn_due(struct mq_conn *c, struct mono_time at);     // the earliest one counts
bool mq_conn_can_write(const struct mq_conn *c);              // room for a frame without waiting
void mq_conn_cork(const struct mq_conn *c, bool on);          // on: only full packets leave; off: what is left, too
// Sends a method; a failure ends the connection.
void mq_conn_send(struct mq_conn *c, uint16_t channel, uint32_t method, void *decoded);
// Logs in; on failure c->reason tells why.
MUST_CHECK bool mq_conn_open(struct mq_conn *c);
void mq_conn_close(struct mq_conn *c, bool politely);
// TCP_USER_TIMEOUT: how long written data may stay without an answer.
void mq_conn_set_user_timeout(const struct mq_conn *c, int64_t ms);
