// SPDX-License-Identifier: Apache-2.0
// Who uses the console: see session.h. Owner: the app; loop thread.
#include "reconciler/session.h"

#include <string.h>

#include "common/jsonx.h"
#include "common/mem.h"
#include "common/text.h"
#include "sql_reconciler.inc"

#define LOOKUPS_MAX   256
#define TRIES_AT_ONCE 10
#define TRY_EVERY     span_s(2)
#define KNOWN_MAX     32
#define KNOWN_FOR     span_s(60)
#define TOKEN_BYTES   (sizeof TOKEN_LABEL - 1 + KEY_SECRET_CHARS)
#define TOKEN_LABEL   "largesse csrf "

// Who was seen lately: only to decide whether somebody may send a large body, before its bytes come.
struct known {
  uint8_t hash[KEY_HASH_BYTES];
  struct mono_time at;
  struct web_caller caller;
};

struct sessions {
  struct runtime *rt;
  struct db_pool *db;
  struct access *keys;
  size_t lookup_count;
  struct mono_time paid_until;  // attempts to sign in that failed, each worth TRY_EVERY
  struct known known[KNOWN_MAX];
  size_t known_next;
};

struct lookup {
  struct db_request db;
  struct sessions *sessions;
  struct web_request *req;  // NULL: nobody waits for this one
  uint8_t hash[KEY_HASH_BYTES];
};

struct sessions *sessions_new(struct runtime *rt, struct db_pool *db, struct access *keys)
{
  struct sessions *s = MEM_NEW(struct sessions);
  s->rt = rt;
  s->db = db;
  s->keys = keys;
  return s;
}

void sessions_free(struct sessions *s) { mem_free(s); }

void sessions_token(struct sessions *s, const char *session, size_t len, char out_token[KEY_SECRET_CHARS + 1])
{
  char text[TOKEN_BYTES];
  uint8_t hash[KEY_HASH_BYTES];
  size_t label = sizeof TOKEN_LABEL - 1, take = len < KEY_SECRET_CHARS ? len : KEY_SECRET_CHARS;
  memcpy(text, TOKEN_LABEL, label);
  memcpy(text + label, session, take);
  access_hash(s->keys, text, label + take, hash);
  key_secret_text(hash, out_token);
}

// --- known lately

static const struct known *find_known(const struct sessions *s, const uint8_t hash[KEY_HASH_BYTES])
{
  for (size_t i = 0; i < KNOWN_MAX; i++) {
    const struct known *k = &s->known[i];
    if (k->at.us != 0 && mono_since(clk_mono(), k->at).us < KNOWN_FOR.us && memcmp(k->hash, hash, sizeof k->hash) == 0)
      return k;
  }
  return NULL;
}

static void keep_known(struct sessions *s, const uint8_t hash[KEY_HASH_BYTES], const struct web_caller *caller)
{
  struct known *k = NULL;
  for (size_t i = 0; i < KNOWN_MAX && !k; i++)
    if (memcmp(s->known[i].hash, hash, KEY_HASH_BYTES) == 0) k = &s->known[i];
  if (!k) k = &s->known[s->known_next++ % KNOWN_MAX];
  memcpy(k->hash, hash, KEY_HASH_BYTES);
  k->caller = *caller;
  k->at = clk_mono();
}

static void forget_known(struct sessions *s, const uint8_t hash[KEY_HASH_BYTES])
{
  for (size_t i = 0; i < KNOWN_MAX; i++)
    if (memcmp(s->known[i].hash, hash, KEY_HASH_BYTES) == 0) s->known[i].at = (struct mono_time){0};
}

// --- asking the database

static void end(struct lookup *l, enum web_auth_answer answer, const struct web_caller *caller)
{
  struct web_request *req = l->req;
  l->sessions->lookup_count--;
  db_args_release(&l->db.args);
  mem_free(l);
  if (req) web_auth_resolve(req, answer, caller);
}

static void on_rows(struct db_request *db, const struct db_rows *rows)
{
  struct lookup *l = CONTAINER_OF(db, struct lookup, db);
  struct web_caller caller = {.is_person = true};
  const char *name = db_rows_count(rows) > 0 ? db_rows_text(rows, 0, 0) : "";
  size_t len = strlen(name);
  if (len == 0 || len >= sizeof caller.name) {
    forget_known(l->sessions, l->hash);
    end(l, WEB_AUTH_NOBODY, &caller);
    return;
  }
  memcpy(caller.name, name, len + 1);
  caller.scopes = web_scopes_read(db_rows_text(rows, 0, 1));
  caller.until = db_rows_time(rows, 0, 2);
  keep_known(l->sessions, l->hash, &caller);
  end(l, WEB_AUTH_KNOWN, &caller);
}

static void on_error(struct db_request *db, const struct db_error *error)
{
  (void)error;  // the pool has logged it
  end(CONTAINER_OF(db, struct lookup, db), WEB_AUTH_AWAY, NULL);
}

static void on_timeout(struct db_request *db) { end(CONTAINER_OF(db, struct lookup, db), WEB_AUTH_AWAY, NULL); }

static enum web_auth_answer look_up(struct sessions *s, struct web_request *req, const uint8_t hash[KEY_HASH_BYTES])
{
  if (s->lookup_count == LOOKUPS_MAX) return WEB_AUTH_AWAY;
  struct lookup *l = MEM_NEW(struct lookup);
  l->sessions = s;
  l->req = req;
  memcpy(l->hash, hash, sizeof l->hash);
  l->db.statement = &SQL_SESSION_CHECK;
  l->db.on_rows = on_rows;
  l->db.on_error = on_error;
  l->db.on_timeout = on_timeout;
  db_args_init(&l->db.args);
  db_args_binary(&l->db.args, hash, KEY_HASH_BYTES);
  if (db_pool_submit(s->db, &l->db) != RESULT_OK) {
    db_args_release(&l->db.args);
    mem_free(l);
    return WEB_AUTH_AWAY;
  }
  s->lookup_count++;
  return WEB_AUTH_LATER;
}

static bool has_token(struct sessions *s, const struct web_credential *c)
{
  char token[KEY_SECRET_CHARS + 1];
  sessions_token(s, c->session, c->session_len, token);
  return c->token && text_equals_secret(c->token, strlen(c->token), token, KEY_SECRET_CHARS);
}

enum web_auth_answer sessions_auth(void *ctx, struct web_request *req, const struct web_credential *credential,
                                   struct web_caller *out_caller)
{
  struct sessions *s = ctx;
  uint8_t hash[KEY_HASH_BYTES];
  if (credential->key) return access_auth(s->keys, req, credential, out_caller);
  if (!credential->session || !key_is_secret(credential->session, credential->session_len)) return WEB_AUTH_NOBODY;
  if (credential->is_change && !has_token(s, credential)) return WEB_AUTH_FORGED;
  access_hash(s->keys, credential->session, credential->session_len, hash);
  if (credential->may_wait) return look_up(s, req, hash);
  const struct known *k = find_known(s, hash);
  if (!k) {
    (void)look_up(s, NULL, hash);  // known by the next attempt
    return WEB_AUTH_AWAY;
  }
  *out_caller = k->caller;
  return WEB_AUTH_KNOWN;
}

// --- attempts

bool sessions_may_try(struct sessions *s, int *out_retry_after_s)
{
  struct mono_time now = clk_mono();
  if (mono_before(s->paid_until, now)) s->paid_until = now;
  int64_t debt_us = mono_since(s->paid_until, now).us, over_us = debt_us - (TRIES_AT_ONCE - 1) * TRY_EVERY.us;
  if (over_us > 0) {
    *out_retry_after_s = (int)(over_us / 1000000) + 1;
    return false;
  }
  s->paid_until = mono_after(s->paid_until, TRY_EVERY);
  return true;
}

void sessions_succeeded(struct sessions *s) { s->paid_until.us -= TRY_EVERY.us; }

// --- reasons

static bool is_said(const char *text) { return text && text[strspn(text, " \t\r\n")] != '\0'; }

// What only shows what would happen needs none.
static bool body_says(const struct web_request *req)
{
  size_t len;
  const char *bytes = web_body(req, &len);
  json_t *body = NULL;
  if (len == 0 || jsonx_parse(bytes, len, &body, NULL) != RESULT_OK) return false;
  bool says =
      is_said(json_string_value(json_object_get(body, "reason"))) || json_is_true(json_object_get(body, "dryRun"));
  json_decref(body);
  return says;
}

// Documents that are put, lists and files have no room for it: their query has.
static bool is_for_body(const struct web_request *req)
{
  enum web_body_kind body = web_route_of(req)->body;
  return body == WEB_BODY_JSON_OPTIONAL || (body == WEB_BODY_JSON && strcmp(web_method(req), "POST") == 0);
}

bool sessions_gate(struct web_request *req)
{
  const char *method = web_method(req);
  const struct web_route *route = web_route_of(req);
  if (!web_caller(req)->is_person || strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0) return false;
  if ((route->need & WEB_READ) != 0) return false;  // whoever may only look changes nothing by it
  if (is_for_body(req) ? body_says(req) : is_said(web_query(req, "reason"))) return false;
  web_reply_problem(
      req, &(struct web_problem){.code = "INVALID_REQUEST", .status = 400, .detail = "reason: is required of people"});
  return true;
}
