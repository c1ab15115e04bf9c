// SPDX-License-Identifier: Apache-2.0
// Audits beside claims over HTTP and their deliveries, as fast as they come: whatever moment they see is consistent,
// and nobody's claim is lost or slowed down for good. LARGESSE_CHAOS makes it a minute.
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "common/mem.h"
#include "tests/support/claims.h"
#include "tests/support/crowd.h"
#include "tests/support/support.h"

#define STOCK 1000000

struct rig {
  struct stack *stack;
  struct server *server;
  struct crowd *crowd;
};

static int set_up(void **state)
{
  static struct rig rig;
  rig.server = server_start();
  rig.stack = stack_start(rig.server, &(struct stack_options){.schedulers = 1, .no_reconciler = true});
  *state = &rig;
  return 0;
}

static int tear_down(void **state)
{
  struct rig *rig = *state;
  crowd_free(rig->crowd);
  stack_free(rig->stack);
  server_free(rig->server);
  return 0;
}

static void audit_is_clean(struct stack *s)
{
  struct buf out;
  buf_init(&out, 1000000);
  int status = stack_command(s, "reconciler", (const char *const[]){"audit", "--all", NULL}, &out);
  if (status != 0) fail_msg("status %d: %s", status, buf_text(&out));
  buf_release(&out);
}

static void audits_beside_a_rush_invent_nothing(void **state)
{
  struct rig *rig = *state;
  struct stack *s = rig->stack;
  double seconds = getenv("LARGESSE_CHAOS") != NULL ? 60 : 1.5;
  activity_make(s->sql, &(struct activity_terms){.code = "rush", .stock = STOCK});
  rig->crowd = crowd_start(s, "rush", 1000, 7);
  WAIT_FOR(sql_int(s->sql, "select count(*) from largesse.claim") > 100, 10);
  double end = support_now() + seconds;
  int audits = 0;
  for (; support_now() < end; audits++) audit_is_clean(s);
  assert_true(audits > 0);
  crowd_end(rig->crowd);
  WAIT_FOR(sql_int(s->sql, "select count(*) from largesse.claim where status = 'issuing'") == 0, 30);
  char *faults = crowd_faults(rig->crowd, STOCK);
  assert_string_equal(faults, "");
  mem_free(faults);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(audits_beside_a_rush_invent_nothing),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
