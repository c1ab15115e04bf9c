// SPDX-License-Identifier: Apache-2.0
// One virtual client: connects, sends its click, reads the answer, and repeats the same click where that is asked for.
// Owner: struct run; one thread.
#include <errno.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "tests/bench/load/run.h"

#define PAUSE_FIRST_MS   20
#define PAUSE_LONGEST_MS 1000

// --- the end of a click ---

static void record(const struct run_client *c, int status, struct answer_text claim_id, struct answer_text code)
{
  FILE *file = c->run->conf->record;
  if (file == NULL) return;
  (void)fprintf(file, "%s,%" PRIu64 ",%d,%.*s,%.*s,%s\n", c->click.biz_id, c->click.user, status, (int)claim_id.len,
                claim_id.len > 0 ? claim_id.bytes : "", (int)code.len, code.len > 0 ? code.bytes : "",
                c->click.activity);
}

static void client_close(struct run_client *c)
{
  if (c->fd >= 0) (void)close(c->fd);
  c->fd = -1;
  c->in_len = 0;
}

static void client_pause(struct run_client *c, struct span delay)
{
  c->state = CLIENT_PAUSED;
  if (heap_add(&c->run->pauses, &c->pause, mono_after(c->run->now, delay)) != RESULT_OK) run_client_give_up(c);
}

static struct span repeat_delay(const struct run_client *c)
{
  unsigned doublings = c->tries > 6 ? 6 : c->tries;
  int64_t ms = (int64_t)PAUSE_FIRST_MS << doublings;
  return span_ms(ms > PAUSE_LONGEST_MS ? PAUSE_LONGEST_MS : ms);
}

static void client_repeat(struct run_client *c, const char *cause, size_t len, struct span at_least)
{
  struct span delay = repeat_delay(c);
  c->run->tally.repeats++;
  tally_name(&c->run->tally.repeat_causes, cause, len);
  client_pause(c, delay.us > at_least.us ? delay : at_least);
}

// The click got no complete answer.
static void client_lost(struct run_client *c, const char *why)
{
  struct run *run = c->run;
  bool connected = c->state != CLIENT_CONNECTING;
  bool resting = c->state == CLIENT_IDLE || c->state == CLIENT_PAUSED || c->state == CLIENT_DONE;
  client_close(c);
  if (resting) return;  // a connection without a request on it: the server may close it
  if (!connected) c->target = (c->target + 1) % run->conf->target_count;
  if (run->conf->repeat_unanswered) {
    client_repeat(c, why, strlen(why), span_ms(0));
    return;
  }
  tally_name(&run->tally.errors, why, strlen(why));
  run->tally.unanswered++;
  record(c, 0, (struct answer_text){0}, (struct answer_text){0});
  c->has_click = false;
  if (connected)
    run_client_is_free(c);
  else
    client_pause(c, span_ms(PAUSE_FIRST_MS));  // without it a server that is down would be asked in a tight circle
}

void run_client_give_up(struct run_client *c)
{
  heap_remove(&c->run->pauses, &c->pause);
  client_close(c);
  if (c->has_click) {
    c->run->tally.unanswered++;
    record(c, 0, (struct answer_text){0}, (struct answer_text){0});
    c->has_click = false;
    c->run->under_way--;
  }
  c->state = CLIENT_DONE;
}

static void client_answered(struct run_client *c, const struct answer *a)
{
  struct run *run = c->run;
  struct tally *t = &run->tally;
  bool again = a->status == 429 || a->status >= 500;
  if (again && run->conf->repeat_unanswered) {
    char status[16];
    int n = snprintf(status, sizeof status, "status %d", a->status);
    client_repeat(c, status, (size_t)n,
                  span_ms(a->retry_after_s > 0 ? PAUSE_LONGEST_MS : 0));  // a second at most: a run is short
    return;
  }
  run->now = run->last_answer = clk_mono();  // a turn may be long: latencies need the moment itself
  tally_latency(t, mono_since(run->now, c->begun));
  if (a->status == 200 && a->replayed && c->tries == 1) {
    t->replays++;
  } else if (a->status >= 200 && a->status < 300) {
    t->accepted++;
    if (a->replayed) t->recovered++;
  } else {
    char status[16];
    int n = snprintf(status, sizeof status, "status %d", a->status);
    t->refused++;
    tally_name(&t->codes, a->code.len > 0 ? a->code.bytes : status, a->code.len > 0 ? a->code.len : (size_t)n);
  }
  record(c, a->status, a->claim_id, a->code);
  c->has_click = false;
  run_client_is_free(c);
}

// --- the connection ---

static void client_read(struct run_client *c)
{
  for (;;) {
    ssize_t n = recv(c->fd, c->in + c->in_len, sizeof c->in - c->in_len, 0);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) return;
    if (n <= 0) {
      client_lost(c, n == 0 ? "connection closed" : "connection reset");
      return;
    }
    c->in_len += (size_t)n;
    struct answer answer;
    enum answer_progress progress = c->state == CLIENT_WAITING ? answer_read(c->in, c->in_len, &answer) : ANSWER_BROKEN;
    if (progress == ANSWER_PARTIAL && c->in_len < sizeof c->in) continue;
    if (progress != ANSWER_COMPLETE || answer.bytes != c->in_len) {
      client_lost(c, "broken answer");
      return;
    }
    c->in_len = 0;
    if (answer.close) client_close(c);
    client_answered(c, &answer);  // the answer's texts are still in the buffer; it may send the next click
    return;
  }
}

static bool client_register(struct run_client *c)
{
  int on = 1;
  (void)setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  struct epoll_event event = {.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, .data.ptr = c};
  return epoll_ctl(c->run->epoll_fd, EPOLL_CTL_ADD, c->fd, &event) == 0;
}

static void client_connect(struct run_client *c)
{
  const struct run_target *target = &c->run->conf->targets[c->target];
  c->state = CLIENT_CONNECTING;
  c->sent = c->run->now;
  c->fd = socket(target->address.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (c->fd < 0) {
    client_lost(c, "no socket");
  } else if (connect(c->fd, (const struct sockaddr *)&target->address, target->address_len) != 0 &&
             errno != EINPROGRESS) {
    client_lost(c, "cannot connect");
  } else if (!client_register(c)) {
    client_lost(c, "no socket");
  }
}

static void client_write(struct run_client *c)
{
  while (c->out_sent < c->out.len) {
    ssize_t n = send(c->fd, c->out.data + c->out_sent, c->out.len - c->out_sent, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) return;
    if (n < 0) {
      client_lost(c, "connection reset");
      return;
    }
    c->out_sent += (size_t)n;
  }
  c->state = CLIENT_WAITING;
}

static void client_send(struct run_client *c)
{
  if (c->fd < 0) {
    client_connect(c);
    return;
  }
  click_render(&c->run->conf->plan, &c->run->conf->targets[c->target].head, &c->click, &c->out);
  c->out_sent = 0;
  c->tries++;
  c->run->tally.sent++;
  c->sent = c->run->now;
  c->state = CLIENT_SENDING;
  client_write(c);
}

static void client_connected(struct run_client *c)
{
  int error = 0;
  socklen_t len = sizeof error;
  if (getsockopt(c->fd, SOL_SOCKET, SO_ERROR, &error, &len) != 0 || error != 0)
    client_lost(c, "cannot connect");
  else
    client_send(c);
}

void run_client_on_event(struct run_client *c, uint32_t events)
{
  if (c->fd < 0) return;  // an event of a connection that this turn has closed already
  if (c->state == CLIENT_CONNECTING) {
    if (events & (EPOLLOUT | EPOLLERR | EPOLLHUP)) client_connected(c);
    return;
  }
  if (c->state == CLIENT_SENDING && (events & EPOLLOUT)) client_write(c);
  if (c->fd >= 0 && (events & (EPOLLIN | EPOLLRDHUP | EPOLLERR | EPOLLHUP))) client_read(c);
}

void run_client_on_timeout(struct run_client *c)
{
  if (c->state == CLIENT_CONNECTING)
    client_lost(c, "connect time-out");
  else
    client_lost(c, "answer time-out");
}

void run_client_on_pause_over(struct run_client *c)
{
  if (c->has_click)
    client_send(c);
  else
    run_client_is_free(c);
}

void run_client_begin(struct run_client *c, struct mono_time due)
{
  struct run *run = c->run;
  click_make(&run->conf->plan, run->conf->first_number + run->made, &c->click);
  run->made++;
  run->tally.clicks++;
  c->begun = due;
  c->tries = 0;
  c->has_click = true;
  client_send(c);
}
