// SPDX-License-Identifier: Apache-2.0
// Random calls over all kinds of activity, compared step by step with a model in memory that knows the requirements and
// not the SQL. `make chaos` takes a million steps, in parts that each begin with an empty database and a seed of their
// own: the model looks at all claims for every figure.
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
#include "tests/support/model_run.h"
#include "tests/support/server.h"
#include "tests/support/support.h"

#define STEPS       6000  // of one part
#define STEPS_CHAOS 1000000

static uint64_t number_of(const char *name, uint64_t otherwise)
{
  const char *given = getenv(name);
  uint64_t number = otherwise;
  if (given != NULL && text_to_u64(given, strlen(given), &number) != RESULT_OK)
    support_die("%s must be a number", name);
  return number;
}

static void run_part(struct server *server, uint64_t seed, uint64_t steps)
{
  char *database = server_new_database(server, "model");
  struct sql *sql = server_open(server, database);
  print_message("seed %llu, %llu steps\n", (unsigned long long)seed, (unsigned long long)steps);
  sql_file(sql, "tests/support/model.sql");
  sql_exec(sql, "set synchronous_commit = off");
  struct model_run *run = MEM_NEW(struct model_run);
  double begin = support_now();
  model_run(run, sql, seed, steps);
  print_message("%.1f s: %zu activities, %llu claims accepted, %llu refused, %llu known, %llu moves, %llu dry runs\n",
                support_now() - begin, run->m.activity_count, (unsigned long long)run->accepted,
                (unsigned long long)run->refused, (unsigned long long)run->known, (unsigned long long)run->moves,
                (unsigned long long)run->dry_runs);
  if (steps == STEPS) assert_true(run->accepted > steps / 20 && run->refused > steps / 20 && run->moves > steps / 20);
  model_run_release(run);
  mem_free(run);
  sql_close(sql);
  mem_free(database);
}

static void every_step_is_what_the_requirements_say(void **state)
{
  uint64_t seed = number_of("LARGESSE_SEED", (uint64_t)time(NULL));
  uint64_t steps = number_of("LARGESSE_STEPS", getenv("LARGESSE_CHAOS") != NULL ? STEPS_CHAOS : STEPS);
  for (uint64_t done = 0; done < steps; done += STEPS)
    run_part(*state, seed++, steps - done < STEPS ? steps - done : STEPS);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(every_step_is_what_the_requirements_say)};
  return cmocka_run_group_tests(tests, server_set_up, server_tear_down);
}
