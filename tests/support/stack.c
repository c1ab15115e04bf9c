// SPDX-License-Identifier: Apache-2.0
// Daemons of a test, wired together; see stack.h.
#include "tests/support/stack.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "common/mem.h"
#include "tests/support/exchange.h"
#include "tests/support/support.h"

#define ENV_OWN              9
#define COMMAND_ERRORS_BYTES (256 * 1024)
#define COMMAND_SECONDS      120
#define COMMAND_ARGS_MAX     32

static size_t count_of(const char *const *list)
{
  size_t n = 0;
  while (list != NULL && list[n] != NULL) n++;
  return n;
}

// What the simulator signs its callbacks with, and the fulfiller verifies; for this run only.
static void make_secret(struct stack *s)
{
  unsigned char bytes[24];
  char text[2 * sizeof bytes + 1];
  char *dir = support_log_dir();
  s->callback_secret = support_format("%s/callback-secret-%d", dir, s->simulator_port);
  int fd = open(s->callback_secret, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes) support_die("no random bytes");
  for (size_t i = 0; i < sizeof bytes; i++) (void)snprintf(text + 2 * i, 3, "%02x", bytes[i]);
  if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text) || close(fd) != 0)
    support_die("cannot write %s", s->callback_secret);
  mem_free(dir);
}

static void fill_env(struct stack *s, const struct stack_options *o)
{
  size_t more = count_of(o->env), n = 0;
  char *conninfo = server_conninfo(s->server, s->database);
  s->env = MEM_ARRAY(char *, ENV_OWN + more + 1);
  s->env[n++] = support_format("LARGESSE_DATABASE__CONNINFO=%s", conninfo);
  s->env[n++] = support_format("LARGESSE_BROKER__URL=%s", s->broker_url);
  s->env[n++] =
      support_format("LARGESSE_FULFILLER__PROVIDERS__SIMULATOR__BASE_URL=http://127.0.0.1:%d", s->simulator_port);
  s->env[n++] =
      support_format("LARGESSE_FULFILLER__PROVIDERS__SIMULATOR_B__BASE_URL=http://127.0.0.1:%d", s->simulator_port);
  static const char *const names[] = {"SIMULATOR", "SIMULATOR_B"};
  for (size_t i = 0; i < 2; i++) {
    s->env[n++] = support_format("LARGESSE_FULFILLER__PROVIDERS__%s__CALLBACK__PROFILE=standard_webhooks", names[i]);
    s->env[n++] = support_format("LARGESSE_FULFILLER__PROVIDERS__%s__CALLBACK__SECRETS={stack: '%s'}", names[i],
                                 s->callback_secret);
  }
  s->env[n++] = mem_strdup("LARGESSE_LOG__LEVEL=debug");
  for (size_t i = 0; i < more; i++) s->env[n++] = mem_strdup(o->env[i]);
  mem_free(conninfo);
}

// The stack's environment with `more` on top; the array is the caller's, its entries are borrowed.
static const char **env_with(const struct stack *s, const char *const *more)
{
  size_t own = count_of((const char *const *)s->env), further = count_of(more);
  const char **env = MEM_ARRAY(const char *, own + further + 1);
  for (size_t i = 0; i < own; i++) env[i] = s->env[i];
  for (size_t i = 0; i < further; i++) env[own + i] = more[i];
  return env;
}

static struct process *start_daemon(struct stack *s, const char *name, const char *label, const char *section, int port)
{
  char *bin = support_bin(name), *listen = support_format("LARGESSE_%s__LISTEN=127.0.0.1:%d", section, port);
  const char **env = env_with(s, (const char *[]){listen, NULL});
  exchange_daemon(port, name);
  struct process *p = process_start(&(struct process_spec){
      .name = label, .argv = (const char *[]){bin, "-c", s->config, "serve", NULL}, .env = env, .ready_port = port});
  mem_free(env);
  mem_free(listen);
  mem_free(bin);
  return p;
}

void stack_start_scheduler(struct stack *s, int index)
{
  char label[32];
  (void)snprintf(label, sizeof label, "scheduler-%d", index);
  process_free(s->schedulers[index]);
  s->schedulers[index] = start_daemon(s, "scheduler", label, "SCHEDULER", s->scheduler_ports[index]);
}

void stack_start_fulfiller(struct stack *s)
{
  process_free(s->fulfiller);
  s->fulfiller = start_daemon(s, "fulfiller", "fulfiller", "FULFILLER", s->fulfiller_port);
}

void stack_start_reconciler(struct stack *s)
{
  process_free(s->reconciler);
  s->reconciler = start_daemon(s, "reconciler", "reconciler", "RECONCILER", s->reconciler_port);
}

void stack_start_simulator(struct stack *s)
{
  process_free(s->simulator);
  char *bin = support_bin("simulator"), *listen = support_format("127.0.0.1:%d", s->simulator_port);
  char *callback = support_format("http://127.0.0.1:%d/v1/callbacks/simulator", s->fulfiller_port);
  s->simulator =
      process_start(&(struct process_spec){.name = "simulator",
                                           .argv = (const char *[]){bin, "--listen", listen, "--callback-url", callback,
                                                                    "--secret-file", s->callback_secret, NULL},
                                           .ready_port = s->simulator_port,
                                           .ready_path = "/sim/stats"});
  mem_free(callback);
  mem_free(listen);
  mem_free(bin);
}

struct process *stack_start_another(struct stack *s, const char *name)
{
  char label[40], section[24];
  (void)snprintf(label, sizeof label, "%s-more", name);
  (void)snprintf(section, sizeof section, "%s", name);
  for (char *c = section; *c != '\0'; c++) *c = (char)toupper((unsigned char)*c);
  return start_daemon(s, name, label, section, server_free_port(s->server));
}

static void install_test_clock(struct stack *s)
{
  char *root = support_root(), *path = support_format("%s/tests/support/test_clock.sql", root);
  FILE *f = fopen(path, "re");
  char script[16384];
  size_t len = f == NULL ? 0 : fread(script, 1, sizeof script - 1, f);
  if (len == 0) support_die("cannot read %s", path);
  (void)fclose(f);
  script[len] = '\0';
  sql_exec(s->sql, "%s", script);
  mem_free(path);
  mem_free(root);
}

static void choose_ports(struct stack *s)
{
  for (int i = 0; i < s->scheduler_count; i++) s->scheduler_ports[i] = server_free_port(s->server);
  s->fulfiller_port = server_free_port(s->server);
  s->reconciler_port = server_free_port(s->server);
  s->simulator_port = server_free_port(s->server);
}

struct stack *stack_start(struct server *server, const struct stack_options *options)
{
  static const struct stack_options plain;
  const struct stack_options *o = options == NULL ? &plain : options;
  struct stack *s = MEM_NEW(struct stack);
  char *root = support_root();
  s->server = server;
  s->scheduler_count = o->schedulers == STACK_NONE ? 0 : o->schedulers == 0 ? 1 : o->schedulers;
  s->config = o->config != NULL ? mem_strdup(o->config) : support_format("%s/config/largesse.yaml", root);
  s->database = server_new_database(server, "test");
  s->broker_url = server_new_broker_url(server);
  s->sql = server_open(server, s->database);
  choose_ports(s);
  make_secret(s);
  fill_env(s, o);
  if (o->test_clock) install_test_clock(s);
  if (!o->no_simulator) stack_start_simulator(s);
  for (int i = 0; i < s->scheduler_count; i++) stack_start_scheduler(s, i);
  if (!o->no_fulfiller) stack_start_fulfiller(s);
  if (!o->no_reconciler) stack_start_reconciler(s);
  mem_free(root);
  return s;
}

void stack_free(struct stack *s)
{
  if (s == NULL) return;
  for (int i = 0; i < s->scheduler_count; i++) process_free(s->schedulers[i]);
  process_free(s->fulfiller);
  process_free(s->reconciler);
  process_free(s->simulator);
  sql_close(s->sql);
  for (size_t i = 0; s->env[i] != NULL; i++) mem_free(s->env[i]);
  mem_free(s->env);
  mem_free(s->database);
  mem_free(s->broker_url);
  mem_free(s->config);
  (void)unlink(s->callback_secret);
  mem_free(s->callback_secret);
  mem_free(s);
}

int stack_tear_down(void **state)
{
  struct stack *s = *state;
  struct server *server = s->server;
  stack_free(s);
  server_free(server);
  return 0;
}

int stack_command_env(struct stack *s, const char *name, const char *const *args, const char *const *env,
                      struct buf *out)
{
  const char *argv[COMMAND_ARGS_MAX + 4] = {0};
  size_t n = count_of(args);
  if (n > COMMAND_ARGS_MAX) support_die("too many arguments for %s", name);
  char *bin = support_bin(name);
  argv[0] = bin;
  argv[1] = "-c";
  argv[2] = s->config;
  for (size_t i = 0; i < n; i++) argv[3 + i] = args[i];
  const char **merged = env_with(s, env);
  struct buf errors;
  buf_init(&errors, COMMAND_ERRORS_BYTES);
  int status = process_run(argv, merged, s->command_seconds > 0 ? s->command_seconds : COMMAND_SECONDS, out, &errors);
  if (out != NULL) buf_append(out, buf_text(&errors), errors.len);
  buf_release(&errors);
  mem_free(merged);
  mem_free(bin);
  return status;
}

int stack_command(struct stack *s, const char *name, const char *const *args, struct buf *out)
{
  return stack_command_env(s, name, args, NULL, out);
}
