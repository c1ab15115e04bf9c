// SPDX-License-Identifier: Apache-2.0
// A thread for one job at a time: a file that came over HTTP, or whatever is due to be fetched.
// Owner: app; loop thread, but for run().
#include "reconciler/statement_worker.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/contract.h"
#include "common/list.h"
#include "common/loop.h"
#include "common/mem.h"
#include "common/mq_ring.h"
#include "reconciler/app.h"
#include "reconciler/cli.h"
#include "reconciler/night.h"
#include "reconciler/statement_fetch.h"
#include "reconciler/store_statement.h"

#define APPLICATION    "largesse-reconciler-statements"
#define WAITING_MAX    4
#define TOLD_MAX       64
#define DOC_BYTES_MAX  (1024 * 1024)
#define LOOK_EVERY     span_s(30)
#define FIRST_LOOK     span_s(1)
#define STOP_EVERY     span_ms(200)
#define STOP_TURN_MS   100
#define STOP_TURNS_MAX 50

// What happened to a fetch, for the log.
struct told {
  char provider[65], date[11];
  enum result result;
  char why[STATEMENT_IMPORT_WHY_BYTES];
};

struct work {
  pthread_t thread;
  struct reconciler_conf *conf;  // a copy: the loop's may be replaced meanwhile
  int bell;
  struct night_stop stop;
  struct web_request *web;  // NULL: fetches what is due
  const char *provider, *date, *file, *reason;
  char *actor;
  const char *body;
  size_t len, at;
  enum result result;
  bool is_again;
  char why[STATEMENT_IMPORT_WHY_BYTES];
  struct buf doc;
  struct told told[TOLD_MAX];
  size_t told_count;
};

struct statement_worker {
  struct runtime *rt;
  struct reconciler_conf conf;
  struct loop_timer *look;
  struct loop_watch *watch;
  int bell;
  struct work *work;  // under way; NULL: none
  struct work *waiting[WAITING_MAX];
  size_t waiting_count;
  bool is_due, is_stopping;
};

// --- the thread

static bool is_stopped(struct work *work)
{
  pthread_mutex_lock(&work->stop.lock);
  bool wanted = work->stop.wanted;
  pthread_mutex_unlock(&work->stop.lock);
  return wanted;
}

static void tell_session(struct work *work, struct db_session *session)
{
  pthread_mutex_lock(&work->stop.lock);
  work->stop.session = session;
  pthread_mutex_unlock(&work->stop.lock);
}

static enum result read_body(void *ctx, char *into, size_t room, size_t *out_len)
{
  struct work *work = ctx;
  size_t left = work->len - work->at, len = left < room ? left : room;
  if (is_stopped(work)) return RESULT_CONFLICT;
  if (len > 0) memcpy(into, work->body + work->at, len);
  work->at += len;
  *out_len = len;
  return RESULT_OK;
}

static bool may_go_on(void *ctx) { return !is_stopped(ctx); }

static void on_told(void *ctx, const char *provider, const char *date, enum result result, const char *why)
{
  struct work *work = ctx;
  if (work->told_count == TOLD_MAX) return;
  struct told *told = &work->told[work->told_count++];
  (void)snprintf(told->provider, sizeof told->provider, "%s", provider);
  (void)snprintf(told->date, sizeof told->date, "%s", date);
  (void)snprintf(told->why, sizeof told->why, "%s", why[0] != '\0' ? why : result_text(result));
  told->result = result;
}

static enum result show(struct work *work, struct db_session *session, int64_t id)
{
  struct db_args args;
  struct db_rows *rows = NULL;
  db_args_init(&args);
  enum result result = db_session_query(session, store_statement_show(&args, id)->sql, &args, &rows);
  if (result == RESULT_OK && db_rows_count(rows) == 1)
    buf_append(&work->doc, db_rows_text(rows, 0, 0), db_rows_text_len(rows, 0, 0));
  db_rows_free(rows);
  db_args_release(&args);
  return result;
}

static enum result import(struct work *work, struct db_session *session)
{
  struct statement_imported imported;
  struct statement_job job = {.conf = work->conf,
                              .provider = work->provider,
                              .date = work->date,
                              .file = work->file,
                              .actor = work->actor,
                              .reason = work->reason,
                              .read = read_body,
                              .ctx = work};
  enum result result = statement_import(&job, session, &imported, work->why);
  if (result != RESULT_OK) return result;
  work->is_again = imported.is_again;
  return show(work, session, imported.id);
}

static void *run(void *ctx)
{
  struct work *work = ctx;
  struct db_session *session = NULL;
  char why[DB_WHY_BYTES] = "";
  work->result = db_session_open(&work->conf->daemon.database, APPLICATION, RECONCILER_ROLE, &session, why);
  tell_session(work, session);
  if (work->result != RESULT_OK) {
    (void)snprintf(work->why, sizeof work->why, "%s", why);
  } else if (work->web != NULL) {
    work->result = import(work, session);
  } else {
    struct statement_fetch_job job = {
        .conf = work->conf, .session = session, .may_go_on = may_go_on, .on_told = on_told, .ctx = work};
    work->result = statement_fetch_due(&job, work->why);
  }
  tell_session(work, NULL);
  db_session_close(session);
  mq_bell_ring(work->bell);
  return NULL;
}

// --- jobs

static struct work *work_new(struct statement_worker *w)
{
  struct work *work = MEM_NEW(struct work);
  work->conf = conf_clone(reconciler_conf_table(), &w->conf);
  work->bell = w->bell;
  night_stop_init(&work->stop);
  buf_init(&work->doc, DOC_BYTES_MAX);
  return work;
}

static void work_free(struct work *work)
{
  conf_free(reconciler_conf_table(), work->conf);
  buf_release(&work->doc);
  night_stop_release(&work->stop);
  mem_free(work->actor);
  mem_free(work);
}

static void start(struct statement_worker *w, struct work *work)
{
  sigset_t all, old;
  w->work = work;
  // Signals belong to the loop: the new thread inherits a mask with all of them blocked.
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &old);
  int error = pthread_create(&work->thread, NULL, run, work);
  pthread_sigmask(SIG_SETMASK, &old, NULL);
  REQUIRE(error == 0);
}

static bool fetches(const struct reconciler_conf *conf)
{
  for (size_t i = 0; i < conf->statements.count; i++) {
    const struct statement_conf *profile = conf->statements.items[i].block;
    if (profile->fetch.url != NULL) return true;
  }
  return false;
}

static void go_on(struct statement_worker *w)
{
  if (w->work != NULL) return;
  if (w->waiting_count > 0) {
    struct work *next = w->waiting[0];
    w->waiting_count--;
    memmove(w->waiting, w->waiting + 1, w->waiting_count * sizeof w->waiting[0]);
    start(w, next);
  } else if (w->is_due && !w->is_stopping) {
    w->is_due = false;
    start(w, work_new(w));
  }
}

// --- what became of it

static void answer(const struct work *work)
{
  const char *code = "UNAVAILABLE";
  int status = 503;
  if (work->result == RESULT_OK) {
    web_reply_json(work->web, work->is_again ? 200 : 201, buf_text(&work->doc), work->doc.len);
    return;
  }
  if (work->result == RESULT_INVALID) code = "INVALID_REQUEST", status = 400;
  if (work->result == RESULT_TOO_BIG) code = "TOO_LARGE", status = 413;
  const char *detail = status == 503 ? "the statement cannot be stored now" : work->why;
  web_reply_problem(work->web, &(struct web_problem){.code = code, .status = status, .detail = detail});
}

static void tell(struct statement_worker *w, const struct work *work)
{
  if (work->web != NULL && work->result == RESULT_OK)
    LOG(w->rt->log, EV_STATEMENT_IMPORTED, F_STR("provider", work->provider), F_STR("actor", work->actor),
        F_BOOL("again", work->is_again));
  else if (work->result != RESULT_OK)
    LOG(w->rt->log, EV_STATEMENT_FAILED, F_STR("provider", work->provider),
        F_STR("detail", work->why[0] != '\0' ? work->why : result_text(work->result)));
  for (size_t i = 0; i < work->told_count; i++) {
    const struct told *told = &work->told[i];
    bool is_done = told->result == RESULT_OK;
    metric_series_add(METRIC_SERIES(w->rt->metrics, M_STATEMENT_FETCHES, told->provider, is_done ? "done" : "failed"),
                      1);
    if (is_done)
      LOG(w->rt->log, EV_STATEMENT_FETCHED, F_STR("provider", told->provider), F_STR("date", told->date));
    else
      LOG(w->rt->log, EV_STATEMENT_FAILED, F_STR("provider", told->provider), F_STR("date", told->date),
          F_STR("detail", told->why));
  }
}

static void on_bell(void *ctx, int what)
{
  struct statement_worker *w = ctx;
  (void)what;
  mq_bell_clear(w->bell);
  struct work *work = w->work;
  if (work == NULL) return;
  w->work = NULL;
  pthread_join(work->thread, NULL);
  tell(w, work);
  if (work->web != NULL) answer(work);
  work_free(work);
  go_on(w);
}

// What is fetched while the daemon is being stopped is given up, again and again: its statement may just be beginning.
static void on_look(void *ctx)
{
  struct statement_worker *w = ctx;
  if (!w->is_stopping) {
    w->is_due = fetches(&w->conf);
    go_on(w);
    loop_timer_set(w->look, LOOK_EVERY);
  } else if (w->work != NULL && w->work->web == NULL) {
    night_stop_now(&w->work->stop);
    loop_timer_set(w->look, STOP_EVERY);
  }
}

enum result statement_worker_import(struct statement_worker *w, struct web_request *web, const char *provider,
                                    const char *date, const char *file, const char *reason)
{
  if (statement_profile_find(&w->conf.statements, provider) == NULL) return RESULT_NOT_FOUND;
  if (w->waiting_count == WAITING_MAX) return RESULT_FULL;
  struct work *work = work_new(w);
  work->web = web;
  work->provider = provider;
  work->date = date;
  work->file = file;
  work->reason = reason;
  work->actor = mem_strdup(web_actor(web));
  work->body = web_body(web, &work->len);
  w->waiting[w->waiting_count++] = work;
  go_on(w);
  return RESULT_OK;
}

// --- life

struct statement_worker *statement_worker_new(struct runtime *rt, const struct reconciler_conf *conf)
{
  struct statement_worker *w = MEM_NEW(struct statement_worker);
  w->rt = rt;
  w->conf = *conf;
  w->bell = mq_bell_new();
  REQUIRE(w->bell >= 0);
  w->watch = loop_watch_new(rt->loop, w->bell, on_bell, w);
  w->look = loop_timer_new(rt->loop, on_look, w);
  return w;
}

void statement_worker_start(struct statement_worker *w)
{
  loop_watch_set(w->watch, LOOP_READ);
  loop_timer_set(w->look, FIRST_LOOK);
}

void statement_worker_reload(struct statement_worker *w, const struct reconciler_conf *conf) { w->conf = *conf; }

void statement_worker_stop(struct statement_worker *w)
{
  w->is_stopping = true;
  on_look(w);
}

bool statement_worker_is_idle(const struct statement_worker *w) { return w->work == NULL && w->waiting_count == 0; }

// A thread that does not come back from the database is left to the end of the process, with what it works with.
static void end_thread(struct statement_worker *w)
{
  struct pollfd bell = {.fd = w->bell, .events = POLLIN};
  for (int i = 0; i < STOP_TURNS_MAX; i++) {
    night_stop_now(&w->work->stop);
    if (poll(&bell, 1, STOP_TURN_MS) != 1) continue;
    pthread_join(w->work->thread, NULL);
    work_free(w->work);
    return;
  }
  w->bell = -1;
}

// What was not finished is as if it had not come.
void statement_worker_free(struct statement_worker *w)
{
  if (w == NULL) return;
  loop_watch_free(w->watch);
  loop_timer_free(w->look);
  if (w->work != NULL) end_thread(w);
  for (size_t i = 0; i < w->waiting_count; i++) work_free(w->waiting[i]);
  if (w->bell >= 0) (void)close(w->bell);
  mem_free(w);
}
