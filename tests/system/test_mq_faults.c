// SPDX-License-Identifier: Apache-2.0
// Publisher and consumer while the broker stops, is starved, hangs, forgets or refuses: nothing confirmed is lost,
// nothing hangs, and everything comes back by itself.
// runs alone
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/mem.h"
#include "common/text.h"
#include "tests/support/mq_fixture.h"
#include "tests/support/support.h"

#define MIB ((size_t)1024 * 1024)

static const struct mq_queue lane = {.name = "lane.a", .bind_exchange = "fulfilment", .bind_key = "a"};
static const struct mq_exchange fulfilment = {.name = "fulfilment", .type = MQ_DIRECT};

static void open_publisher(struct mq_fixture *f)
{
  f->p = mq_rig_publisher(&f->rig);
  mq_publisher_exchange(f->p, &fulfilment);
  mq_publisher_queue(f->p, &lane);
  MQ_WAIT(&f->rig, mq_rig_depth(&f->rig, f->p, "lane.a").result == RESULT_OK, 10);
}

static void open_consumer(struct mq_fixture *f)
{
  f->c = mq_rig_consumer(&f->rig);
  mq_consumer_exchange(f->c, &fulfilment);
  mq_consumer_queue(f->c, &lane);
}

static struct mq_received *subscribe(struct mq_fixture *f, uint16_t prefetch, bool hold)
{
  return mq_fixture_subscribe(f, "lane.a", prefetch, hold, NULL);
}

// --- a broker that stops and starts
enum { RESTART_MESSAGES = 3000 };
struct sending {
  struct mq_fixture *f;
  int n;
  bool confirmed;
};

static void send_again(void *ctx, enum mq_outcome outcome)
{
  struct sending *s = ctx;
  if (outcome == MQ_CONFIRMED)
    s->confirmed = true;
  else if (!mq_send_number(s->f->p, "fulfilment", "a", s->n, send_again, s))
    support_die("full");
}

static int confirmed_of(const struct sending *all)
{
  int count = 0;
  for (int i = 0; i < RESTART_MESSAGES; i++) count += all[i].confirmed ? 1 : 0;
  return count;
}

static int seen_of(const struct mq_received *r)
{
  int count = 0;
  for (int i = 0; i < RESTART_MESSAGES; i++) count += r->seen[i] > 0 ? 1 : 0;
  return count;
}

static void send_range(struct mq_fixture *f, struct sending *all, int from, int to)
{
  for (int i = from; i < to; i++) {
    all[i] = (struct sending){.f = f, .n = i};
    assert_true(mq_send_number(f->p, "fulfilment", "a", i, send_again, &all[i]));
    if (i % 40 == 0) mq_rig_turn(&f->rig);
  }
}

static void broker_restarts_lose_nothing(void **state)
{
  struct mq_fixture *f = *state;
  struct sending *all = MEM_ARRAY(struct sending, RESTART_MESSAGES);
  open_publisher(f);
  open_consumer(f);
  struct mq_received *r = subscribe(f, 50, false);
  int sent = 0;
  for (int round = 0; round < 2; round++) {
    send_range(f, all, sent, sent + 1000);
    sent += 1000;
    server_broker_stop_app(f->server);
    MQ_WAIT(&f->rig, !mq_publisher_is_up(f->p) && !mq_consumer_is_up(f->c), 10);
    send_range(f, all, sent, sent + 500);  // while it is away
    sent += 500;
    server_broker_start_app(f->server);
    MQ_WAIT(&f->rig, mq_publisher_is_up(f->p) && mq_consumer_is_up(f->c), 20);
  }
  MQ_WAIT(&f->rig, confirmed_of(all) == RESTART_MESSAGES, 30);
  MQ_WAIT(&f->rig, seen_of(r) == RESTART_MESSAGES, 30);
  assert_int_equal(mq_publisher_open(f->p), 0);
  assert_true(mq_rig_count_log(&f->rig, "mq.connection_lost") >= 4);
  assert_null(mq_publisher_fault(f->p));
  mem_free(r);
  mem_free(all);
}

// --- a broker in need
static void memory_alarm_blocks_and_then_everything_is_confirmed(void **state)
{
  struct mq_fixture *f = *state;
  struct mq_outcomes o = {0};
  open_publisher(f);
  server_broker_alarm(f->server, true);
  int sent = 0;
  for (; sent < 2000; sent++) assert_true(mq_send_number(f->p, "fulfilment", "a", sent, mq_on_outcome, &o));
  MQ_WAIT(&f->rig, mq_publisher_is_blocked(f->p), 10);
  mq_fixture_turn(f, 500);
  assert_true(mq_rig_metric(&f->rig, "largesse_amqp_connection_blocked") == 1);
  assert_int_equal(mq_rig_count_log(&f->rig, "mq.connection_blocked"), 1);
  struct mono_time asked = clk_mono();
  assert_int_equal(mq_rig_depth(&f->rig, f->p, "lane.a").result, RESULT_UNAVAILABLE);
  assert_true(mono_since(clk_mono(), asked).us < 2000000);
  while (mq_send_number(f->p, "fulfilment", "a", sent, mq_on_outcome, &o)) sent++;  // a full ring is said at once
  assert_int_equal(mq_publisher_open(f->p), f->rig.conf.ring_max);
  mq_fixture_turn(f, 12000);  // longer than two heartbeats: a blocked connection is not a dead one
  assert_true(mq_publisher_is_blocked(f->p));
  assert_int_equal(mq_outcomes_total(&o), sent - f->rig.conf.ring_max);
  server_broker_alarm(f->server, false);
  MQ_WAIT(&f->rig, mq_publisher_open(f->p) == 0, 30);
  if (o.confirmed != sent) {
    mq_rig_show_log(&f->rig);
    fail_msg("of %d: %d confirmed, %d returned, %d nacked, %d lost", sent, o.confirmed, o.returned, o.nacked, o.lost);
  }
  assert_false(mq_publisher_is_blocked(f->p));
  assert_int_equal(mq_rig_count_log(&f->rig, "mq.connection_lost"), 0);
  assert_true(mq_rig_metric(&f->rig, "largesse_amqp_connection_blocked") == 0);
}

static void publish_big(struct mq_fixture *f, int count, struct mq_outcomes *o)
{
  char *body = mem_zalloc(MIB, 1);
  for (int i = 0; i < count; i++) {
    struct mq_message m = {.exchange = "fulfilment", .routing_key = "a", .body = body, .body_len = MIB};
    assert_int_equal(mq_publish(f->p, &m, mq_on_outcome, o), RESULT_OK);
  }
  mem_free(body);
}

// More than the sockets' buffers hold, so that a write may be under way when the broker stops reading.
static void publisher_can_be_freed_during_an_alarm(void **state)
{
  struct mq_fixture *f = *state;
  struct mq_outcomes o = {0};
  open_publisher(f);
  server_broker_alarm(f->server, true);
  publish_big(f, 64, &o);
  mq_fixture_turn(f, 700);
  struct stopwatch watch = stopwatch_start();
  mq_publisher_free(f->p);
  f->p = NULL;
  assert_true(stopwatch_seconds(&watch) < 2);
  assert_int_equal(o.lost, 64);
  server_broker_alarm(f->server, false);
}

// --- a broker that hangs
static pid_t broker_pid(struct mq_fixture *f)
{
  struct buf out;
  buf_init(&out, 4096);
  server_rabbitmqctl(f->server, (const char *[]){"eval", "io:format(\"~s~n\", [os:getpid()]).", NULL}, &out);
  int32_t pid;
  const char *text = buf_text(&out);
  assert_int_equal(text_to_i32(text, strcspn(text, "\n"), &pid), RESULT_OK);
  buf_release(&out);
  return pid;
}

static void hung_broker_is_given_up_and_found_again(void **state)
{
  struct mq_fixture *f = *state;
  struct mq_outcomes o = {0};
  open_publisher(f);
  open_consumer(f);
  struct mq_received *r = subscribe(f, 10, false);
  mq_fixture_turn(f, 200);
  pid_t pid = broker_pid(f);
  assert_int_equal(kill(pid, SIGSTOP), 0);
  assert_true(mq_send_number(f->p, "fulfilment", "a", 1, mq_on_outcome, &o));
  MQ_WAIT(&f->rig, o.lost == 1 && !mq_publisher_is_up(f->p) && !mq_consumer_is_up(f->c), 20);
  publish_big(f, 40, &o);
  struct stopwatch watch = stopwatch_start();
  mq_publisher_free(f->p);  // while it tries to log in
  f->p = NULL;
  double took = stopwatch_seconds(&watch);
  assert_int_equal(kill(pid, SIGCONT), 0);
  assert_true(took < 2);
  assert_int_equal(o.lost, 41);
  MQ_WAIT(&f->rig, mq_consumer_is_up(f->c), 20);
  mem_free(r);
}

static void publisher_with_a_stuck_write_can_be_freed(void **state)
{
  struct mq_fixture *f = *state;
  struct mq_outcomes o = {0};
  open_publisher(f);
  pid_t pid = broker_pid(f);
  assert_int_equal(kill(pid, SIGSTOP), 0);
  publish_big(f, 40, &o);
  mq_fixture_turn(f, 500);
  struct stopwatch watch = stopwatch_start();
  mq_publisher_free(f->p);
  f->p = NULL;
  double took = stopwatch_seconds(&watch);
  assert_int_equal(kill(pid, SIGCONT), 0);
  assert_true(took < 2);
  assert_int_equal(o.lost, 40);
}

static void silent_server_neither_hangs_nor_floods_the_log(void **state)
{
  struct mq_fixture *f = *state;
  struct sockaddr_in any = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t len = sizeof any;
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  assert_int_equal(bind(fd, (struct sockaddr *)&any, len), 0);
  assert_int_equal(listen(fd, 16), 0);
  assert_int_equal(getsockname(fd, (struct sockaddr *)&any, &len), 0);
  char *url = support_format("amqp://guest:guest@127.0.0.1:%d/", ntohs(any.sin_port));
  f->rig.conf.url = url;
  f->rig.conf.connect_timeout = span_ms(300);
  f->p = mq_publisher_new(&f->rig.rt, &f->rig.conf, "test-publisher");
  struct mq_depth d = {0};
  struct mq_outcomes o = {0};
  mq_fixture_turn(f, 1500);
  assert_false(mq_publisher_is_up(f->p));
  assert_int_equal(mq_rig_count_log(&f->rig, "mq.connection_lost"), 1);
  assert_int_equal(mq_publisher_depth(f->p, "lane.a", mq_on_depth, &d), RESULT_OK);
  assert_true(mq_send_number(f->p, "fulfilment", "a", 1, mq_on_outcome, &o));
  MQ_WAIT(&f->rig, d.calls == 1, 5);
  assert_int_equal(d.result, RESULT_UNAVAILABLE);
  assert_int_equal(mq_outcomes_total(&o), 0);  // it waits for the broker
  f->rig.conf.connect_timeout = span_s(60);
  struct mq_consumer *c = mq_consumer_new(&f->rig.rt, &f->rig.conf, "test-consumer");
  mq_fixture_turn(f, 200);
  struct stopwatch watch = stopwatch_start();
  mq_consumer_free(c);
  assert_true(stopwatch_seconds(&watch) < 2);
  close(fd);
  mq_publisher_free(f->p);
  f->p = NULL;
  assert_int_equal(o.lost, 1);
  mem_free(url);
}

static void wrong_password_is_said(void **state)
{
  struct mq_fixture *f = *state;
  char *url = support_format("amqp://guest:wrong@127.0.0.1:%d/", server_mq_port(f->server));
  f->rig.conf.url = url;
  f->p = mq_publisher_new(&f->rig.rt, &f->rig.conf, "test-publisher");
  MQ_WAIT(&f->rig, mq_rig_count_log(&f->rig, "ACCESS_REFUSED") == 1, 10);
  mq_fixture_turn(f, 500);
  assert_false(mq_publisher_is_up(f->p));
  assert_int_equal(mq_rig_count_log(&f->rig, "mq.connection_lost"), 1);
  mem_free(url);
}

// --- a broker with other ideas of the topology
static void changed_ttl_is_a_fault_that_names_the_queue(void **state)
{
  struct mq_fixture *f = *state;
  struct mq_outcomes o = {0};
  struct mq_queue rung = {
      .name = "retry.5s", .ttl = span_s(5), .dead_letter_exchange = "fulfilment", .bind_exchange = "retry.5s"};
  const struct mq_exchange x = {.name = "retry.5s", .type = MQ_FANOUT};
  open_publisher(f);
  mq_publisher_exchange(f->p, &x);
  mq_publisher_queue(f->p, &rung);
  MQ_WAIT(&f->rig, mq_rig_depth(&f->rig, f->p, "retry.5s").result == RESULT_OK, 10);
  assert_null(mq_publisher_fault(f->p));
  mq_publisher_free(f->p);
  rung.ttl = span_s(8);
  f->p = mq_rig_publisher(&f->rig);
  mq_publisher_exchange(f->p, &fulfilment);
  mq_publisher_exchange(f->p, &x);
  mq_publisher_queue(f->p, &rung);
  mq_publisher_queue(f->p, &lane);
  MQ_WAIT(&f->rig, mq_publisher_fault(f->p) != NULL, 10);
  assert_non_null(strstr(mq_publisher_fault(f->p), "queue retry.5s: PRECONDITION_FAILED"));
  assert_true(mq_publisher_is_up(f->p));
  // The rest works, and so does the queue as it is.
  assert_true(mq_send_number(f->p, "fulfilment", "a", 1, mq_on_outcome, &o));
  assert_true(mq_send_number(f->p, "retry.5s", "a", 2, mq_on_outcome, &o));
  MQ_WAIT(&f->rig, o.confirmed == 2, 10);
  mq_fixture_turn(f, 1500);
  assert_int_equal(mq_rig_count_log(&f->rig, "mq.topology_refused"), 1);
  assert_int_equal(mq_rig_count_log(&f->rig, "mq.connected"), 2);
  assert_int_equal(mq_rig_count_log(&f->rig, "mq.connection_lost"), 0);
  // Somebody removes the queue: the next try declares it, and the fault is gone.
  char *vhost = strrchr(f->url, '/') + 1;
  server_rabbitmqctl(f->server, (const char *[]){"delete_queue", "-p", vhost, "retry.5s", NULL}, NULL);
  MQ_WAIT(&f->rig, mq_publisher_fault(f->p) == NULL, 25);
  assert_int_equal(mq_rig_depth(&f->rig, f->p, "retry.5s").result, RESULT_OK);
}

static void deleted_queue_is_declared_and_consumed_again(void **state)
{
  struct mq_fixture *f = *state;
  open_publisher(f);
  open_consumer(f);
  struct mq_received *r = subscribe(f, 10, true);
  assert_true(mq_send_number(f->p, "fulfilment", "a", 1, NULL, NULL));
  MQ_WAIT(&f->rig, r->count == 1, 10);
  char *vhost = strrchr(f->url, '/') + 1;
  server_rabbitmqctl(f->server, (const char *[]){"delete_queue", "-p", vhost, "lane.a", NULL}, NULL);
  MQ_WAIT(&f->rig, mq_rig_count_log(&f->rig, "mq.consumer_cancelled") >= 1, 10);
  MQ_WAIT(&f->rig, mq_rig_depth(&f->rig, f->p, "lane.a").result == RESULT_OK, 20);
  mq_ack(f->c, r->held[0]);                 // of the channel before: ignored
  struct sending again = {.f = f, .n = 2};  // returned until the binding is there, too
  assert_true(mq_send_number(f->p, "fulfilment", "a", 2, send_again, &again));
  MQ_WAIT(&f->rig, r->seen[2] == 1 && again.confirmed, 20);
  assert_true(mq_consumer_is_up(f->c));
  mem_free(r);
}

static void set_timeouts(struct mq_fixture *f, const char *timeout_ms, const char *tick_ms)
{
  char *code = support_format(
      "application:set_env(rabbit, consumer_timeout, %s), application:set_env(rabbit, channel_tick_interval, %s).",
      timeout_ms, tick_ms);
  server_rabbitmqctl(f->server, (const char *[]){"eval", code, NULL}, NULL);
  mem_free(code);
}

// B54: an ack that takes longer than the broker's consumer_timeout costs the channel, not the subscription.
static void late_ack_costs_the_channel_but_not_the_subscription(void **state)
{
  struct mq_fixture *f = *state;
  set_timeouts(f, "1000", "500");
  open_publisher(f);
  open_consumer(f);
  struct mq_received *r = subscribe(f, 10, true);
  assert_true(mq_send_number(f->p, "fulfilment", "a", 1, NULL, NULL));
  MQ_WAIT(&f->rig, r->count == 1, 10);
  MQ_WAIT(&f->rig, mq_rig_count_log(&f->rig, "mq.consumer_cancelled") >= 1, 20);
  set_timeouts(f, "1800000", "60000");
  assert_true(mq_rig_metric(&f->rig, "largesse_amqp_consumers_cancelled_total") >= 1);
  MQ_WAIT(&f->rig, r->count >= 2, 20);
  assert_true(r->redelivered >= 1);
  mq_ack(f->c, r->held[0]);  // too late: must not disturb the new channel
  int last = r->count - 1;
  mq_ack(f->c, r->held[last]);
  r->hold = false;
  assert_true(mq_send_number(f->p, "fulfilment", "a", 2, NULL, NULL));
  MQ_WAIT(&f->rig, r->seen[2] == 1, 10);
  assert_int_equal(mq_rig_count_log(&f->rig, "mq.connection_lost"), 0);
  mem_free(r);
}

// The message of an unknown exchange costs the publisher's channel: everything on the way is lost, then it goes on.
static void unknown_exchange_is_survived(void **state)
{
  struct mq_fixture *f = *state;
  struct mq_outcomes bad = {0}, good = {0};
  open_publisher(f);
  assert_true(mq_send_number(f->p, "no-such-exchange", "a", 1, mq_on_outcome, &bad));
  MQ_WAIT(&f->rig, bad.lost == 1, 10);
  assert_true(mq_send_number(f->p, "fulfilment", "a", 1, mq_on_outcome, &good));
  MQ_WAIT(&f->rig, good.confirmed == 1, 10);
}

// B55: the library sends heartbeats only while it is called.
static void idle_connections_stay_up(void **state)
{
  struct mq_fixture *f = *state;
  struct mq_outcomes o = {0};
  open_publisher(f);
  open_consumer(f);
  struct mq_received *r = subscribe(f, 10, false);
  mq_fixture_turn(f, 12500);  // two and a half heartbeats
  assert_true(mq_send_number(f->p, "fulfilment", "a", 1, mq_on_outcome, &o));
  MQ_WAIT(&f->rig, o.confirmed == 1 && r->seen[1] == 1, 10);
  assert_int_equal(mq_rig_count_log(&f->rig, "mq.connection_lost"), 0);
  assert_int_equal(mq_rig_count_log(&f->rig, "mq.connected"), 2);
  mem_free(r);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, mq_fixture_open, mq_fixture_close)

int main(void)
{
  const struct CMUnitTest tests[] = {
      CASE(wrong_password_is_said),
      CASE(silent_server_neither_hangs_nor_floods_the_log),
      CASE(unknown_exchange_is_survived),
      CASE(changed_ttl_is_a_fault_that_names_the_queue),
      CASE(deleted_queue_is_declared_and_consumed_again),
      CASE(late_ack_costs_the_channel_but_not_the_subscription),
      CASE(memory_alarm_blocks_and_then_everything_is_confirmed),
      CASE(publisher_can_be_freed_during_an_alarm),
      CASE(broker_restarts_lose_nothing),
      CASE(publisher_with_a_stuck_write_can_be_freed),
      CASE(hung_broker_is_given_up_and_found_again),
      CASE(idle_connections_stay_up),
  };
  return cmocka_run_group_tests(tests, mq_fixture_start, mq_fixture_stop);
}
