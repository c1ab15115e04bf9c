// SPDX-License-Identifier: Apache-2.0
// Recording and announcing dead letters. Loop thread.
#include "fulfiller/letters.h"

#include <stdio.h>

#include "common/list.h"
#include "common/loop.h"
#include "common/mem.h"
#include "fulfiller/app.h"
#include "fulfiller/lane.h"
#include "fulfiller/store.h"
#include "fulfiller/topology.h"

#define LETTER_BODY_BYTES      4096
#define ANNOUNCEMENT_BYTES_MAX 4096

static const struct span rest_after_failure = {1000000};

struct letters {
  struct runtime *rt;
  struct db_pool *db;
  struct mq_publisher *publisher;
  struct mq_consumer *consumer;
  struct list open;  // struct letter
  size_t open_count;
  bool is_stopping;
};

// An unreadable message until it is recorded, announced and acknowledged.
struct letter {
  struct list node;
  struct letters *letters;
  struct db_request req;
  struct loop_timer *again;
  struct mq_tag tag;
  char provider[CODE_BYTES_MAX + 1];
};

static void letter_free(struct letter *letter)
{
  list_remove(&letter->node);
  letter->letters->open_count--;
  loop_timer_free(letter->again);
  db_args_release(&letter->req.args);
  mem_free(letter);
}

static void free_letter(void *letter) { letter_free(letter); }

// --- announcements

static enum result announce(struct letters *l, const struct buf *body, mq_outcome_fn *on_outcome, void *ctx)
{
  struct mq_message message = {.exchange = TOPOLOGY_DEAD,
                               .routing_key = "",
                               .body = buf_text(body),
                               .body_len = body->len,
                               .content_type = "application/json",
                               .type = "dead_letter"};
  return buf_result(body) == RESULT_OK ? mq_publish(l->publisher, &message, on_outcome, ctx) : RESULT_TOO_BIG;
}

static void put_member(struct buf *b, const char *name, const char *value)
{
  buf_printf(b, ",\"%s\":", name);
  buf_put_json(b, value, strlen(value));
}

void letters_announce_claim(struct letters *l, const struct job *job)
{
  struct buf body;
  buf_init(&body, ANNOUNCEMENT_BYTES_MAX);
  buf_puts(&body, "{\"v\":1");
  put_member(&body, "claimId", job->id);
  put_member(&body, "provider", job->lane->provider.name);
  put_member(&body, "cause", job->decision.review);
  const struct verdict *v = &job->call.verdict;
  put_member(&body, "detail", v->detail[0] != '\0' ? v->detail : v->code);
  put_member(&body, "trace", job->trace);
  buf_printf(&body, ",\"attempts\":%d}", job->key.attempt);
  enum result result = announce(l, &body, NULL, NULL);
  LOG(l->rt->log, result == RESULT_OK ? EV_DEAD_LETTER_ANNOUNCED : EV_DEAD_LETTER_FAILED, F_STR("claim_id", job->id),
      F_STR("biz_id", job->facts.biz_id), F_STR("activity", job->facts.activity_code),
      F_STR("provider", job->lane->provider.name), F_STR("cause", job->decision.review), F_STR("trace", job->trace),
      F_STR("reason", result == RESULT_OK ? NULL : result_text(result)));
  buf_release(&body);
}

void letters_announce_callback(struct letters *l, const char *provider, int64_t letter_id, const char *verdict)
{
  struct buf body;
  char cause[64];
  snprintf(cause, sizeof cause, "callback_%.40s", verdict);
  buf_init(&body, ANNOUNCEMENT_BYTES_MAX);
  buf_printf(&body, "{\"v\":1,\"letterId\":\"%lld\"", (long long)letter_id);
  put_member(&body, "provider", provider);
  put_member(&body, "cause", cause);
  buf_putc(&body, '}');
  enum result result = announce(l, &body, NULL, NULL);
  LOG(l->rt->log, result == RESULT_OK ? EV_DEAD_LETTER_ANNOUNCED : EV_DEAD_LETTER_FAILED, F_STR("provider", provider),
      F_STR("cause", cause), F_STR("reason", result == RESULT_OK ? NULL : result_text(result)));
  buf_release(&body);
}

// --- unreadable messages

static void on_announced(void *ctx, enum mq_outcome outcome)
{
  struct letter *letter = ctx;
  (void)outcome;  // the row stands; whoever listens to the queue may also read the table
  mq_ack(letter->letters->consumer, letter->tag);
  letter_free(letter);
}

static void on_recorded(struct db_request *req, const struct db_rows *rows)
{
  struct letter *letter = CONTAINER_OF(req, struct letter, req);
  struct buf body;
  buf_init(&body, ANNOUNCEMENT_BYTES_MAX);
  buf_printf(&body, "{\"v\":1,\"letterId\":\"%lld\"", (long long)store_letter_id(rows));
  put_member(&body, "provider", letter->provider);
  put_member(&body, "cause", "unreadable_message");
  buf_putc(&body, '}');
  enum result result = announce(letter->letters, &body, on_announced, letter);
  buf_release(&body);
  if (result == RESULT_OK) return;
  mq_ack(letter->letters->consumer, letter->tag);
  loop_defer_free(letter->letters->rt->loop, letter, free_letter);
}

static void submit(void *ctx);

static void try_later(struct letter *letter, const char *why)
{
  LOG(letter->letters->rt->log, EV_DEAD_LETTER_FAILED, F_STR("provider", letter->provider), F_STR("reason", why));
  if (!letter->letters->is_stopping) loop_timer_set(letter->again, rest_after_failure);
}

static void on_error(struct db_request *req, const struct db_error *error)
{
  try_later(CONTAINER_OF(req, struct letter, req), error->message);
}
static void on_timeout(struct db_request *req) { try_later(CONTAINER_OF(req, struct letter, req), "timeout"); }

static void submit(void *ctx)
{
  struct letter *letter = ctx;
  enum result result = db_pool_submit(letter->letters->db, &letter->req);
  if (result != RESULT_OK) try_later(letter, result_text(result));
}

// A text column takes neither NUL nor bytes that are no UTF-8.
static void readable(const char *bytes, size_t len, char out[LETTER_BODY_BYTES])
{
  char *copy = mem_strndup(bytes, len < LETTER_BODY_BYTES ? len : LETTER_BODY_BYTES);
  for (size_t i = 0; i < len && i < LETTER_BODY_BYTES; i++) {
    if (copy[i] == '\0') copy[i] = '?';
  }
  verdict_put(out, LETTER_BODY_BYTES, copy);
  mem_free(copy);
}

void letters_add(struct letters *l, const char *provider, const struct mq_delivery *d, const char *why)
{
  char body[LETTER_BODY_BYTES], detail[VERDICT_DETAIL_BYTES];
  struct letter *letter = MEM_NEW(struct letter);
  *letter = (struct letter){
      .letters = l, .tag = d->tag, .req = {.on_rows = on_recorded, .on_error = on_error, .on_timeout = on_timeout}};
  snprintf(letter->provider, sizeof letter->provider, "%s", provider);
  letter->again = loop_timer_new(l->rt->loop, submit, letter);
  list_init(&letter->node);
  list_add_last(&l->open, &letter->node);
  l->open_count++;
  readable(d->body, d->body_len, body);
  verdict_put(detail, sizeof detail, why);
  db_args_init(&letter->req.args);
  store_unreadable(&letter->req, provider, detail, body);
  submit(letter);
}

// --- life

struct letters *letters_new(struct runtime *rt, struct db_pool *db, struct mq_publisher *publisher,
                            struct mq_consumer *consumer)
{
  struct letters *l = MEM_NEW(struct letters);
  *l = (struct letters){.rt = rt, .db = db, .publisher = publisher, .consumer = consumer};
  list_init(&l->open);
  return l;
}

size_t letters_open(const struct letters *l) { return l->open_count; }
void letters_stop(struct letters *l) { l->is_stopping = true; }

void letters_free(struct letters *l)
{
  if (l == NULL) return;
  while (!list_is_empty(&l->open)) letter_free(CONTAINER_OF(l->open.next, struct letter, node));
  mem_free(l);
}
