// SPDX-License-Identifier: Apache-2.0
// A rig for tests of common/mq; see mq_probe.h.
#include "tests/support/mq_probe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/daemon_tables.h"
#include "common/limits.h"
#include "common/log.h"
#include "common/mem.h"
#include "common/metric.h"
#include "common/text.h"
#include "tests/support/support.h"

#define LOG_READ_MAX (1024 * 1024)

void mq_rig_init(struct mq_rig *rig, char *url)
{
  *rig = (struct mq_rig){.log_fd = memfd_create("log", MFD_CLOEXEC)};
  if (rig->log_fd < 0) support_die("memfd_create");
  rig->rt.loop = loop_new();
  rig->rt.log = log_new("test", log_events, ARRAY_LEN(log_events), rig->log_fd);
  rig->rt.metrics = metric_set_new(metric_defs, ARRAY_LEN(metric_defs));
  rig->conf = (struct mq_conf){.url = url,
                               .heartbeat = span_s(5),
                               .connect_timeout = span_s(5),
                               .reconnect_max = span_ms(500),
                               .ring_max = 4096};
}

static void read_log(struct mq_rig *rig, struct buf *out)
{
  log_flush(rig->rt.log);
  char part[4096];
  ssize_t n;
  for (off_t at = 0; (n = pread(rig->log_fd, part, sizeof part, at)) > 0; at += n) buf_append(out, part, (size_t)n);
}

void mq_rig_release(struct mq_rig *rig)
{
  struct buf text;
  buf_init(&text, LOG_READ_MAX);
  read_log(rig, &text);
  if (getenv("LARGESSE_TEST_VERBOSE") != NULL) fputs(buf_text(&text), stderr);
  buf_release(&text);
  loop_free(rig->rt.loop);
  metric_set_free(rig->rt.metrics);
  log_free(rig->rt.log);
  close(rig->log_fd);
}

int mq_rig_count_log(struct mq_rig *rig, const char *text)
{
  struct buf all;
  buf_init(&all, LOG_READ_MAX);
  read_log(rig, &all);
  int count = 0;
  for (const char *line = buf_text(&all); line != NULL && *line != '\0';) {
    const char *end = strchr(line, '\n');
    size_t len = end != NULL ? (size_t)(end - line) : strlen(line);
    if (memmem(line, len, text, strlen(text)) != NULL) count++;
    line = end != NULL ? end + 1 : NULL;
  }
  buf_release(&all);
  return count;
}

void mq_rig_show_log(struct mq_rig *rig)
{
  struct buf all;
  buf_init(&all, LOG_READ_MAX);
  read_log(rig, &all);
  (void)fputs(buf_text(&all), stderr);
  buf_release(&all);
}

double mq_rig_metric(struct mq_rig *rig, const char *line_start)
{
  struct buf page;
  buf_init(&page, METRIC_PAGE_BYTES_MAX);
  buf_putc(&page, '\n');
  metric_render(rig->rt.metrics, &page);
  char *needle = support_format("\n%s", line_start);
  const char *at = strstr(buf_text(&page), needle);
  const char *space = at != NULL ? strchr(at + strlen(needle) - 1, ' ') : NULL;
  double value = space != NULL ? strtod(space + 1, NULL) : -1;
  mem_free(needle);
  buf_release(&page);
  return value;
}

void mq_rig_turn(struct mq_rig *rig) { loop_turn(rig->rt.loop, span_ms(5)); }

struct mq_publisher *mq_rig_publisher(struct mq_rig *rig)
{
  struct mq_publisher *p = mq_publisher_new(&rig->rt, &rig->conf, "test-publisher");
  MQ_WAIT(rig, mq_publisher_is_up(p), 15);
  return p;
}

struct mq_consumer *mq_rig_consumer(struct mq_rig *rig)
{
  struct mq_consumer *c = mq_consumer_new(&rig->rt, &rig->conf, "test-consumer");
  MQ_WAIT(rig, mq_consumer_is_up(c), 15);
  return c;
}

int mq_outcomes_total(const struct mq_outcomes *o) { return o->confirmed + o->returned + o->nacked + o->lost; }

void mq_on_outcome(void *outcomes, enum mq_outcome outcome)
{
  struct mq_outcomes *o = outcomes;
  switch (outcome) {
    case MQ_CONFIRMED: o->confirmed++; return;
    case MQ_RETURNED: o->returned++; return;
    case MQ_NACKED: o->nacked++; return;
    case MQ_LOST: o->lost++; return;
  }
  support_die("outcome %d", (int)outcome);
}

bool mq_send_number(struct mq_publisher *p, const char *exchange, const char *key, int n, mq_outcome_fn *on_outcome,
                    void *ctx)
{
  char body[32];
  int len = snprintf(body, sizeof body, "%d", n);
  struct mq_message m = {.exchange = exchange,
                         .routing_key = key,
                         .body = body,
                         .body_len = (size_t)len,
                         .content_type = "text/plain",
                         .message_id = body};
  enum result r = mq_publish(p, &m, on_outcome, ctx);
  if (r != RESULT_OK && r != RESULT_FULL) support_die("mq_publish: %s", result_text(r));
  return r == RESULT_OK;
}

void mq_on_delivery(void *received, const struct mq_delivery *d)
{
  struct mq_received *r = received;
  int32_t n;
  if (text_to_i32(d->body, d->body_len, &n) == RESULT_OK && n >= 0 && n < MQ_HELD_MAX) r->seen[n]++;
  if (d->redelivered) r->redelivered++;
  snprintf(r->message_id, sizeof r->message_id, "%s", d->message_id);
  snprintf(r->traceparent, sizeof r->traceparent, "%s", d->traceparent);
  snprintf(r->body, sizeof r->body, "%.*s", (int)d->body_len, d->body);
  if (!r->hold)
    mq_ack(r->consumer, d->tag);
  else if (r->count < MQ_HELD_MAX)
    r->held[r->count] = d->tag;
  r->count++;
}

void mq_on_depth(void *depth, enum result r, uint64_t messages)
{
  struct mq_depth *d = depth;
  *d = (struct mq_depth){.calls = d->calls + 1, .result = r, .messages = messages};
}

struct mq_depth mq_rig_depth(struct mq_rig *rig, struct mq_publisher *p, const char *queue)
{
  struct mq_depth d = {0};
  if (mq_publisher_depth(p, queue, mq_on_depth, &d) != RESULT_OK) support_die("mq_publisher_depth: full");
  MQ_WAIT(rig, d.calls > 0, 20);
  return d;
}
