// SPDX-License-Identifier: Apache-2.0
// A statement that is run again and again, one at a time. It survives a database that is away.
// Owner: the worker that embeds it; loop thread.
#include "common/periodic.h"

#include "common/compiler.h"

static struct periodic *of(struct db_request *req) { return CONTAINER_OF(req, struct periodic, req); }

static void run_after(struct periodic *p, struct span pause)
{
  p->is_busy = false;
  if (p->is_stopped) return;
  loop_timer_set(p->timer, p->run_again ? span_us(0) : pause);
  p->run_again = false;
}

static void on_rows(struct db_request *req, const struct db_rows *rows)
{
  struct periodic *p = of(req);
  run_after(p, p->spec->on_rows(p->ctx, rows));
}

static void failed(struct periodic *p, bool may_have_worked)
{
  if (p->spec->on_failed) p->spec->on_failed(p->ctx, may_have_worked);
  p->run_again = false;  // a database in trouble is not hurried
  run_after(p, p->every);
}

// The pool has logged it.
static void on_error(struct db_request *req, const struct db_error *error)
{
  failed(of(req), error->failure == DB_FAILED_UNKNOWN);
}

static void on_timeout(struct db_request *req) { failed(of(req), true); }

static void on_due(void *ctx)
{
  struct periodic *p = ctx;
  if (p->is_busy || p->is_stopped) return;
  db_args_clear(&p->req.args);
  p->req.statement = p->spec->prepare(p->ctx, &p->req.args);
  p->run_again = false;
  if (!p->req.statement) {
    loop_timer_set(p->timer, p->every);
    return;
  }
  p->is_busy = true;
  p->sent = clk_wall();
  if (db_pool_submit(p->db, &p->req) != RESULT_OK) failed(p, false);
}

void periodic_init(struct periodic *p, const struct periodic_spec *spec, void *ctx, struct runtime *rt,
                   struct db_pool *db, struct span every)
{
  *p = (struct periodic){.spec = spec, .ctx = ctx, .rt = rt, .db = db, .every = every};
  db_args_init(&p->req.args);
  p->req.on_rows = on_rows;
  p->req.on_error = on_error;
  p->req.on_timeout = on_timeout;
  p->timer = loop_timer_new(rt->loop, on_due, p);
}

void periodic_release(struct periodic *p)
{
  loop_timer_free(p->timer);
  p->timer = NULL;
  db_args_release(&p->req.args);
}

void periodic_soon(struct periodic *p)
{
  if (p->is_stopped) return;
  if (p->is_busy)
    p->run_again = true;
  else
    loop_timer_set(p->timer, span_us(0));
}

void periodic_stop(struct periodic *p)
{
  p->is_stopped = true;
  if (p->timer) loop_timer_clear(p->timer);
}
