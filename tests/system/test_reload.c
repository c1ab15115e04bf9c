// SPDX-License-Identifier: Apache-2.0
// SIGHUP: a valid configuration is taken, a broken one is named and keeps the old one whole, while claims go on.
// Field case B92.
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <signal.h>
#include <unistd.h>

#include "common/mem.h"
#include "common/text.h"
#include "tests/support/claims.h"
#include "tests/support/stack.h"
#include "tests/support/support.h"

struct house {
  struct stack *s;
  char *config;
};

static void write_config(const struct house *h, const char *sweep_after, const char *more)
{
  FILE *f = fopen(h->config, "we");
  if (f == NULL) support_die("cannot write %s", h->config);
  (void)fprintf(f,
                "scheduler:\n"
                "  claims:\n"
                "    sweep_after: %s\n"
                "%s"
                "fulfiller:\n"
                "  providers:\n"
                "    simulator: { base_url: \"http://127.0.0.1:1\" }\n"
                "    simulator-b: { base_url: \"http://127.0.0.1:1\" }\n",
                sweep_after, more);
  if (fclose(f) != 0) support_die("cannot write %s", h->config);
}

static int set_up(void **state)
{
  static struct house h;
  char *dir = support_log_dir();
  h.config = support_format("%s/largesse.yaml", dir);
  write_config(&h, "7s", "");
  struct stack_options options = {
      .no_fulfiller = true, .no_reconciler = true, .no_simulator = true, .config = h.config};
  h.s = stack_start(server_start(), &options);
  mem_free(dir);
  *state = &h;
  return 0;
}

static int tear_down(void **state)
{
  struct house *h = *state;
  struct server *server = h->s->server;
  stack_free(h->s);
  server_free(server);
  mem_free(h->config);
  return 0;
}

static size_t times_in_log(struct process *p, const char *text)
{
  struct buf log;
  size_t n = 0;
  buf_init(&log, 256 * 1024 * 1024);
  process_read_log(p, &log);
  for (const char *at = buf_text(&log); (at = strstr(at, text)) != NULL; at++) n++;
  buf_release(&log);
  return n;
}

// How far ahead a new claim's first look by the sweeper lies: what scheduler.claims.sweep_after is now.
static double sweep_after(struct house *h, int64_t user)
{
  struct claim_click click = claim_click(h->s->scheduler_ports[0], "reload", user, "reload-%lld", (long long)user);
  char *body = claim_body(&click);
  json_t *claim = NULL;
  assert_int_equal(http_json(click.port, "POST", "/v1/claims", body, &claim), 201);
  const char *from = json_string_value(json_object_get(claim, "createdAt"));
  const char *to = json_string_value(json_object_get(json_object_get(claim, "delivery"), "nextAttemptAt"));
  struct wall_time begin, end;
  assert_true(from != NULL && to != NULL);
  assert_int_equal(text_to_time(from, strlen(from), &begin), RESULT_OK);
  assert_int_equal(text_to_time(to, strlen(to), &end), RESULT_OK);
  json_decref(claim);
  mem_free(body);
  return (double)(end.us - begin.us) / 1e6;
}

static void a_broken_configuration_keeps_the_old_one_whole(void **state)
{
  struct house *h = *state;
  struct process *p = h->s->schedulers[0];
  // Each also changes sweep_after, which must not get through.
  static const struct {
    const char *more, *named;
  } broken[] = {{"    color: red\n", "color"},
                {"    sweep_after: 12s\n", "sweep_after"},
                {"    batch_max_rows: many\n", "batch_max_rows"},
                {"    batch_max_rows: 0\n", "batch_max_rows"},
                {"\tqueue_max: 10\n", ":4"},
                {"    queue_max: [1, 2]\n", "queue_max"},
                {"  - claims\n", ":4"}};
  activity_make(h->s->sql, &(struct activity_terms){.code = "reload", .stock = 100});
  assert_true(sweep_after(h, 1) == 7);
  size_t rejected = times_in_log(p, "config.rejected");
  for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
    size_t named = times_in_log(p, broken[i].named);
    write_config(h, "11s", broken[i].more);
    process_signal(p, SIGHUP);
    WAIT_FOR(times_in_log(p, "config.rejected") == rejected + i + 1, 10);
    assert_true(times_in_log(p, broken[i].named) > named);
    assert_true(sweep_after(h, (int64_t)i + 2) == 7);
  }
  assert_int_equal(unlink(h->config), 0);
  process_signal(p, SIGHUP);
  WAIT_FOR(times_in_log(p, "config.rejected") == rejected + sizeof broken / sizeof *broken + 1, 10);
  assert_true(sweep_after(h, 50) == 7);
  assert_int_equal(times_in_log(p, "config.reloaded"), 0);
  write_config(h, "9s", "    batch_max_rows: 17\n");
  process_signal(p, SIGHUP);
  WAIT_FOR(times_in_log(p, "config.reloaded") == 1, 10);
  assert_true(sweep_after(h, 51) == 9);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_broken_configuration_keeps_the_old_one_whole),
  };
  return cmocka_run_group_tests_name("reload", tests, set_up, tear_down);
}
