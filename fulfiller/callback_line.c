// SPDX-License-Identifier: Apache-2.0
// A line before the pool. Whoever is in it waits for a turn that somebody has: the end of one begins the next.
#include "fulfiller/callback_line.h"

#include "common/contract.h"
#include "common/loop.h"
#include "common/mem.h"

// Providers wait for an answer no longer than five seconds or so, then they send again.
static const struct span patience = {4000000};
static const size_t waiting_max = 1024;

struct callback_line {
  struct runtime *rt;
  struct db_pool *db;
  size_t running, running_max;
  struct list waiting;
  size_t waiting_count;
  struct loop_timer *timer;  // for the first one's patience
};

static void run_waiting(struct callback_line *line);

static struct callback_turn *first_of(struct callback_line *line)
{
  return list_is_empty(&line->waiting) ? NULL : CONTAINER_OF(line->waiting.next, struct callback_turn, node);
}

static void leave(struct callback_line *line, struct callback_turn *turn)
{
  list_remove(&turn->node);
  line->waiting_count--;
}

static void end(struct callback_turn *turn, const struct db_rows *rows, const char *why)
{
  struct callback_line *line = turn->line;
  line->running--;
  turn->on_end(turn, rows, why);
  run_waiting(line);
}

static void on_rows(struct db_request *req, const struct db_rows *rows)
{
  end(CONTAINER_OF(req, struct callback_turn, db), rows, NULL);
}
static void on_error(struct db_request *req, const struct db_error *error)
{
  end(CONTAINER_OF(req, struct callback_turn, db), NULL, error->message);
}
static void on_timeout(struct db_request *req) { end(CONTAINER_OF(req, struct callback_turn, db), NULL, "timeout"); }

static void run(struct callback_line *line, struct callback_turn *turn)
{
  turn->db.timeout = mono_since(turn->due, loop_now(line->rt->loop));
  turn->db.on_rows = on_rows;
  turn->db.on_error = on_error;
  turn->db.on_timeout = on_timeout;
  enum result result = db_pool_submit(line->db, &turn->db);
  if (result == RESULT_OK)
    line->running++;
  else
    turn->on_end(turn, NULL, result_text(result));
}

static void give_up_late(struct callback_line *line)
{
  struct mono_time now = loop_now(line->rt->loop);
  for (struct callback_turn *turn = first_of(line); turn != NULL && !mono_before(now, turn->due);
       turn = first_of(line)) {
    leave(line, turn);
    turn->on_end(turn, NULL, "too many callbacks at once");
  }
}

static void run_waiting(struct callback_line *line)
{
  give_up_late(line);
  while (line->running < line->running_max && first_of(line) != NULL) {
    struct callback_turn *turn = first_of(line);
    leave(line, turn);
    run(line, turn);
  }
  if (first_of(line) == NULL)
    loop_timer_clear(line->timer);
  else
    loop_timer_set(line->timer, mono_since(first_of(line)->due, loop_now(line->rt->loop)));
}

static void on_due(void *ctx) { run_waiting(ctx); }

struct callback_line *callback_line_new(struct runtime *rt, struct db_pool *db, int64_t pool_size)
{
  struct callback_line *line = MEM_NEW(struct callback_line);
  *line = (struct callback_line){.rt = rt, .db = db, .running_max = pool_size < 2 ? 1 : (size_t)pool_size / 2};
  list_init(&line->waiting);
  line->timer = loop_timer_new(rt->loop, on_due, line);
  return line;
}

void callback_line_free(struct callback_line *line)
{
  if (line == NULL) return;
  REQUIRE(line->running == 0 && list_is_empty(&line->waiting));
  loop_timer_free(line->timer);
  mem_free(line);
}

void callback_line_add(struct callback_line *line, struct callback_turn *turn)
{
  turn->line = line;
  turn->due = mono_after(loop_now(line->rt->loop), patience);
  list_init(&turn->node);
  if (line->running < line->running_max) {
    run(line, turn);
  } else if (line->waiting_count == waiting_max) {
    turn->on_end(turn, NULL, "too many callbacks at once");
  } else {
    list_add_last(&line->waiting, &turn->node);
    line->waiting_count++;
    if (line->waiting_count == 1) loop_timer_set(line->timer, patience);
  }
}
