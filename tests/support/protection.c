// SPDX-License-Identifier: Apache-2.0
// Two fulfillers and their guards; see protection.h.
#include "tests/support/protection.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/compiler.h"
#include "common/mem.h"
#include "common/text.h"
#include "tests/support/claims.h"
#include "tests/support/http.h"
#include "tests/support/provider_yaml.h"
#include "tests/support/simulator.h"
#include "tests/support/support.h"

#define REQUESTS SIMULATOR_DELIVER("") SIMULATOR_INQUIRE

static const char config[] = SWEEPS_SOON
    "fulfiller:\n"
    "  providers:\n"
    "    simulator:\n" SIMULATOR_ELSEWHERE REQUESTS
    "      total_timeout: 500ms\n"
    "      connect_timeout: 400ms\n"
    "      not_found_after: 500ms\n"
    "      ladder: [300ms, 1s]\n"
    "      attempts: 30\n"
    "      concurrency: 8\n"
    "      prefetch: 64\n"
    "      breaker: { window: 2s, min_calls: 6, failure_ratio: 50, open_for: 500ms, open_max: 2s }\n"
    "    simulator-b:\n" SIMULATOR_ELSEWHERE REQUESTS
    "      total_timeout: 4s\n"
    "      connect_timeout: 1s\n"
    "      not_found_after: 4s\n"
    "      ladder: [1s, 4s]\n"
    "      attempts: 6\n"
    "      concurrency: 64\n"
    "      prefetch: 50\n"
    "      breaker: { failure_ratio: 0 }\n"
    "    nowhere:\n"
    "      base_url: http://127.0.0.1:%d\n" REQUESTS
    "      total_timeout: 3s\n"
    "      connect_timeout: 1s\n"
    "      not_found_after: 3s\n"
    "      ladder: [3s]\n"
    "      attempts: 30\n"
    "      breaker: { failure_ratio: 0 }\n"
    "    hanging:\n"
    "      base_url: http://127.0.0.1:%d\n" REQUESTS
    "      total_timeout: 3s\n"
    "      connect_timeout: 1s\n"
    "      not_found_after: 3s\n"
    "      ladder: [500ms, 3s]\n"
    "      attempts: 1000\n"
    "      concurrency: 64\n"
    "      breaker: { failure_ratio: 0 }\n";

// --- ports that take no connection, or never answer

// The kernel completes connections up to the queue's length; nobody takes them from there.
static struct sockaddr_in open_mute(int *out_fd, int queue)
{
  struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t size = sizeof at;
  int fd = socket(AF_INET, SOCK_STREAM, 0);
  if (fd < 0 || bind(fd, (struct sockaddr *)&at, sizeof at) != 0 || listen(fd, queue) != 0 ||
      getsockname(fd, (struct sockaddr *)&at, &size) != 0)
    support_die("no port for a provider that never answers");
  *out_fd = fd;
  return at;
}

// Linux drops the SYN when the queue is full, so connecting hangs; no root and no network is needed.
static int open_black_hole(int fds[2])
{
  struct sockaddr_in at = open_mute(&fds[0], 0);
  fds[1] = socket(AF_INET, SOCK_STREAM, 0);
  if (fds[1] < 0 || connect(fds[1], (struct sockaddr *)&at, sizeof at) != 0)
    support_die("the queue of the provider that nobody reaches cannot be filled");
  return ntohs(at.sin_port);
}

// --- the stack

static int port_in_log(struct process *p)
{
  static const char mark[] = "http.server_started address=127.0.0.1 port=";
  struct buf log;
  buf_init(&log, 64 * 1024 * 1024);
  process_read_log(p, &log);
  const char *at = NULL;  // the last one: an earlier process of this name wrote into the same log
  for (const char *next = buf_text(&log); (next = strstr(next, mark)) != NULL; next++) at = next;
  int64_t port = 0;
  if (at != NULL) at += sizeof mark - 1;
  bool is_there = at != NULL && text_to_i64(at, strspn(at, "0123456789"), &port) == RESULT_OK;
  buf_release(&log);
  if (!is_there) support_die("the second fulfiller does not say where it listens");
  return (int)port;
}

void protection_start_second(struct protection_rig *rig)
{
  process_free(rig->second);
  rig->second = stack_start_another(rig->stack, "fulfiller");
  rig->second_port = port_in_log(rig->second);
}

int protection_set_up(void **state)
{
  struct protection_rig *rig = MEM_NEW(struct protection_rig);
  rig->server = server_start();
  int black_port = open_black_hole(rig->black_hole);
  char *path = support_write("protection.yaml", config, black_port, ntohs(open_mute(&rig->mute, 4096).sin_port));
  rig->stack = stack_start(rig->server, &(struct stack_options){.config = path});
  protection_heal(rig->stack);
  protection_start_second(rig);
  rig->broker = broker_open(rig->stack->broker_url);
  mem_free(path);
  *state = rig;
  return 0;
}

int protection_tear_down(void **state)
{
  struct protection_rig *rig = *state;
  broker_close(rig->broker);
  process_free(rig->second);
  stack_free(rig->stack);
  server_free(rig->server);
  (void)close(rig->mute);
  (void)close(rig->black_hole[1]);
  (void)close(rig->black_hole[0]);
  mem_free(rig);
  return 0;
}

// --- looking

double protection_metric(int port, const char *series)
{
  struct http_answer a;
  double value = -1;
  char *line = support_format("\n%s ", series);
  http_get(port, "/metrics", &a);
  const char *at = a.status == 200 ? strstr(a.body, line) : NULL;
  if (at != NULL) value = strtod(at + strlen(line), NULL);
  http_answer_release(&a);
  mem_free(line);
  return value;
}

static bool is_about(double a, double b) { return a > b - 1e-9 && a < b + 1e-9; }

bool protection_both(struct protection_rig *rig, const char *series, double value)
{
  return is_about(protection_metric(rig->stack->fulfiller_port, series), value) &&
         is_about(protection_metric(rig->second_port, series), value);
}

int64_t protection_count(struct stack *s, const char *activity, const char *condition)
{
  return sql_int(s->sql,
                 "select count(*) from largesse.claim c join largesse.activity a on a.id = c.activity_id where a.code "
                 "= '%s' and (%s)",
                 activity, condition);
}

// --- doing

void protection_command(struct stack *s, const char *const *args)
{
  const char *all[24] = {"providers"};
  struct buf out;
  for (size_t i = 0; args[i] != NULL && i < ARRAY_LEN(all) - 2; i++) all[i + 1] = args[i];
  buf_init(&out, 65536);
  int status = stack_command(s, "fulfiller", all, &out);
  if (status != 0) support_die("providers %s ended with %d: %s", args[0], status, buf_text(&out));
  buf_release(&out);
}

void protection_claims(struct stack *s, const char *activity, int64_t first_user, int count)
{
  for (int i = 0; i < count; i++) (void)delivery_claim(s, activity, first_user + i);
}

double protection_p99_ms(struct stack *s, const char *activity, const char *provider, int per_second, double seconds)
{
  int count = (int)(per_second * seconds);
  activity_make(s->sql, &(struct activity_terms){.code = activity, .stock = count, .provider = provider});
  double begin = support_now();
  for (int i = 0; i < count; i++) {
    double due = begin + (double)i / per_second, now = support_now();
    if (due > now) support_sleep(due - now);
    (void)delivery_claim(s, activity, 1 + i);
  }
  struct waiting w = waiting_start(30);
  while (protection_count(s, activity, "c.status = 'succeeded'") < count && waiting_more(&w)) {}
  if (protection_count(s, activity, "c.status = 'succeeded'") < count)
    support_die("not all of %s are delivered", activity);
  return (double)sql_int(s->sql,
                         "select (percentile_cont(0.99) within group (order by extract(epoch from c.updated_at - "
                         "c.created_at)) * 1000000)::bigint"
                         "  from largesse.claim c join largesse.activity a on a.id = c.activity_id where a.code = '%s'",
                         activity) /
         1000;
}

void protection_heal(struct stack *s)
{
  simulator_reset(s->simulator_port);
  simulator_config(s->simulator_port, "{\"dedupe\":false}");
}
