// SPDX-License-Identifier: Apache-2.0
// Every kind of transaction against every other, in several sessions at once on few activities, users, numbers, one
// group and one event: none waits for another in a circle, and the books are exact afterwards. Longer in `make chaos`.
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "common/mem.h"
#include "common/text.h"
#include "tests/support/server.h"
#include "tests/support/support.h"

#define SESSIONS      6
#define SECONDS       4
#define SECONDS_CHAOS 60
#define REPEATS_MAX   20

// A call and how often it is chosen.
static const struct call {
  const char *query, *then;  // then: repeated while it returns more than 0
  int weight;
} calls[] = {
    {"select probe.claim()", NULL, 22},
    {"select probe.queue_step()", NULL, 4},
    {"select probe.cancel()", NULL, 10},
    {"select probe.accept()", NULL, 6},
    {"select probe.expire()", NULL, 8},
    {"select probe.adjust()", NULL, 5},
    {"select probe.grant()", NULL, 2},
    {"select probe.grant_many()", NULL, 2},
    {"select probe.callback()", NULL, 8},
    {"select probe.operate()", NULL, 3},
    {"select probe.review()", NULL, 1},
    {"select probe.operation_step()", NULL, 4},
    {"select probe.sweep()", NULL, 2},
    {"select probe.pause()", NULL, 1},
    {"select probe.repair()", NULL, 6},
    {"select probe.look()", NULL, 4},
    {"select probe.take('2 s')", "select probe.settle()", 22},
};
#define CALLS (sizeof calls / sizeof *calls)

struct session {
  struct sql *sql;
  pthread_t thread;
  uint64_t random;
  double until;
  size_t counts[CALLS], deadlocks, repeats;
  char fault[400];  // of the first call that failed otherwise
};

static uint64_t draw(struct session *s, uint64_t below)
{
  uint64_t z = s->random += UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return (z ^ (z >> 31)) % below;
}

// As the daemons do it: what met another transaction is repeated.
static bool call(struct session *s, const char *query)
{
  for (int i = 0; i < REPEATS_MAX; i++) {
    const char *state = sql_try(s->sql, "%s", query);
    if (*state == '\0') return true;
    if (strcmp(state, "40P01") == 0)
      s->deadlocks++;
    else if (strcmp(state, "40001") == 0)
      s->repeats++;
    else
      (void)snprintf(s->fault, sizeof s->fault, "%s: %s", query, sql_error(s->sql));
    if (s->fault[0] != '\0') return false;
  }
  (void)snprintf(s->fault, sizeof s->fault, "%s: in vain %d times", query, REPEATS_MAX);
  return false;
}

static const struct call *choose(struct session *s)
{
  int total = 0;
  for (size_t i = 0; i < CALLS; i++) total += calls[i].weight;
  int lot = (int)draw(s, (uint64_t)total);
  size_t i = 0;
  while (lot >= calls[i].weight) lot -= calls[i++].weight;
  s->counts[i]++;
  return &calls[i];
}

static void *work(void *arg)
{
  struct session *s = arg;
  while (support_now() < s->until) {
    const struct call *c = choose(s);
    if (!call(s, c->query)) break;
    if (c->then == NULL) continue;
    do {
      if (!call(s, c->then)) return NULL;
    } while (sql_int(s->sql, "select count(*) from taken") > 0);
  }
  return NULL;
}

static void start(struct session *s, struct server *server, const char *database, uint64_t seed, double seconds)
{
  *s = (struct session){.sql = server_open(server, database), .random = seed, .until = support_now() + seconds};
  sql_exec(s->sql, "set synchronous_commit = off; set deadlock_timeout = '100ms'; select setseed(%u::float / 1000)",
           (unsigned)draw(s, 1000));
  if (pthread_create(&s->thread, NULL, work, s) != 0) support_die("no thread");
}

static uint64_t seed_of_run(void)
{
  const char *given = getenv("LARGESSE_SEED");
  uint64_t seed = (uint64_t)time(NULL);
  if (given != NULL && text_to_u64(given, strlen(given), &seed) != RESULT_OK)
    support_die("LARGESSE_SEED must be a number");
  print_message("seed %llu\n", (unsigned long long)seed);
  return seed;
}

static void all_transactions_meet_all_others(void **state)
{
  struct server *server = *state;
  char *database = server_new_database(server, "parallel");
  struct sql *sql = server_open(server, database);
  struct session sessions[SESSIONS];
  uint64_t seed = seed_of_run();
  sql_file(sql, "tests/support/parallel.sql");
  for (int i = 0; i < SESSIONS; i++)
    start(&sessions[i], server, database, seed + (uint64_t)i,
          getenv("LARGESSE_CHAOS") != NULL ? SECONDS_CHAOS : SECONDS);
  size_t deadlocks = 0, repeats = 0, counts[CALLS] = {0};
  for (int i = 0; i < SESSIONS; i++) {
    (void)pthread_join(sessions[i].thread, NULL);
    if (sessions[i].fault[0] != '\0') print_error("%s\n", sessions[i].fault);
    deadlocks += sessions[i].deadlocks;
    repeats += sessions[i].repeats;
    for (size_t c = 0; c < CALLS; c++) counts[c] += sessions[i].counts[c];
  }
  for (size_t c = 0; c < CALLS; c++) print_message("%6zu %s\n", counts[c], calls[c].query);
  print_message("%zu deadlocks, %zu repeats\n", deadlocks, repeats);
  for (int i = 0; i < SESSIONS; i++) {
    assert_string_equal(sessions[i].fault, "");
    sql_close(sessions[i].sql);
  }
  // Rows of users that nobody has yet are written in the order of users but not locked before: three batches that meet
  // in the same milliseconds may still wait in a circle, which their callers repeat.
  assert_in_range(deadlocks, 0, 1);
  sql_exec(sql, "update largesse.activity set status = 'ongoing' where status = 'paused'");
  while (sql_bool(sql, "select probe.finish()"))
    while (sql_int(sql, "select probe.settle()") > 0) {}
  char *found = sql_text(sql, "select coalesce(probe.audit(), '')");
  assert_string_equal(found, "");
  mem_free(found);
  for (size_t c = 0; c < CALLS; c++) assert_true(counts[c] > 0);
  sql_close(sql);
  mem_free(database);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(all_transactions_meet_all_others)};
  return cmocka_run_group_tests(tests, server_set_up, server_tear_down);
}
