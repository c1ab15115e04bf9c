// SPDX-License-Identifier: Apache-2.0
// The wire's side of publishing: a channel in confirm mode, a window of unconfirmed posts, acks, nacks and returns.
// Owner: the publisher's connection thread.
#include <amqp.h>
#include <amqp_framing.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/contract.h"
#include "common/limits.h"
#include "common/mq_publish.h"
#include "common/text.h"

#define POSTS_PER_TURN 256
#define BYTES_PER_TURN (64 * 1024)  // then look whether the broker has said "blocked", before a write gets stuck
#define BYTES_PER_POLL 4096
#define POST_BYTES     256  // of a post beside its body, about
#define CONFIRM_TIMEOUT_S \
  60  // a queue without a majority confirms nothing: its posts must not hold the window for ever
#define CONFIRM_CHECK_PERIOD_S 1
#define TAG_TEXT_BYTES         24
#define PERSISTENT             2

static void flush_settled(struct mq_publisher *p)
{
  if (p->out_count == 0) return;
  enum result pushed = mq_ring_push_many(&p->settled, p->out, p->out_count);
  ENSURE(pushed == RESULT_OK);  // as many places as posts that may be open
  p->out_count = 0;
}

static void settle(struct mq_publisher *p, struct mq_post *post, enum mq_outcome outcome)
{
  post->outcome = outcome;
  p->out[p->out_count++] = post;
  if (p->out_count == MQ_SETTLED_MAX) flush_settled(p);
}

static struct mq_post **slot(const struct mq_publisher *p, uint64_t tag)
{
  return &p->window[tag & (p->window_size - 1)];
}

static void advance_oldest(struct mq_publisher *p)
{
  while (p->oldest < p->next && *slot(p, p->oldest) == NULL) p->oldest++;
}

static void settle_tag(struct mq_publisher *p, uint64_t tag, bool acked)
{
  struct mq_post *post = *slot(p, tag);
  if (post == NULL) return;  // given up before the broker spoke
  *slot(p, tag) = NULL;
  settle(p, post, !acked ? MQ_NACKED : post->returned ? MQ_RETURNED : MQ_CONFIRMED);
}

static void on_confirm(struct mq_publisher *p, uint64_t tag, bool multiple, bool acked)
{
  if (tag == 0 || tag >= p->next) {
    mq_conn_fail(&p->conn, "confirm of a message that was never sent");
    return;
  }
  if (!multiple && tag >= p->oldest) settle_tag(p, tag, acked);
  if (multiple)
    for (uint64_t t = p->oldest; t <= tag; t++) settle_tag(p, t, acked);
  advance_oldest(p);
}

// The header of a returned message: our tag comes back in its correlation id, before the ack.
static void on_return_header(struct mq_publisher *p, const amqp_basic_properties_t *props)
{
  uint64_t tag;
  if ((props->_flags & AMQP_BASIC_CORRELATION_ID_FLAG) == 0) return;
  if (text_to_u64(props->correlation_id.bytes, props->correlation_id.len, &tag) != RESULT_OK) return;
  if (tag < p->oldest || tag >= p->next) return;
  struct mq_post *post = *slot(p, tag);
  if (post != NULL) post->returned = true;
}

static void on_publish_method(struct mq_publisher *p, const amqp_method_t *m)
{
  if (m->id == AMQP_CHANNEL_OPEN_OK_METHOD) {
    amqp_confirm_select_t select = {0};
    mq_conn_send(&p->conn, MQ_PUBLISH_CHANNEL, AMQP_CONFIRM_SELECT_METHOD, &select);
  } else if (m->id == AMQP_CONFIRM_SELECT_OK_METHOD) {
    p->state = MQ_PUBLISH_READY;
  } else if (m->id == AMQP_BASIC_ACK_METHOD) {
    const amqp_basic_ack_t *ack = m->decoded;
    on_confirm(p, ack->delivery_tag, ack->multiple != 0, true);
  } else if (m->id == AMQP_BASIC_NACK_METHOD) {
    const amqp_basic_nack_t *nack = m->decoded;
    on_confirm(p, nack->delivery_tag, nack->multiple != 0, false);
  } else if (m->id == AMQP_CHANNEL_CLOSE_METHOD) {
    // The confirms of this channel are lost with it, so nothing is gained by keeping the connection.
    const amqp_channel_close_t *close = m->decoded;
    mq_conn_fail(&p->conn, "channel closed: %u %.*s", close->reply_code, (int)close->reply_text.len,
                 (const char *)close->reply_text.bytes);
  }
}

void mq_publish_on_frame(void *publisher, const amqp_frame_t *frame)
{
  struct mq_publisher *p = publisher;
  if (frame->channel == MQ_TOPOLOGY_CHANNEL) {
    mq_topology_on_frame(&p->topology, frame);
  } else if (frame->channel == MQ_PUBLISH_CHANNEL) {
    if (frame->frame_type == AMQP_FRAME_METHOD)
      on_publish_method(p, &frame->payload.method);
    else if (frame->frame_type == AMQP_FRAME_HEADER)
      on_return_header(p, frame->payload.properties.decoded);
  }
}

void mq_publish_on_up(void *publisher)
{
  struct mq_publisher *p = publisher;
  amqp_channel_open_t m = {0};
  p->state = MQ_PUBLISH_OPENING;
  p->oldest = p->next = 1;
  mq_conn_send(&p->conn, MQ_PUBLISH_CHANNEL, AMQP_CHANNEL_OPEN_METHOD, &m);
}

void mq_publish_on_down(void *publisher)
{
  struct mq_publisher *p = publisher;
  p->state = MQ_PUBLISH_CLOSED;
  for (; p->oldest < p->next; p->oldest++) {
    struct mq_post *post = *slot(p, p->oldest);
    *slot(p, p->oldest) = NULL;
    if (post != NULL) settle(p, post, MQ_LOST);
  }
  flush_settled(p);
  mq_topology_on_down(&p->topology);
}

static void put_headers(const struct mq_post *post, amqp_basic_properties_t *props,
                        amqp_table_entry_t entries[MQ_HEADERS_MAX])
{
  if (post->header_count == 0) return;
  for (size_t i = 0; i < post->header_count; i++) {
    entries[i].key = amqp_cstring_bytes(post->headers[i].name);
    entries[i].value.kind = AMQP_FIELD_KIND_UTF8;
    entries[i].value.value.bytes = amqp_cstring_bytes(post->headers[i].value != NULL ? post->headers[i].value : "");
  }
  props->headers = (amqp_table_t){.num_entries = (int)post->header_count, .entries = entries};
  props->_flags |= AMQP_BASIC_HEADERS_FLAG;
}

static void put_text(amqp_basic_properties_t *props, amqp_flags_t flag, amqp_bytes_t *to, const char *text)
{
  if (text == NULL) return;
  *to = amqp_cstring_bytes(text);
  props->_flags |= flag;
}

static void publish(struct mq_publisher *p, struct mq_post *post, struct mono_time now, struct wall_time wall)
{
  char tag[TAG_TEXT_BYTES];
  snprintf(tag, sizeof tag, "%" PRIu64, p->next);
  amqp_basic_properties_t props = {._flags = AMQP_BASIC_DELIVERY_MODE_FLAG | AMQP_BASIC_TIMESTAMP_FLAG,
                                   .delivery_mode = PERSISTENT,
                                   .timestamp = (uint64_t)(wall.us / 1000000)};
  amqp_table_entry_t entries[MQ_HEADERS_MAX];
  put_text(&props, AMQP_BASIC_CORRELATION_ID_FLAG, &props.correlation_id, tag);
  put_text(&props, AMQP_BASIC_CONTENT_TYPE_FLAG, &props.content_type, post->content_type);
  put_text(&props, AMQP_BASIC_MESSAGE_ID_FLAG, &props.message_id, post->message_id);
  put_text(&props, AMQP_BASIC_TYPE_FLAG, &props.type, post->type);
  put_text(&props, AMQP_BASIC_APP_ID_FLAG, &props.app_id, p->conn.name);
  put_headers(post, &props, entries);
  // In the window before it is sent: if the write fails half way, it may still have arrived.
  post->sent_at = now;
  *slot(p, p->next++) = post;
  amqp_bytes_t body = {.len = post->body_len, .bytes = (void *)(uintptr_t)post->body};
  int status =
      amqp_basic_publish(p->conn.amqp, MQ_PUBLISH_CHANNEL, amqp_cstring_bytes(post->exchange),
                         amqp_cstring_bytes(post->routing_key), post->may_have_no_queue ? 0 : 1, 0, &props, body);
  if (status != AMQP_STATUS_OK) mq_conn_fail(&p->conn, "publish failed: %s", amqp_error_string2(status));
}

// The next post, or NULL. One that was handed over after a new queue waits until that queue is declared.
static struct mq_post *next_post(struct mq_publisher *p)
{
  if (p->batch_at == p->batch_count) {
    p->batch_at = 0;
    p->batch_count = mq_ring_pop(&p->waiting, p->batch, MQ_BATCH_MAX);
    if (p->batch_count == 0) return NULL;
    if (mq_ring_count(&p->topology.added) > 0) {
      p->conn.again = true;
      return NULL;
    }
  }
  return p->batch[p->batch_at];
}

// Whether the socket takes more; asked again after as many bytes as are free for certain when it says yes.
static bool has_room(struct mq_publisher *p, size_t bytes, size_t *io_asked_at)
{
  if (*io_asked_at != 0 && bytes < *io_asked_at + BYTES_PER_POLL) return true;
  if (!mq_conn_can_write(&p->conn)) return false;
  *io_asked_at = bytes > 0 ? bytes : 1;
  return true;
}

static void send_posts(struct mq_publisher *p)
{
  struct mono_time now = clk_mono();
  struct wall_time wall = clk_wall();
  size_t bytes = 0, asked_at = 0;
  for (int sent = 0; sent < POSTS_PER_TURN && bytes < BYTES_PER_TURN && !p->conn.failed; sent++) {
    struct mq_post *post = next_post(p);
    if (post == NULL || p->next - p->oldest >= p->window_size) return;
    if (!has_room(p, bytes, &asked_at)) {
      p->conn.want_write = true;
      return;
    }
    p->batch_at++;
    bytes += post->body_len + POST_BYTES;
    publish(p, post, now, wall);
  }
  p->conn.again = true;
}

// Posts that wait together leave in full packets, not in one of their own each: the broker wakes for each packet.
static void pump(struct mq_publisher *p)
{
  bool is_many = p->batch_count - p->batch_at + mq_ring_count(&p->waiting) > 1;
  if (is_many) mq_conn_cork(&p->conn, true);
  send_posts(p);
  if (is_many) mq_conn_cork(&p->conn, false);
}

static void give_up_old_confirms(struct mq_publisher *p)
{
  struct mono_time now = clk_mono();
  if (mono_before(now, mono_after(p->confirms_checked_at, span_s(CONFIRM_CHECK_PERIOD_S)))) return;
  p->confirms_checked_at = now;
  for (uint64_t tag = p->oldest; tag < p->next; tag++) {
    struct mq_post *post = *slot(p, tag);
    if (post == NULL) continue;
    struct mono_time since = mono_before(post->sent_at, p->last_blocked_at) ? p->last_blocked_at : post->sent_at;
    if (mono_before(now, mono_after(since, span_s(CONFIRM_TIMEOUT_S)))) break;
    *slot(p, tag) = NULL;
    settle(p, post, MQ_LOST);
  }
  advance_oldest(p);
}

void mq_publish_on_work(void *publisher)
{
  struct mq_publisher *p = publisher;
  mq_topology_work(&p->topology);
  bool blocked = atomic_load(&p->conn.blocked);
  bool stopping = atomic_load(&p->conn.stopping);
  if (!blocked && !stopping && p->state == MQ_PUBLISH_READY && mq_topology_is_ready(&p->topology)) pump(p);
  if (blocked)
    p->last_blocked_at = clk_mono();
  else
    give_up_old_confirms(p);
  flush_settled(p);
}
