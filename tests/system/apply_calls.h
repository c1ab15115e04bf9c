// SPDX-License-Identifier: Apache-2.0
// `scheduler apply` in tests: files written and applied, what was printed, and everything that applying may touch.
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/jsonx.h"
#include "common/mem.h"
#include "tests/support/stack.h"
#include "tests/support/support.h"

#define HEAD                                                                                                       \
  "event: fest\nname: Festival\ntimeZone: Asia/Shanghai\nrewards:\n  v: { provider: simulator, amount: { amount: " \
  "100, currency: CNY } }\nsessions:\n"
#define ITEM         "  - code: fest-{date}-{time}\n    kind: reward\n    reward: v\n    duration: 30m\n    publish: true\n"
#define WHEN         "    dates: [2030-10-01, 2030-10-02]\n    times: [\"11:00\", \"14:00\"]\n"
#define STOCK(total) "    stock: { total: " total " }\n"

struct fixture {
  struct server *server;
  struct stack *stack;
  char *file;
};

UNUSED static int start(void **state)
{
  struct fixture *f = MEM_NEW(struct fixture);
  f->server = server_start();
  char *dir = support_log_dir();
  f->file = support_format("%s/event-%d.yaml", dir, (int)getpid());
  mem_free(dir);
  *state = f;
  return 0;
}

UNUSED static int stop(void **state)
{
  struct fixture *f = *state;
  server_free(f->server);
  (void)unlink(f->file);
  mem_free(f->file);
  mem_free(f);
  return 0;
}

UNUSED static int set_up(void **state)
{
  struct fixture *f = *state;
  f->stack = stack_start(
      f->server, &(struct stack_options){
                     .schedulers = STACK_NONE, .no_fulfiller = true, .no_reconciler = true, .no_simulator = true});
  return 0;
}

UNUSED static int set_up_with_clock(void **state)
{
  struct fixture *f = *state;
  f->stack = stack_start(f->server, &(struct stack_options){.schedulers = STACK_NONE,
                                                            .no_fulfiller = true,
                                                            .no_reconciler = true,
                                                            .no_simulator = true,
                                                            .test_clock = true});
  return 0;
}

UNUSED static int tear_down(void **state)
{
  struct fixture *f = *state;
  stack_free(f->stack);
  return 0;
}

UNUSED static void write_event(const struct fixture *f, const char *yaml)
{
  FILE *file = fopen(f->file, "we");
  if (file == NULL || fputs(yaml, file) < 0 || fclose(file) != 0) support_die("cannot write %s", f->file);
}

UNUSED static int apply(struct fixture *f, const char *yaml, const char *option, struct buf *out)
{
  write_event(f, yaml);
  buf_clear(out);
  return stack_command(f->stack, "scheduler", (const char *[]){"apply", f->file, option, NULL}, out);
}

UNUSED static void assert_apply(struct fixture *f, const char *yaml, const char *option, int status,
                                const char *expected)
{
  struct buf out;
  buf_init(&out, 1 << 20);
  int got = apply(f, yaml, option, &out);
  if (got != status || strstr(buf_text(&out), expected) == NULL)
    fail_msg("status %d:\n%s\nexpected %d: %s", got, buf_text(&out), status, expected);
  buf_release(&out);
}

// Everything that applying may touch; the clock's readings are not part of it.
UNUSED static char *contents(struct fixture *f)
{
  return sql_table(
      f->stack->sql,
      "select 'event', e.code, e.name, e.time_zone, e.updated_at::text, '', '', '' from largesse.event e"
      " union all select 'reward', r.code, r.provider, r.amount::text, r.params::text, r.id::text, '', '' "
      "from largesse.reward r"
      " union all select 'activity', a.code, a.status, a.start_at::text, a.end_at::text, a.version::text, "
      "a.changed_at::text, a.stock_total::text from largesse.activity a"
      " union all select 'stock', s.activity_id::text, s.remaining::text, s.taken::text, '', '', '', '' "
      "from largesse.stock s"
      " union all select 'limit', l.activity_id::text, l.period, l.max_count::text, '', '', '', '' from "
      "largesse.activity_limit l"
      " union all select 'adjustment', d.activity_id::text, d.key, d.by::text, d.reason, d.actor, '', '' "
      "from largesse.stock_adjustment d"
      " union all select 'history', h.activity_id::text, h.id::text, h.to_status, h.actor, '', '', '' "
      "from largesse.activity_history h"
      " union all select 'number', n.activity_id::text, n.number::text, n.status, '', '', '', '' from "
      "largesse.activity_number n"
      " union all select 'discount', d.id, d.version::text, d.threshold::text, d.created_at::text, '', '', "
      "'' from largesse.discount_rule d"
      " union all select 'news', array_to_string(o.subjects, ' '), o.type, '', '', '', '', '' from "
      "largesse.event_out o"
      " order by 1, 2, 3, 4, 5");
}

UNUSED static void assert_contents(struct fixture *f, char *before)
{
  char *after = contents(f);
  assert_string_equal(before, after);
  mem_free(before);
  mem_free(after);
}
