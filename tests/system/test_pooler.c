// SPDX-License-Identifier: Apache-2.0
// All daemons behind pgbouncer in transaction mode (B74): a server connection serves whoever is next, so a statement
// with a name, or anything else that a session would remember, would meet somebody else's.
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <sys/stat.h>
#include <unistd.h>

#include "common/mem.h"
#include "tests/support/claims.h"
#include "tests/support/delivery.h"
#include "tests/support/http.h"
#include "tests/support/support.h"

#define SCHEDULERS 2
#define CLAIMS     1000
#define AT_ONCE    100

struct rig {
  struct server *server;
  struct stack *stack;
  struct process *pooler;
  int port;
};

// Fewer server connections than any daemon has clients: they take turns all the time.
static char *write_config(const struct rig *rig)
{
  char *dir = support_log_dir(), *path = support_format("%s/pgbouncer.ini", dir);
  FILE *f = fopen(path, "we");
  if (f == NULL) support_die("cannot write %s", path);
  (void)fprintf(
      f,
      "[databases]\n* = host=127.0.0.1 port=%d user=largesse\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = "
      "%d\nauth_type = any\npool_mode = transaction\ndefault_pool_size = 3\nmax_client_conn = 200\n"
      "unix_socket_dir =\nlog_connections = 0\nlog_disconnections = 0\n",
      server_pg_port(rig->server), rig->port);
  if (fclose(f) != 0 || chmod(path, 0644) != 0) support_die("cannot write %s", path);
  mem_free(dir);
  return path;
}

static bool takes_connections(int port)
{
  int fd = http_connect(port);
  if (fd >= 0) (void)close(fd);
  return fd >= 0;
}

// It refuses to run as root.
static void start_pooler(struct rig *rig)
{
  char *config = write_config(rig);
  const char *as_root[] = {"/usr/sbin/pgbouncer", "-u", "postgres", config, NULL},
             *as_user[] = {"/usr/sbin/pgbouncer", config, NULL};
  rig->pooler = process_spawn(&(struct process_spec){.name = "pgbouncer", .argv = geteuid() == 0 ? as_root : as_user});
  for (struct waiting w = waiting_start(20); !takes_connections(rig->port);) {
    if (process_is_alive(rig->pooler) && waiting_more(&w)) continue;
    process_show_log(rig->pooler, 20);
    support_die("pgbouncer does not serve");
  }
  mem_free(config);
}

static void set_env(struct stack *s, char *setting)
{
  size_t count = 0;
  while (s->env[count] != NULL) count++;
  s->env = mem_resize(s->env, count + 2, sizeof *s->env);
  s->env[count] = setting;
  s->env[count + 1] = NULL;
}

// The daemons come after the pooler knows their database.
static int set_up(void **state)
{
  static struct rig rig;
  rig.server = server_start();
  rig.port = server_free_port(rig.server);
  start_pooler(&rig);
  rig.stack = delivery_stack(
      rig.server, &(struct stack_options){.schedulers = STACK_NONE, .no_fulfiller = true, .no_reconciler = true});
  struct stack *s = rig.stack;
  set_env(s, support_format("LARGESSE_DATABASE__CONNINFO=host=127.0.0.1 port=%d user=largesse dbname=%s", rig.port,
                            s->database));
  set_env(s, mem_strdup("LARGESSE_DATABASE__POOLER=true"));
  s->scheduler_count = SCHEDULERS;
  for (int i = 0; i < SCHEDULERS; i++) {
    s->scheduler_ports[i] = server_free_port(rig.server);
    stack_start_scheduler(s, i);
  }
  stack_start_fulfiller(s);
  stack_start_reconciler(s);
  *state = &rig;
  return 0;
}

static int tear_down(void **state)
{
  struct rig *rig = *state;
  stack_free(rig->stack);
  process_free(rig->pooler);
  server_free(rig->server);
  return 0;
}

static int64_t open_claims(struct stack *s)
{
  return sql_int(s->sql, "select count(*) from largesse.claim where status = 'issuing'");
}

static void a_thousand_claims_go_through(void **state)
{
  struct rig *rig = *state;
  struct stack *s = rig->stack;
  static struct claim_click clicks[AT_ONCE];
  static struct claim_answer answers[AT_ONCE];
  activity_make(s->sql, &(struct activity_terms){.code = "pooled", .stock = CLAIMS});
  for (int64_t user = 1; user <= CLAIMS; user += AT_ONCE) {
    for (int64_t i = 0; i < AT_ONCE; i++)
      clicks[i] = claim_click(s->scheduler_ports[i % SCHEDULERS], "pooled", user + i, "p-%lld", (long long)(user + i));
    claim_send_all(clicks, AT_ONCE, answers);
    assert_int_equal(claim_count(answers, AT_ONCE, 201, NULL), AT_ONCE);
  }
  assert_int_equal(activity_claims(s->sql, "pooled"), CLAIMS);
  WAIT_FOR(open_claims(s) == 0, 60);
  DELIVERY_BOOKS_AGREE(s);
  assert_int_equal(activity_remaining(s->sql, "pooled"), 0);
}

static void commands_work_too(void **state)
{
  struct rig *rig = *state;
  struct buf out;
  buf_init(&out, 1024 * 1024);
  int status = stack_command(rig->stack, "reconciler", (const char *[]){"audit", "--all", NULL}, &out);
  if (status != 0) fail_msg("audit: %d\n%s", status, buf_text(&out));
  status = stack_command(rig->stack, "scheduler", (const char *[]){"activity", "show", "pooled", NULL}, &out);
  if (status != 0) fail_msg("activity show: %d\n%s", status, buf_text(&out));
  buf_release(&out);
}

static void nobody_met_a_statement_of_somebody_else(void **state)
{
  struct rig *rig = *state;
  struct stack *s = rig->stack;
  struct process *all[] = {s->schedulers[0], s->schedulers[1], s->fulfiller, s->reconciler, rig->pooler};
  // As the fields and words of a line: five digits alone also stand in trace ids and in instants.
  static const char *const faults[] = {"sqlstate=42P05", "sqlstate=26000", "prepared statement",
                                       "unsupported startup parameter"};
  for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
    for (size_t j = 0; j < sizeof faults / sizeof faults[0]; j++) {
      if (process_log_has(all[i], faults[j])) fail_msg("%s stands in %s", faults[j], process_log_path(all[i]));
    }
    assert_true(process_is_alive(all[i]));
  }
  // They did share: fewer sessions than daemons would hold.
  assert_true(sql_int(s->sql,
                      "select count(*) from pg_stat_activity where datname = current_database() and pid <> "
                      "pg_backend_pid()") <= 3);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_thousand_claims_go_through),
      cmocka_unit_test(commands_work_too),
      cmocka_unit_test(nobody_met_a_statement_of_somebody_else),
  };
  return cmocka_run_group_tests_name("pooler", tests, set_up, tear_down);
}
