// SPDX-License-Identifier: Apache-2.0
// takes long
// Publisher and consumer against a real RabbitMQ: confirms, returns, depth, delay rungs, prefetch, requeue, draining.
// Faults of the broker are in test_mq_faults.c.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "common/mem.h"
#include "tests/support/mq_fixture.h"
#include "tests/support/support.h"

// With a publisher and a consumer.
static int open_rig(void **state)
{
  struct mq_fixture *f = *state;
  (void)mq_fixture_open(state);
  f->p = mq_rig_publisher(&f->rig);
  f->c = mq_rig_consumer(&f->rig);
  return 0;
}

static const struct mq_exchange fulfilment = {.name = "fulfilment", .type = MQ_DIRECT};

static struct mq_queue lane(char *name, char *key)
{
  return (struct mq_queue){.name = name, .bind_exchange = "fulfilment", .bind_key = key};
}

static void declare_lane(struct mq_fixture *f, char *name, char *key)
{
  struct mq_queue q = lane(name, key);
  mq_publisher_exchange(f->p, &fulfilment);
  mq_publisher_queue(f->p, &q);
  MQ_WAIT(&f->rig, mq_rig_depth(&f->rig, f->p, name).result == RESULT_OK, 10);
  mq_consumer_exchange(f->c, &fulfilment);
  mq_consumer_queue(f->c, &q);
}

static void message_arrives_as_it_was_sent(void **state)
{
  struct mq_fixture *f = *state;
  declare_lane(f, "lane.a", "a");
  struct mq_received *r = mq_fixture_subscribe(f, "lane.a", 10, false, NULL);
  struct mq_outcomes o = {0};
  static const char trace[] = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  const struct mq_header headers[] = {{"other", "x"}, {"traceparent", trace}};
  struct mq_message m = {.exchange = "fulfilment",
                         .routing_key = "a",
                         .body = "{\"v\":1}",
                         .body_len = 7,
                         .content_type = "application/json",
                         .message_id = "12-345",
                         .type = "claims",
                         .headers = headers,
                         .header_count = ARRAY_LEN(headers)};
  assert_int_equal(mq_publish(f->p, &m, mq_on_outcome, &o), RESULT_OK);
  assert_int_equal(mq_publisher_open(f->p), 1);
  MQ_WAIT(&f->rig, o.confirmed == 1 && r->count == 1, 10);
  assert_int_equal(mq_publisher_open(f->p), 0);
  assert_string_equal(r->body, "{\"v\":1}");
  assert_string_equal(r->message_id, "12-345");
  assert_string_equal(r->traceparent, trace);
  assert_int_equal(r->redelivered, 0);
  assert_true(mq_rig_metric(&f->rig, "largesse_amqp_published_total{outcome=\"confirmed\"}") == 1);
  assert_true(mq_rig_metric(&f->rig, "largesse_amqp_connected{role=\"publisher\"}") == 1);
  assert_true(mq_rig_metric(&f->rig, "largesse_amqp_connected{role=\"consumer\"}") == 1);
  mem_free(r);
}

static void bodies_of_every_size_arrive_whole(void **state)
{
  struct mq_fixture *f = *state;
  static const size_t sizes[] = {0, 1, 4096, 131064, 131065, 400000, 1024 * 1024};
  declare_lane(f, "lane.a", "a");
  struct mq_received *r = mq_fixture_subscribe(f, "lane.a", 3, false, NULL);
  struct mq_outcomes o = {0};
  char *body = mem_zalloc(1024 * 1024 + 1, 1);
  memset(body, 'x', 1024 * 1024 + 1);
  for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
    struct mq_message m = {.exchange = "fulfilment", .routing_key = "a", .body = body, .body_len = sizes[i]};
    assert_int_equal(mq_publish(f->p, &m, mq_on_outcome, &o), RESULT_OK);
  }
  struct mq_message too_big = {.exchange = "fulfilment", .routing_key = "a", .body = body, .body_len = 1024 * 1024 + 1};
  assert_int_equal(mq_publish(f->p, &too_big, mq_on_outcome, &o), RESULT_TOO_BIG);
  MQ_WAIT(&f->rig, r->count == (int)ARRAY_LEN(sizes), 10);
  MQ_WAIT(&f->rig, o.confirmed == (int)ARRAY_LEN(sizes), 10);
  assert_string_equal(r->message_id, "");
  mem_free(body);
  mem_free(r);
}

// Returns come before confirms, and confirms may be for many: each message must still get its own outcome.
static void count_by_kind(void *ctx, enum mq_outcome outcome) { ((int *)ctx)[outcome]++; }

static void what_no_queue_takes_is_returned(void **state)
{
  struct mq_fixture *f = *state;
  declare_lane(f, "lane.a", "a");
  int routable[4] = {0}, stray[4] = {0};
  for (int i = 0; i < 1500; i++) {
    bool is_stray = i % 3 == 1;
    assert_true(
        mq_send_number(f->p, "fulfilment", is_stray ? "nobody" : "a", i, count_by_kind, is_stray ? stray : routable));
  }
  MQ_WAIT(&f->rig, mq_publisher_open(f->p) == 0, 20);
  assert_int_equal(routable[MQ_CONFIRMED], 1000);
  assert_int_equal(stray[MQ_RETURNED], 500);
  assert_int_equal(mq_rig_depth(&f->rig, f->p, "lane.a").messages, 1000);
  assert_true(mq_rig_count_log(&f->rig, "mq.message_returned") >= 1);
  assert_true(mq_rig_count_log(&f->rig, "mq.message_returned") <= 10);
  assert_int_equal(mq_rig_count_log(&f->rig, "mq.connection_lost"), 0);
}

static void depth_counts_ready_messages(void **state)
{
  struct mq_fixture *f = *state;
  declare_lane(f, "lane.a", "a");
  struct mq_outcomes o = {0};
  for (int i = 0; i < 7; i++) assert_true(mq_send_number(f->p, "fulfilment", "a", i, mq_on_outcome, &o));
  MQ_WAIT(&f->rig, o.confirmed == 7, 10);
  struct mq_depth d = mq_rig_depth(&f->rig, f->p, "lane.a");
  assert_int_equal(d.result, RESULT_OK);
  assert_int_equal(d.messages, 7);
  assert_true(mq_rig_metric(&f->rig, "largesse_queue_depth{queue=\"lane.a\"}") == 7);
  for (int i = 0; i < 3; i++) {
    d = mq_rig_depth(&f->rig, f->p, "lane.missing");
    assert_int_equal(d.result, RESULT_NOT_FOUND);
    assert_int_equal(d.calls, 1);
  }
  assert_int_equal(mq_rig_depth(&f->rig, f->p, "lane.a").messages, 7);
  assert_true(mq_send_number(f->p, "fulfilment", "a", 8, mq_on_outcome, &o));
  MQ_WAIT(&f->rig, o.confirmed == 8, 10);
  assert_int_equal(mq_rig_count_log(&f->rig, "mq.connection_lost"), 0);
}

static void questions_are_bounded(void **state)
{
  struct mq_fixture *f = *state;
  struct mq_depth d = {0};
  int taken = 0;
  while (mq_publisher_depth(f->p, "lane.missing", mq_on_depth, &d) == RESULT_OK && taken < 10000) taken++;
  assert_true(taken < 10000);
  MQ_WAIT(&f->rig, d.calls == taken, 20);
}

// A rung: fanout exchange, a queue with a TTL, dead-lettering to the lanes under the message's own key.
static void rung_gives_back_under_the_own_key(void **state)
{
  struct mq_fixture *f = *state;
  declare_lane(f, "lane.a", "a");
  declare_lane(f, "lane.b", "b");
  const struct mq_exchange x = {.name = "retry.400ms", .type = MQ_FANOUT};
  const struct mq_queue q = {
      .name = "retry.400ms", .ttl = span_ms(400), .dead_letter_exchange = "fulfilment", .bind_exchange = "retry.400ms"};
  mq_publisher_exchange(f->p, &x);
  mq_publisher_queue(f->p, &q);
  struct mq_received *a = mq_fixture_subscribe(f, "lane.a", 10, false, NULL),
                     *b = mq_fixture_subscribe(f, "lane.b", 10, false, NULL);
  struct mq_outcomes o = {0};
  struct mono_time sent = clk_mono();
  assert_true(mq_send_number(f->p, "retry.400ms", "a", 1, mq_on_outcome, &o));
  assert_true(mq_send_number(f->p, "retry.400ms", "b", 2, mq_on_outcome, &o));
  MQ_WAIT(&f->rig, a->count == 1 && b->count == 1, 10);
  assert_true(mono_since(clk_mono(), sent).us >= 390000);
  assert_int_equal(o.confirmed, 2);
  assert_int_equal(a->seen[1], 1);
  assert_int_equal(b->seen[2], 1);
  mem_free(a);
  mem_free(b);
}

static void prefetch_bounds_what_is_unacknowledged(void **state)
{
  struct mq_fixture *f = *state;
  declare_lane(f, "lane.a", "a");
  for (int i = 0; i < 20; i++) assert_true(mq_send_number(f->p, "fulfilment", "a", i, NULL, NULL));
  struct mq_received *r = mq_fixture_subscribe(f, "lane.a", 5, true, NULL);
  MQ_WAIT(&f->rig, r->count == 5, 10);
  mq_fixture_turn(f, 300);
  assert_int_equal(r->count, 5);
  mq_ack(f->c, r->held[2]);
  MQ_WAIT(&f->rig, r->count == 6, 10);
  mq_fixture_turn(f, 200);
  assert_int_equal(r->count, 6);
  mq_requeue(f->c, r->held[0]);
  MQ_WAIT(&f->rig, r->count == 7, 10);
  mem_free(r);
}

static void requeued_message_comes_again(void **state)
{
  struct mq_fixture *f = *state;
  declare_lane(f, "lane.a", "a");
  struct mq_received *r = mq_fixture_subscribe(f, "lane.a", 1, true, NULL);
  assert_true(mq_send_number(f->p, "fulfilment", "a", 1, NULL, NULL));
  MQ_WAIT(&f->rig, r->count == 1, 10);
  mq_requeue(f->c, r->held[0]);
  MQ_WAIT(&f->rig, r->count == 2, 10);
  assert_int_equal(r->redelivered, 1);
  assert_int_equal(r->seen[1], 2);
  mq_ack(f->c, r->held[1]);
  mq_ack(f->c, r->held[1]);  // a second ack, and one for a tag of long ago, must not cost the channel
  mq_ack(f->c, r->held[0]);
  mq_consumer_flush(f->c, span_s(2));
  assert_true(mq_send_number(f->p, "fulfilment", "a", 2, NULL, NULL));
  MQ_WAIT(&f->rig, r->seen[2] == 1, 10);
  assert_int_equal(mq_rig_count_log(&f->rig, "mq.consumer_cancelled"), 0);
  mem_free(r);
}

// Acks in a shuffled order, some requeued: afterwards exactly the requeued ones are in the queue.
static void acks_out_of_order_settle_exactly_those(void **state)
{
  struct mq_fixture *f = *state;
  declare_lane(f, "lane.a", "a");
  enum { COUNT = 1000 };
  for (int i = 0; i < COUNT; i++) assert_true(mq_send_number(f->p, "fulfilment", "a", i, NULL, NULL));
  struct mq_subscription *s;
  struct mq_received *r = mq_fixture_subscribe(f, "lane.a", COUNT, true, &s);
  MQ_WAIT(&f->rig, r->count == COUNT, 20);
  mq_unsubscribe(s);
  for (int i = 0; i < COUNT; i++) {
    int n = (i * 389) % COUNT;  // 389 is prime to 1000: every number once
    if (n % 10 == 3)
      mq_requeue(f->c, r->held[n]);
    else
      mq_ack(f->c, r->held[n]);
    if (i % 50 == 0) mq_rig_turn(&f->rig);
  }
  mq_consumer_flush(f->c, span_s(5));
  uint64_t left = 0;
  struct waiting w = waiting_start(30);
  while ((left = mq_rig_depth(&f->rig, f->p, "lane.a").messages) != COUNT / 10) {
    if (!waiting_more(&w)) fail_msg("%llu messages are left", (unsigned long long)left);
    mq_fixture_turn(f, 50);
  }
  mq_fixture_turn(f, 3000);  // until after the channel has closed
  assert_int_equal(mq_rig_depth(&f->rig, f->p, "lane.a").messages, COUNT / 10);
  assert_int_equal(r->count, COUNT);
  assert_int_equal(mq_rig_count_log(&f->rig, "mq.consumer_cancelled"), 0);
  mem_free(r);
}

static void drained_subscription_gets_nothing_new(void **state)
{
  struct mq_fixture *f = *state;
  declare_lane(f, "lane.a", "a");
  struct mq_subscription *s;
  struct mq_received *r = mq_fixture_subscribe(f, "lane.a", 3, true, &s);
  for (int i = 0; i < 10; i++) assert_true(mq_send_number(f->p, "fulfilment", "a", i, NULL, NULL));
  MQ_WAIT(&f->rig, r->count == 3, 10);
  mq_unsubscribe(s);
  for (int i = 0; i < 3; i++) mq_ack(f->c, r->held[i]);
  mq_consumer_flush(f->c, span_s(2));
  mq_fixture_turn(f, 300);
  assert_int_equal(r->count, 3);
  assert_int_equal(mq_rig_depth(&f->rig, f->p, "lane.a").messages, 7);
  // The place of an ended subscription is used again, any number of times.
  for (int round = 0; round < 300; round++) {
    mq_unsubscribe(mq_subscribe(f->c, "lane.a", 1, mq_on_delivery, r));
    if (round % 20 == 0) mq_fixture_turn(f, 100);
  }
  struct mq_received *again = mq_fixture_subscribe(f, "lane.a", 10, false, NULL);
  MQ_WAIT(&f->rig, again->count >= 7, 20);
  MQ_WAIT(&f->rig, mq_rig_depth(&f->rig, f->p, "lane.a").messages == 0, 10);
  mem_free(again);
  mem_free(r);
}

static void freeing_a_consumer_gives_its_deliveries_back(void **state)
{
  struct mq_fixture *f = *state;
  declare_lane(f, "lane.a", "a");
  struct mq_received *r = mq_fixture_subscribe(f, "lane.a", 4, true, NULL);
  for (int i = 0; i < 4; i++) assert_true(mq_send_number(f->p, "fulfilment", "a", i, NULL, NULL));
  MQ_WAIT(&f->rig, r->count == 4, 10);
  mq_ack(f->c, r->held[0]);
  mq_consumer_free(f->c);  // writes the ack first
  f->c = NULL;
  MQ_WAIT(&f->rig, mq_rig_depth(&f->rig, f->p, "lane.a").messages == 3, 10);
  mem_free(r);
}

static void full_ring_takes_nothing(void **state)
{
  struct mq_fixture *f = *state;
  declare_lane(f, "lane.a", "a");
  struct mq_outcomes o = {0};
  int taken = 0;
  while (mq_send_number(f->p, "fulfilment", "a", taken, mq_on_outcome, &o) && taken < 100000) taken++;
  assert_int_equal(taken, f->rig.conf.ring_max);
  assert_int_equal(mq_publisher_open(f->p), taken);
  MQ_WAIT(&f->rig, mq_publisher_open(f->p) == 0, 20);
  assert_int_equal(o.confirmed, taken);
  assert_true(mq_send_number(f->p, "fulfilment", "a", 1, mq_on_outcome, &o));
  MQ_WAIT(&f->rig, o.confirmed == taken + 1, 10);
}

static void unconfirmed_messages_are_lost_when_freed(void **state)
{
  struct mq_fixture *f = *state;
  struct mq_outcomes o = {0};
  declare_lane(f, "lane.a", "a");
  for (int i = 0; i < 4000; i++) assert_true(mq_send_number(f->p, "fulfilment", "a", i, mq_on_outcome, &o));
  mq_publisher_free(f->p);
  f->p = NULL;
  assert_int_equal(mq_outcomes_total(&o), 4000);
  assert_int_equal(o.returned + o.nacked, 0);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, open_rig, mq_fixture_close)

int main(void)
{
  const struct CMUnitTest tests[] = {
      CASE(message_arrives_as_it_was_sent),
      CASE(bodies_of_every_size_arrive_whole),
      CASE(what_no_queue_takes_is_returned),
      CASE(depth_counts_ready_messages),
      CASE(questions_are_bounded),
      CASE(rung_gives_back_under_the_own_key),
      CASE(prefetch_bounds_what_is_unacknowledged),
      CASE(requeued_message_comes_again),
      CASE(acks_out_of_order_settle_exactly_those),
      CASE(drained_subscription_gets_nothing_new),
      CASE(freeing_a_consumer_gives_its_deliveries_back),
      CASE(full_ring_takes_nothing),
      CASE(unconfirmed_messages_are_lost_when_freed),
  };
  return cmocka_run_group_tests(tests, mq_fixture_start, mq_fixture_stop);
}
