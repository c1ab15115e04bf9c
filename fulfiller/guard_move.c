// SPDX-License-Identifier: Apache-2.0
// The statements that move breakers. Loop thread.
#include "fulfiller/guard_move.h"

#include <stdio.h>

#include "common/text.h"

// Beyond the lease of the probe's claim: taking it, and hearing of the result.
#define PROBE_MARGIN_US 2000000

static struct lane_guard *of(struct db_request *req) { return CONTAINER_OF(req, struct lane_guard, move); }

static void moved(struct lane_guard *lg)
{
  lg->is_moving = false;
  lg->on_change(lg->ctx);
}

static void on_rows(struct db_request *req, const struct db_rows *rows)
{
  struct lane_guard *lg = of(req);
  bool has_moved;
  if (db_rows_count(rows) > 0) {
    struct guard_row row = guard_store_breaker_row(rows, &has_moved);
    guard_apply(lg, &row);
  }
  moved(lg);
}

// The next poll shows what is so.
static void on_error(struct db_request *req, const struct db_error *error)
{
  (void)error;
  moved(of(req));
}

static void on_timeout(struct db_request *req) { moved(of(req)); }

static void move(struct lane_guard *lg, const char *to, struct span time, const char *reason)
{
  if (lg->is_moving || lg->guard->poll.is_stopped) return;
  lg->move.statement = guard_store_breaker(&lg->move.args, lg->provider->name, lg->guard->instance, to, time,
                                           lg->terms.open_max, reason);
  lg->is_moving = db_pool_submit(lg->guard->db, &lg->move) == RESULT_OK;
}

void guard_move_init(struct lane_guard *lg)
{
  lg->move = (struct db_request){.on_rows = on_rows, .on_error = on_error, .on_timeout = on_timeout};
  db_args_init(&lg->move.args);
}

void guard_move_to_open(struct lane_guard *lg, struct breaker_count count)
{
  char reason[96];
  struct buf window;
  buf_init(&window, 32);
  text_from_span(lg->terms.window, &window);
  snprintf(reason, sizeof reason, "%lld of %lld calls failed within %s", (long long)count.failures,
           (long long)count.calls, buf_text(&window));
  buf_release(&window);
  move(lg, "open", lg->terms.open_for, reason);
}

void guard_move_to_probe(struct lane_guard *lg)
{
  move(lg, "half_open", span_us(lg->provider->lease.us + PROBE_MARGIN_US), "its time was up");
}

void guard_move_after_probe(struct lane_guard *lg, bool failed)
{
  if (failed)
    move(lg, "open", lg->terms.open_for, "the probe failed");
  else
    move(lg, "closed", lg->terms.open_for, "the probe was answered");
}

void guard_move_release(struct lane_guard *lg) { move(lg, "release", lg->terms.open_for, NULL); }
