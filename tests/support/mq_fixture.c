// SPDX-License-Identifier: Apache-2.0
// What the tests of common/mq share: a server for the program, and for each test a virtual host of its own with a rig.
#include "tests/support/mq_fixture.h"

#include "common/mem.h"

int mq_fixture_start(void **state)
{
  struct mq_fixture *f = MEM_NEW(struct mq_fixture);
  f->server = server_start();
  *state = f;
  return 0;
}

int mq_fixture_stop(void **state)
{
  struct mq_fixture *f = *state;
  server_free(f->server);
  mem_free(f);
  return 0;
}

int mq_fixture_open(void **state)
{
  struct mq_fixture *f = *state;
  f->url = server_new_broker_url(f->server);
  mq_rig_init(&f->rig, f->url);
  return 0;
}

int mq_fixture_close(void **state)
{
  struct mq_fixture *f = *state;
  mq_consumer_free(f->c);
  mq_publisher_free(f->p);
  f->c = NULL;
  f->p = NULL;
  mq_rig_release(&f->rig);
  mem_free(f->url);
  server_heal(f->server);
  return 0;
}

void mq_fixture_turn(struct mq_fixture *f, int ms)
{
  struct mono_time end = mono_after(clk_mono(), span_ms(ms));
  while (mono_before(clk_mono(), end)) mq_rig_turn(&f->rig);
}

struct mq_received *mq_fixture_subscribe(struct mq_fixture *f, const char *queue, uint16_t prefetch, bool hold,
                                         struct mq_subscription **out_sub)
{
  struct mq_received *r = MEM_NEW(struct mq_received);
  r->consumer = f->c;
  r->hold = hold;
  struct mq_subscription *s = mq_subscribe(f->c, queue, prefetch, mq_on_delivery, r);
  if (out_sub != NULL) *out_sub = s;
  return r;
}
