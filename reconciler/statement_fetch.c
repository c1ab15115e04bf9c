// SPDX-License-Identifier: Apache-2.0
// Fetches statements: one request, its answer is the file.
// Owner: the command, or a worker's thread; blocking.
#include "reconciler/statement_fetch.h"

#include <stdio.h>
#include <string.h>

#include "common/http_client.h"
#include "common/loop.h"
#include "common/mem.h"
#include "common/text.h"
#include "reconciler/store_statement.h"

#define URL_BYTES_MAX    4096
#define HEADER_BYTES_MAX (CONF_SECRET_MAX + 4096)
#define CONF_SECRET_MAX  (64 * 1024)
#define HEADERS_MAX      16
#define TURN             span_ms(100)
#define CONNECT_TIMEOUT  span_s(10)
#define ACTOR            "system:statements"

// An answer as a file.
struct fetched {
  struct buf body;
  size_t at;
  bool is_over;
  enum result result;
  char *why;
};

static void on_answer(void *ctx, const struct http_answer *answer)
{
  struct fetched *f = ctx;
  f->is_over = true;
  f->result = RESULT_UNAVAILABLE;
  if (answer->stage != HTTP_ANSWERED)
    (void)snprintf(f->why, STATEMENT_IMPORT_WHY_BYTES, "not fetched: %.300s", answer->fault);
  else if (answer->status != 200)
    (void)snprintf(f->why, STATEMENT_IMPORT_WHY_BYTES, "not fetched: the provider answered %d", answer->status);
  else
    f->result = RESULT_OK;
  if (f->result == RESULT_OK) buf_append(&f->body, answer->body, answer->body_len);
}

static enum result read_body(void *ctx, char *into, size_t room, size_t *out_len)
{
  struct fetched *f = ctx;
  size_t left = f->body.len - f->at, len = left < room ? left : room;
  if (len > 0) memcpy(into, f->body.data + f->at, len);
  f->at += len;
  *out_len = len;
  return RESULT_OK;
}

// --- what is asked for

static void put_with(struct buf *out, const char *text, const char *name, const char *value)
{
  size_t len = strlen(name);
  for (const char *at = text; *at != '\0';) {
    if (strncmp(at, name, len) == 0) {
      buf_puts(out, value);
      at += len;
    } else {
      buf_putc(out, *at++);
    }
  }
}

static void put_url(struct buf *out, const char *url, const char *date)
{
  struct buf half;
  char compact[9];
  (void)snprintf(compact, sizeof compact, "%.4s%.2s%.2s", date, date + 5, date + 8);
  buf_init(&half, URL_BYTES_MAX);
  put_with(&half, url, "${date_compact}", compact);
  put_with(out, buf_text(&half), "${date}", date);
  buf_release(&half);
}

struct headers {
  struct http_header items[HEADERS_MAX];
  struct buf values[HEADERS_MAX];
  size_t count;
};

static void headers_release(struct headers *h)
{
  for (size_t i = 0; i < h->count; i++) buf_wipe(&h->values[i]);
}

static enum result put_headers(const struct statement_fetch_conf *conf, struct headers *out,
                               char why[STATEMENT_IMPORT_WHY_BYTES])
{
  struct buf secret;
  buf_init(&secret, CONF_SECRET_MAX);
  enum result result = conf->secret[0] != '\0' ? conf_read_secret(conf->secret, &secret) : RESULT_OK;
  if (result != RESULT_OK)
    (void)snprintf(why, STATEMENT_IMPORT_WHY_BYTES, "fetch.secret: %.200s %s", conf->secret, conf_secret_why(result));
  for (size_t i = 0; result == RESULT_OK && i < conf->headers.count && i < HEADERS_MAX; i++) {
    struct buf *value = &out->values[out->count];
    buf_init(value, HEADER_BYTES_MAX);
    put_with(value, conf->headers.items[i].value, "${secret}", buf_text(&secret));
    out->items[out->count++] = (struct http_header){conf->headers.items[i].name, buf_text(value)};
  }
  buf_wipe(&secret);
  return result == RESULT_OK ? RESULT_OK : RESULT_UNAVAILABLE;
}

static enum result get(const struct statement_fetch_job *job, const struct statement_fetch_conf *conf, const char *date,
                       struct fetched *f)
{
  struct headers headers = {.count = 0};
  struct buf url;
  buf_init(&url, URL_BYTES_MAX);
  put_url(&url, conf->url, date);
  enum result result = put_headers(conf, &headers, f->why);
  if (result == RESULT_OK) {
    struct runtime rt = {.loop = loop_new()};
    struct http_client *client = http_client_new(&rt, 1, 1);
    struct http_request request = {.method = "GET",
                                   .url = buf_text(&url),
                                   .headers = headers.items,
                                   .header_count = headers.count,
                                   .connect_timeout = CONNECT_TIMEOUT,
                                   .total_timeout = conf->total_timeout,
                                   .answer_max = job->conf->statement_bytes_max};
    result = http_client_send(client, &request, on_answer, f, NULL);
    while (result == RESULT_OK && !f->is_over && (job->may_go_on == NULL || job->may_go_on(job->ctx)))
      loop_turn(rt.loop, TURN);
    http_client_free(client);  // an open call is answered: not fetched
    loop_free(rt.loop);
  }
  headers_release(&headers);
  buf_release(&url);
  return result == RESULT_OK ? f->result : result;
}

// --- one date

static enum result write_down(const struct statement_fetch_job *job, const char *provider, const char *date,
                              const char *fault)
{
  struct db_args args;
  db_args_init(&args);
  const struct db_statement *statement =
      store_statement_fetch_done(&args, provider, date, fault, job->actor, job->reason);
  enum result result = db_session_query(job->session, statement->sql, &args, NULL);
  db_args_release(&args);
  return result;
}

enum result statement_fetch(const struct statement_fetch_job *job, const char *provider, const char *date,
                            struct statement_imported *out_imported, char out_why[STATEMENT_IMPORT_WHY_BYTES])
{
  const struct statement_conf *conf = statement_profile_find(&job->conf->statements, provider);
  struct fetched f = {.why = out_why};
  if (conf == NULL || conf->fetch.url == NULL) {
    (void)snprintf(out_why, STATEMENT_IMPORT_WHY_BYTES, "reconciler.statements.%.64s.fetch.url is not set", provider);
    return RESULT_NOT_FOUND;
  }
  out_why[0] = '\0';
  buf_init(&f.body, job->conf->statement_bytes_max);
  enum result result = get(job, &conf->fetch, date, &f);
  if (result == RESULT_OK) {
    struct statement_job import = {.conf = job->conf,
                                   .provider = provider,
                                   .date = date,
                                   .file = "fetched",
                                   .actor = job->actor != NULL ? job->actor : ACTOR,
                                   .reason = job->reason,
                                   .read = read_body,
                                   .ctx = &f};
    result = statement_import(&import, job->session, out_imported, out_why);
  }
  buf_release(&f.body);
  enum result written = write_down(job, provider, date,
                                   result == RESULT_OK  ? NULL
                                   : out_why[0] != '\0' ? out_why
                                                        : result_text(result));
  return result == RESULT_OK ? written : result;
}

// --- all that is due

static enum result query(const struct statement_fetch_job *job, const struct db_statement *statement,
                         struct db_args *args, struct db_rows **out_rows, char why[STATEMENT_IMPORT_WHY_BYTES])
{
  enum result result = db_session_query(job->session, statement->sql, args, out_rows);
  db_args_release(args);
  if (result != RESULT_OK)
    (void)snprintf(why, STATEMENT_IMPORT_WHY_BYTES, "%s", db_session_error(job->session)->message);
  return result;
}

static enum result take(const struct statement_fetch_job *job, const struct conf_entry *entry, char out_date[11],
                        char why[STATEMENT_IMPORT_WHY_BYTES])
{
  struct db_args args;
  struct db_rows *rows = NULL;
  db_args_init(&args);
  enum result result = query(job, store_statement_fetch_take(&args, entry->name, entry->block), &args, &rows, why);
  if (result == RESULT_OK) (void)snprintf(out_date, 11, "%s", db_rows_count(rows) > 0 ? db_rows_text(rows, 0, 0) : "");
  db_rows_free(rows);
  return result;
}

static bool may_go_on(const struct statement_fetch_job *job)
{
  return job->may_go_on == NULL || job->may_go_on(job->ctx);
}

static enum result fetch_provider(const struct statement_fetch_job *job, const struct conf_entry *entry,
                                  char why[STATEMENT_IMPORT_WHY_BYTES])
{
  enum result result = RESULT_OK;
  char date[11] = "";
  const struct statement_conf *conf = entry->block;
  for (int64_t i = 0; conf->fetch.url != NULL && i < conf->fetch.catch_up && may_go_on(job); i++) {
    struct statement_imported imported;
    char fault[STATEMENT_IMPORT_WHY_BYTES] = "";
    TRY(take(job, entry, date, why));
    if (date[0] == '\0') break;
    enum result fetched = statement_fetch(job, entry->name, date, &imported, fault);
    if (job->on_told != NULL) job->on_told(job->ctx, entry->name, date, fetched, fault);
  }
cleanup:
  return result;
}

// What cannot be matched is written down: the night is not clean then. What was given up because the daemon is being
// stopped is none of that.
static enum result match_open(const struct statement_fetch_job *job, const char *provider,
                              char why[STATEMENT_IMPORT_WHY_BYTES])
{
  struct db_args args;
  char fault[STATEMENT_IMPORT_WHY_BYTES] = "", lost[STATEMENT_IMPORT_WHY_BYTES];
  db_args_init(&args);
  enum result result =
      query(job, store_statement_match_open(&args, provider, job->conf->audit.findings_max), &args, NULL, fault);
  if (result == RESULT_OK || !may_go_on(job)) return result;
  (void)snprintf(why, STATEMENT_IMPORT_WHY_BYTES, "%.64s: not matched: %.400s", provider, fault);
  db_args_init(&args);
  enum result written = query(job, store_statement_match_failed(&args, provider, fault), &args, NULL, lost);
  (void)written;  // the result is a failure anyhow, and is told
  return result;
}

static enum result do_provider(const struct statement_fetch_job *job, const struct conf_entry *entry,
                               char why[STATEMENT_IMPORT_WHY_BYTES])
{
  char unfetched[STATEMENT_IMPORT_WHY_BYTES] = "";
  enum result fetched = fetch_provider(job, entry, unfetched);
  enum result result = match_open(job, entry->name, why);
  if (result != RESULT_OK || fetched == RESULT_OK) return result;
  (void)snprintf(why, STATEMENT_IMPORT_WHY_BYTES, "%s", unfetched);
  return fetched;
}

// The first fault is the one that is told; the other providers' statements do not wait for it.
enum result statement_fetch_due(const struct statement_fetch_job *job, char out_why[STATEMENT_IMPORT_WHY_BYTES])
{
  enum result result = RESULT_OK;
  for (size_t i = 0; i < job->conf->statements.count && may_go_on(job); i++) {
    char why[STATEMENT_IMPORT_WHY_BYTES] = "";
    enum result done = do_provider(job, &job->conf->statements.items[i], why);
    if (done == RESULT_OK || result != RESULT_OK) continue;
    result = done;
    (void)snprintf(out_why, STATEMENT_IMPORT_WHY_BYTES, "%s", why);
  }
  return result;
}
