// SPDX-License-Identifier: Apache-2.0
// Who shows which key: see access.h. Owner: the daemon's app; loop thread.
#include "common/access.h"

#include <string.h>
#include <sys/random.h>

#include "common/contract.h"
#include "common/list.h"
#include "common/mem.h"
#include "common/periodic.h"
#include "common/signature.h"
#include "sql_common.inc"

#define POLL_EVERY   span_s(2)
#define POLL_AT_MOST span_ms(50)  // while somebody waits
#define POLL_TIMEOUT span_s(2)
#define GOOD_FOR     span_s(300)  // what was heard of keys, while the database is away
#define WAITING_MAX  256
#define MARK_BYTES   48

struct waiter {
  struct list node;
  struct web_request *req;
  uint8_t hash[KEY_HASH_BYTES];
};

struct access {
  struct runtime *rt;
  struct signature *signature;
  struct key_ring *ring;
  struct periodic poll;
  struct list waiting, asked;  // for the next answer; for the one to the question that is under way
  size_t waiter_count;
  char mark[MARK_BYTES];  // of what the ring holds; "": nothing was heard yet
  struct mono_time heard, sent;
  bool is_away;  // the last question was not answered
};

void access_hash(struct access *a, const void *bytes, size_t len, uint8_t out_hash[KEY_HASH_BYTES])
{
  signature_sha256(a->signature, bytes, len, out_hash);
}

void access_secret_new(char out_text[KEY_SECRET_CHARS + 1])
{
  uint8_t bytes[KEY_HASH_BYTES];
  ENSURE(getrandom(bytes, sizeof bytes, 0) == (ssize_t)sizeof bytes);
  key_secret_text(bytes, out_text);
  explicit_bzero(bytes, sizeof bytes);
}

// --- who waits

static void resolve(struct access *a, struct list *waiters, bool is_answered)
{
  struct list todo;
  list_init(&todo);
  list_splice(&todo, waiters);
  for (struct list *node; (node = list_take_first(&todo)) != NULL;) {
    struct waiter *w = CONTAINER_OF(node, struct waiter, node);
    struct web_caller caller = {.scopes = 0};
    enum web_auth_answer answer = WEB_AUTH_AWAY;
    const struct key_entry *e = is_answered ? key_ring_find(a->ring, w->hash, clk_mono()) : NULL;
    if (e) {
      caller = (struct web_caller){.scopes = e->scopes, .until = e->until};
      memcpy(caller.name, e->name, sizeof caller.name);
      answer = WEB_AUTH_KNOWN;
    } else if (is_answered) {
      key_ring_refuse(a->ring, w->hash);
      answer = WEB_AUTH_NOBODY;
    }
    struct web_request *req = w->req;
    a->waiter_count--;
    mem_free(w);
    web_auth_resolve(req, answer, &caller);
  }
}

static enum web_auth_answer wait_for_answer(struct access *a, struct web_request *req,
                                            const uint8_t hash[KEY_HASH_BYTES])
{
  if (a->is_away || a->poll.is_stopped || a->waiter_count == WAITING_MAX) return WEB_AUTH_AWAY;
  struct waiter *w = MEM_NEW(struct waiter);
  w->req = req;
  memcpy(w->hash, hash, sizeof w->hash);
  list_add_last(&a->waiting, &w->node);
  a->waiter_count++;
  struct span since = mono_since(clk_mono(), a->sent);
  if (!a->poll.is_busy)
    loop_timer_set(a->poll.timer, span_us(since.us >= POLL_AT_MOST.us ? 0 : POLL_AT_MOST.us - since.us));
  return WEB_AUTH_LATER;
}

// --- the database

static const struct db_statement *prepare(void *ctx, struct db_args *args)
{
  struct access *a = ctx;
  int64_t id;
  a->sent = clk_mono();
  list_splice(&a->asked, &a->waiting);
  db_args_text(args, a->mark);
  db_args_array(args, DB_ARRAY_INT8);
  while (key_ring_take_used(a->ring, &id)) db_args_array_i64(args, id);
  db_args_array_end(args);
  return &SQL_KEY_POLL;
}

static void add_key(struct access *a, const struct db_rows *rows, size_t row, struct wall_time now)
{
  enum { MARK, ID, HASH, NAME, SCOPES, EXPIRES };
  struct key_entry e = {.id = db_rows_i64(rows, row, ID), .scopes = web_scopes_read(db_rows_text(rows, row, SCOPES))};
  const char *name = db_rows_text(rows, row, NAME);
  size_t len = strlen(name);
  if (db_rows_text_len(rows, row, HASH) != KEY_HASH_BYTES || len >= sizeof e.name) return;
  memcpy(e.hash, db_rows_text(rows, row, HASH), KEY_HASH_BYTES);
  memcpy(e.name, name, len + 1);
  e.has_end = !db_rows_is_null(rows, row, EXPIRES);
  if (e.has_end) {
    struct span left = span_us(db_rows_i64(rows, row, EXPIRES));
    e.ends = mono_after(a->sent, left);
    e.until = (struct wall_time){now.us + left.us};
  }
  if (key_ring_add(a->ring, &e) != RESULT_OK) LOG(a->rt->log, EV_KEYS_TOO_MANY, F_INT("max", KEY_RING_MAX));
}

static struct span on_rows(void *ctx, const struct db_rows *rows)
{
  struct access *a = ctx;
  const char *mark = db_rows_text(rows, 0, 0);
  if (strcmp(mark, a->mark) != 0 && strlen(mark) < sizeof a->mark) {
    key_ring_clear(a->ring);
    for (size_t i = 1; i < db_rows_count(rows); i++) add_key(a, rows, i, clk_wall());
    key_ring_ready(a->ring);
    memcpy(a->mark, mark, strlen(mark) + 1);
    LOG(a->rt->log, EV_KEYS_READ, F_INT("keys", (int64_t)key_ring_count(a->ring)));
  }
  a->heard = clk_mono();
  a->is_away = false;
  resolve(a, &a->asked, true);
  return list_is_empty(&a->waiting) ? POLL_EVERY : POLL_AT_MOST;
}

static void on_failed(void *ctx, bool may_have_worked)
{
  struct access *a = ctx;
  (void)may_have_worked;
  a->is_away = true;
  resolve(a, &a->asked, false);
  resolve(a, &a->waiting, false);
}

// --- the question

enum web_auth_answer access_auth(void *ctx, struct web_request *req, const struct web_credential *credential,
                                 struct web_caller *out_caller)
{
  struct access *a = ctx;
  uint8_t hash[KEY_HASH_BYTES];
  struct mono_time now = clk_mono();
  if (!credential->key || !key_has_shape(credential->key, credential->key_len)) return WEB_AUTH_NOBODY;
  access_hash(a, credential->key, credential->key_len, hash);
  const struct key_entry *e = key_ring_find(a->ring, hash, now);
  bool is_fresh = a->mark[0] != '\0' && mono_since(now, a->heard).us < GOOD_FOR.us;
  if (e && is_fresh) {
    out_caller->scopes = e->scopes;
    out_caller->until = e->until;
    memcpy(out_caller->name, e->name, sizeof out_caller->name);
    return WEB_AUTH_KNOWN;
  }
  if (is_fresh && !a->is_away && key_ring_is_refused(a->ring, hash)) return WEB_AUTH_NOBODY;
  return credential->may_wait ? wait_for_answer(a, req, hash) : WEB_AUTH_AWAY;
}

// --- life

struct access *access_new(struct runtime *rt, struct db_pool *db)
{
  static const struct periodic_spec spec = {
      .name = "keys", .prepare = prepare, .on_rows = on_rows, .on_failed = on_failed};
  struct access *a = MEM_NEW(struct access);
  a->rt = rt;
  a->signature = signature_new();
  a->ring = key_ring_new();
  list_init(&a->waiting);
  list_init(&a->asked);
  periodic_init(&a->poll, &spec, a, rt, db, POLL_EVERY);
  a->poll.req.timeout = POLL_TIMEOUT;
  return a;
}

void access_start(struct access *a) { periodic_soon(&a->poll); }

void access_stop(struct access *a)
{
  periodic_stop(&a->poll);
  resolve(a, &a->waiting, false);  // those asked for have their answer on its way
}

void access_free(struct access *a)
{
  if (!a) return;
  resolve(a, &a->waiting, false);
  resolve(a, &a->asked, false);
  periodic_release(&a->poll);
  key_ring_free(a->ring);
  signature_free(a->signature);
  mem_free(a);
}
