// SPDX-License-Identifier: Apache-2.0
// Makes the report of each night that is due: looks by the database's clock, then starts a thread that blocks on its
// own sessions and rings when it has ended. Owner: app; loop thread.
#include "reconciler/night_worker.h"

#include <poll.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "common/contract.h"
#include "common/mem.h"
#include "common/mq_ring.h"
#include "common/periodic.h"
#include "reconciler/app.h"
#include "reconciler/figures.h"
#include "reconciler/night.h"

#define AFTER_FAILURE  span_s(60)
#define STOP_EVERY     span_ms(200)
#define STOP_TURN_MS   100
#define STOP_TURNS_MAX 50

// What the thread works with, and what it leaves.
struct work {
  pthread_t thread;
  struct reconciler_conf *conf;  // a copy: the loop's may be replaced meanwhile
  char holder[NIGHT_HOLDER_BYTES];
  struct night_stop stop;
  int bell;
  enum result result;
  struct night_made made;
  char why[DB_WHY_BYTES];
};

struct night_worker {
  struct runtime *rt;
  struct reconciler_conf conf;
  struct figures *figures;
  char holder[NIGHT_HOLDER_BYTES];
  struct periodic look;
  struct loop_timer *stop_timer;
  struct loop_watch *watch;
  int bell;
  struct work *work;            // NULL: nothing is being made
  struct mono_time not_before;  // after a failure
  bool is_stopping, told_zone;
};

// --- the thread

static void *run(void *ctx)
{
  struct work *work = ctx;
  struct night_job job = {.conf = work->conf, .holder = work->holder, .stop = &work->stop};
  work->result = night_make(&job, &work->made, work->why);
  mq_bell_ring(work->bell);
  return NULL;
}

static void start_thread(struct night_worker *w)
{
  struct work *work = MEM_NEW(struct work);
  work->conf = conf_clone(reconciler_conf_table(), &w->conf);
  work->bell = w->bell;
  memcpy(work->holder, w->holder, sizeof work->holder);
  night_stop_init(&work->stop);
  night_made_init(&work->made);
  w->work = work;
  // Signals belong to the loop: the new thread inherits a mask with all of them blocked.
  sigset_t all, old;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &old);
  int error = pthread_create(&work->thread, NULL, run, work);
  pthread_sigmask(SIG_SETMASK, &old, NULL);
  REQUIRE(error == 0);
}

static void free_work(struct work *work)
{
  pthread_join(work->thread, NULL);
  night_made_release(&work->made);
  night_stop_release(&work->stop);
  conf_free(reconciler_conf_table(), work->conf);
  mem_free(work);
}

// --- what became of it

static void tell(struct night_worker *w, const struct work *work)
{
  const struct night_made *made = &work->made;
  if (work->result != RESULT_OK) {
    LOG(w->rt->log, EV_REPORT_FAILED, F_STR("detail", work->why[0] != '\0' ? work->why : result_text(work->result)));
  } else if (made->outcome == NIGHT_TAKEN) {
    LOG(w->rt->log, EV_REPORT_FINISHED, F_STR("date", made->date), F_INT("findings", made->findings),
        F_INT("failed", made->failed), F_BOOL("resumed", made->is_resumed));
    if (made->statements_why[0] != '\0')
      LOG(w->rt->log, EV_STATEMENT_FAILED, F_STR("date", made->date), F_STR("detail", made->statements_why));
    figures_soon(w->figures);
  }
}

static void on_bell(void *ctx, int what)
{
  struct night_worker *w = ctx;
  (void)what;
  mq_bell_clear(w->bell);
  if (w->work == NULL) return;
  struct work *work = w->work;
  w->work = NULL;
  tell(w, work);
  bool is_made = work->result == RESULT_OK && work->made.outcome == NIGHT_TAKEN;
  if (work->result != RESULT_OK) w->not_before = mono_after(clk_mono(), AFTER_FAILURE);
  free_work(work);
  if (is_made && !w->is_stopping) periodic_soon(&w->look);  // perhaps another was missed
}

// --- looking

static const struct db_statement *prepare(void *ctx, struct db_args *args)
{
  struct night_worker *w = ctx;
  if (!w->conf.night.enabled || w->work != NULL || mono_before(clk_mono(), w->not_before)) return NULL;
  return store_night_due(args, &w->conf.night);
}

static struct span on_rows(void *ctx, const struct db_rows *rows)
{
  struct night_worker *w = ctx;
  const char *outcome = store_night_due_outcome(rows);
  if (strcmp(outcome, "due") == 0 && !w->is_stopping) start_thread(w);
  bool is_unknown = strcmp(outcome, "zone_unknown") == 0;
  if (is_unknown && !w->told_zone)
    LOG(w->rt->log, EV_REPORT_FAILED, F_STR("detail", "the database knows no zone of this name"),
        F_STR("time_zone", w->conf.night.time_zone));
  w->told_zone = is_unknown;
  return w->look.every;
}

static void on_stop_due(void *ctx)
{
  struct night_worker *w = ctx;
  if (w->work == NULL) return;
  night_stop_now(&w->work->stop);
  loop_timer_set(w->stop_timer, STOP_EVERY);
}

// --- life

struct night_worker *night_worker_new(struct runtime *rt, struct db_pool *db, const struct reconciler_conf *conf,
                                      struct figures *figures)
{
  static const struct periodic_spec spec = {"nights", prepare, on_rows, NULL};
  struct night_worker *w = MEM_NEW(struct night_worker);
  w->rt = rt;
  w->conf = *conf;
  w->figures = figures;
  night_holder(w->holder);
  w->bell = mq_bell_new();
  REQUIRE(w->bell >= 0);
  w->watch = loop_watch_new(rt->loop, w->bell, on_bell, w);
  w->stop_timer = loop_timer_new(rt->loop, on_stop_due, w);
  periodic_init(&w->look, &spec, w, rt, db, conf->night.every);
  return w;
}

void night_worker_start(struct night_worker *w)
{
  loop_watch_set(w->watch, LOOP_READ);
  periodic_soon(&w->look);
}

void night_worker_reload(struct night_worker *w, const struct reconciler_conf *conf)
{
  w->conf = *conf;
  w->look.every = conf->night.every;
}

void night_worker_stop(struct night_worker *w)
{
  w->is_stopping = true;
  periodic_stop(&w->look);
  on_stop_due(w);
}

bool night_worker_is_idle(const struct night_worker *w) { return !w->look.is_busy && w->work == NULL; }

// A thread that does not come back from the database is left to the end of the process, with what it works with.
static void end_thread(struct night_worker *w)
{
  struct pollfd bell = {.fd = w->bell, .events = POLLIN};
  for (int i = 0; i < STOP_TURNS_MAX; i++) {
    night_stop_now(&w->work->stop);
    if (poll(&bell, 1, STOP_TURN_MS) != 1) continue;
    free_work(w->work);
    w->work = NULL;
    return;
  }
  w->bell = -1;
}

void night_worker_free(struct night_worker *w)
{
  if (w == NULL) return;
  loop_watch_free(w->watch);
  loop_timer_free(w->stop_timer);
  periodic_release(&w->look);
  if (w->work != NULL) end_thread(w);
  if (w->bell >= 0) (void)close(w->bell);
  mem_free(w);
}
