// SPDX-License-Identifier: Apache-2.0
// How many schedulers live: each writes a row about once a second.
// Owner: app; loop thread.
#include "scheduler/peers.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "common/mem.h"
#include "common/periodic.h"
#include "sql_scheduler.inc"

#define SEEN_EVERY     span_s(1)
#define INSTANCE_BYTES 128

struct peers {
  struct periodic seen;
  char instance[INSTANCE_BYTES];
  int64_t live;
  bool is_leaving, has_left;
};

static const struct db_statement *prepare_seen(void *ctx, struct db_args *args)
{
  struct peers *p = ctx;
  if (p->has_left) return NULL;
  db_args_text(args, p->instance);
  return p->is_leaving ? &SQL_SCHEDULER_LEAVE : &SQL_SCHEDULER_SEEN;
}

static struct span on_seen(void *ctx, const struct db_rows *rows)
{
  struct peers *p = ctx;
  if (p->seen.req.statement == &SQL_SCHEDULER_LEAVE) {
    p->has_left = true;
    periodic_stop(&p->seen);
    return SEEN_EVERY;
  }
  int64_t live = db_rows_i64(rows, 0, 0);
  p->live = live > 1 ? live : 1;
  return SEEN_EVERY;
}

static void on_failed(void *ctx, bool may_have_worked)
{
  struct peers *p = ctx;
  (void)may_have_worked;
  if (p->is_leaving) p->has_left = true;  // then they notice within seconds
}

struct peers *peers_new(struct runtime *rt, struct db_pool *db)
{
  static const struct periodic_spec spec = {"peers", prepare_seen, on_seen, on_failed};
  struct peers *p = MEM_NEW(struct peers);
  char host[48] = "";
  (void)gethostname(host, sizeof host - 1);
  (void)snprintf(p->instance, sizeof p->instance, "%s:%d:%" PRIx64, host, (int)getpid(), (uint64_t)clk_wall().us);
  p->live = 1;
  periodic_init(&p->seen, &spec, p, rt, db, SEEN_EVERY);
  return p;
}

void peers_free(struct peers *p)
{
  if (!p) return;
  periodic_release(&p->seen);
  mem_free(p);
}

void peers_start(struct peers *p) { periodic_soon(&p->seen); }

void peers_leave(struct peers *p)
{
  p->is_leaving = true;
  periodic_soon(&p->seen);
}

bool peers_has_left(const struct peers *p) { return p->has_left; }
int64_t peers_live(const struct peers *p) { return p->live; }
