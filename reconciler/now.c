// SPDX-License-Identifier: Apache-2.0
// What is going on now: the call that the console asks every two seconds, and the worker that writes down how much is
// taken, so that rates and the last half hour are known when somebody looks.
// Owner: app; loop thread.
#include "reconciler/now.h"

#include "common/mem.h"
#include "common/periodic.h"
#include "reconciler/call.h"
#include "reconciler/store.h"

#define ACTIVITIES_MAX 60
#define SAMPLE_EVERY   span_s(10)

struct now_worker {
  struct periodic sample;
};

static const struct db_statement *prepare(void *ctx, struct db_args *args)
{
  (void)ctx;
  return store_activity_sample(args);
}

static struct span on_sampled(void *ctx, const struct db_rows *rows)
{
  (void)ctx;
  (void)rows;
  return SAMPLE_EVERY;
}

struct now_worker *now_worker_new(struct runtime *rt, struct db_pool *db)
{
  static const struct periodic_spec spec = {"now", prepare, on_sampled, NULL};
  struct now_worker *w = MEM_NEW(struct now_worker);
  periodic_init(&w->sample, &spec, w, rt, db, SAMPLE_EVERY);
  return w;
}

void now_worker_start(struct now_worker *w) { periodic_soon(&w->sample); }
void now_worker_stop(struct now_worker *w) { periodic_stop(&w->sample); }

void now_worker_free(struct now_worker *w)
{
  if (w == NULL) return;
  periodic_release(&w->sample);
  mem_free(w);
}

static void on_now(struct call *c, const struct db_rows *rows)
{
  web_reply_header(c->web, "Cache-Control", "no-store");
  web_reply_json(c->web, 200, db_rows_text(rows, 0, 0), db_rows_text_len(rows, 0, 0));
  call_end(c);
}

void now_api(struct web_request *web)
{
  struct call *c = call_new(web, sizeof *c, on_now);
  call_send(c, store_now(call_args(c), ACTIVITIES_MAX));
}
