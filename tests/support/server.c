// SPDX-License-Identifier: Apache-2.0
// Servers of the test programs; see server.h. The work is done by tests/support/stack.sh.
#include "tests/support/server.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/mem.h"
#include "common/text.h"
#include "tests/support/http.h"
#include "tests/support/process.h"
#include "tests/support/support.h"

#define PG_OFFSET       32
#define MQ_OFFSET       72
#define LAST_OFFSET     74
#define TEMPLATE        "largesse_template"
#define VHOSTS_PREPARED 40

struct server {
  struct process *own;  // stack.sh servers, if this program started it
  char *root, *home;
  int base;  // LARGESSE_PORT of the servers
  int next_port, next_database, next_vhost;
  bool is_alarmed, is_app_stopped;  // by this program
};

static void wait_for_servers(struct server *s)
{
  struct waiting w = waiting_start(90);
  while (!process_log_has(s->own, "ready\n")) {
    if (process_is_alive(s->own) && waiting_more(&w)) continue;
    process_show_log(s->own, 30);
    support_die("the test servers did not start");
  }
}

static void start_own(struct server *s)
{
  bool is_free = false;
  while (!is_free) {  // all ports from base to base + 74 are looked at by stack.sh again
    s->base = support_free_port(&s->next_port);
    int probe = s->base + MQ_OFFSET;
    int fd = http_connect(probe);
    is_free = fd < 0;
    if (fd >= 0) (void)close(fd);
  }
  s->next_port += LAST_OFFSET + 1;
  char *dir = support_log_dir();
  s->home = support_format("%s/servers-%d", dir, (int)getpid());
  char *script = support_format("%s/tests/support/stack.sh", s->root);
  char *env[] = {support_format("LARGESSE_PORT=%d", s->base), support_format("LARGESSE_HOME=%s", s->home),
                 support_format("LARGESSE_BROKER_VHOSTS=%d", VHOSTS_PREPARED),
                 support_format("LARGESSE_SHARED_BUFFERS=256"), NULL};
  s->own = process_spawn(&(struct process_spec){.name = "servers",
                                                .argv = (const char *[]){script, "servers", NULL},
                                                .env = (const char *const *)env,
                                                .death_signal = SIGTERM});
  wait_for_servers(s);
  for (size_t i = 0; env[i] != NULL; i++) mem_free(env[i]);
  mem_free(script);
  mem_free(dir);
}

struct server *server_start(void)
{
  struct server *s = MEM_NEW(struct server);
  s->root = support_root();
  const char *home = getenv("LARGESSE_TEST_HOME"), *port = getenv("LARGESSE_TEST_PORT");
  if (home == NULL || port == NULL) {
    start_own(s);
    return s;
  }
  int32_t base;
  if (text_to_i32(port, strlen(port), &base) != RESULT_OK) support_die("LARGESSE_TEST_PORT=%s", port);
  s->base = base;
  s->home = mem_strdup(home);
  return s;
}

void server_free(struct server *s)
{
  if (s == NULL) return;
  if (s->own == NULL) server_heal(s);
  if (s->own != NULL && process_stop(s->own, 40) != 0) process_show_log(s->own, 20);
  process_free(s->own);
  mem_free(s->root);
  mem_free(s->home);
  mem_free(s);
}

int server_set_up(void **state)
{
  *state = server_start();
  return 0;
}

int server_tear_down(void **state)
{
  server_free(*state);
  return 0;
}

int server_pg_port(const struct server *s) { return s->base + PG_OFFSET; }
int server_mq_port(const struct server *s) { return s->base + MQ_OFFSET; }
int server_free_port(struct server *s) { return support_free_port(&s->next_port); }

char *server_conninfo(const struct server *s, const char *database)
{
  return support_format("host=127.0.0.1 port=%d user=largesse dbname=%s", server_pg_port(s), database);
}

struct sql *server_open(const struct server *s, const char *database)
{
  char *conninfo = server_conninfo(s, database);
  struct sql *sql = sql_open(conninfo);
  mem_free(conninfo);
  return sql;
}

// A file of the run that programs share, locked until it is closed.
static int open_locked(const struct server *s, const char *name)
{
  char *path = support_format("%s/run/%s", s->home, name);
  int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0 || flock(fd, LOCK_EX) != 0) support_die("%s: %s", path, strerror(errno));
  mem_free(path);
  return fd;
}

static void migrate(struct server *s, const char *database)
{
  char *scheduler = support_bin("scheduler"), *conninfo = server_conninfo(s, database);
  char *env[] = {support_format("LARGESSE_DATABASE__CONNINFO=%s", conninfo), NULL};
  struct buf out;
  buf_init(&out, 1024 * 1024);
  int status = process_run((const char *[]){scheduler, "migrate", NULL}, (const char *const *)env, 120, &out, &out);
  if (status != 0) support_die("scheduler migrate: status %d\n%s", status, buf_text(&out));
  buf_release(&out);
  mem_free(env[0]);
  mem_free(conninfo);
  mem_free(scheduler);
}

// Makes the template once, whoever comes first; the others wait for the lock, which check_sql.sh takes too.
static void make_template(struct server *s)
{
  int lock = open_locked(s, "template");
  struct sql *sql = server_open(s, "postgres");
  if (sql_int(sql, "select count(*) from pg_database where datname = '" TEMPLATE "'") == 0) {
    sql_exec(sql, "drop database if exists " TEMPLATE "_new");
    sql_exec(sql, "create database " TEMPLATE "_new");
    migrate(s, TEMPLATE "_new");
    sql_exec(sql, "alter database " TEMPLATE "_new rename to " TEMPLATE);
  }
  sql_close(sql);
  (void)close(lock);
}

static char *create_database(struct server *s, const char *prefix, const char *from)
{
  char *name = support_format("%s_%d_%d", prefix, (int)getpid(), ++s->next_database);
  struct sql *sql = server_open(s, "postgres");
  sql_exec(sql, "create database %s template %s strategy file_copy", name, from);
  sql_close(sql);
  return name;
}

char *server_new_database(struct server *s, const char *prefix)
{
  make_template(s);
  return create_database(s, prefix, TEMPLATE);
}

char *server_new_empty_database(struct server *s, const char *prefix)
{
  return create_database(s, prefix, "template1");
}

// The next number that no program of this run has taken: the file grows by a byte each time.
static int take_vhost(const struct server *s)
{
  int fd = open_locked(s, "vhost");
  struct stat st;
  if (fstat(fd, &st) != 0 || pwrite(fd, "x", 1, st.st_size) != 1)
    support_die("%s/run/vhost: %s", s->home, strerror(errno));
  (void)close(fd);
  return (int)st.st_size + 1;
}

char *server_new_broker_url(struct server *s)
{
  int n = take_vhost(s);
  if (n > VHOSTS_PREPARED) {
    char *name = support_format("t%d", n);
    server_rabbitmqctl(s, (const char *[]){"add_vhost", name, NULL}, NULL);
    server_rabbitmqctl(s, (const char *[]){"set_permissions", "-p", name, "guest", ".*", ".*", ".*", NULL}, NULL);
    mem_free(name);
  }
  return support_format("amqp://guest:guest@127.0.0.1:%d/t%d", server_mq_port(s), n);
}

void server_rabbitmqctl(struct server *s, const char *const *args, struct buf *out)
{
  const char *argv[16] = {0};
  char *script = support_format("%s/tests/support/stack.sh", s->root);
  char *env[] = {support_format("LARGESSE_PORT=%d", s->base), support_format("LARGESSE_HOME=%s", s->home), NULL};
  argv[0] = script;
  argv[1] = "rabbitmqctl";
  for (size_t i = 0; args[i] != NULL && i < 13; i++) argv[i + 2] = args[i];
  struct buf errors;
  buf_init(&errors, 1024 * 1024);
  int status = process_run(argv, (const char *const *)env, 180, out, &errors);
  if (status != 0) support_die("rabbitmqctl %s: status %d\n%s", args[0], status, buf_text(&errors));
  buf_release(&errors);
  mem_free(env[0]);
  mem_free(env[1]);
  mem_free(script);
}

// --- faults: see tests/support/servers.sh for the protocol
static pid_t read_pid(const struct server *s, const char *name)
{
  char *path = support_format("%s/run/%s.pid", s->home, name), line[32] = "";
  FILE *f = fopen(path, "re");
  int32_t pid = 0;
  if (f != NULL) {
    if (fgets(line, sizeof line, f) == NULL) line[0] = '\0';
    (void)fclose(f);
    line[strcspn(line, "\n")] = '\0';
    if (text_to_i32(line, strlen(line), &pid) != RESULT_OK) pid = 0;
  }
  mem_free(path);
  return pid;
}

static void halt(struct server *s, const char *name, int signal)
{
  char *hold = support_format("%s/run/hold.%s", s->home, name);
  int fd = open(hold, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
  if (fd < 0) support_die("%s: %s", hold, strerror(errno));
  (void)close(fd);
  pid_t pid = read_pid(s, name);
  if (pid <= 0 || kill(pid, signal) != 0) support_die("cannot stop %s (pid %d)", name, (int)pid);
  struct waiting w = waiting_start(60);
  while (read_pid(s, name) != 0)
    if (!waiting_more(&w)) support_die("%s did not stop", name);
  mem_free(hold);
}

static void resume(struct server *s, const char *name)
{
  char *hold = support_format("%s/run/hold.%s", s->home, name);
  if (unlink(hold) != 0) support_die("%s: %s", hold, strerror(errno));
  struct waiting w = waiting_start(60);
  while (read_pid(s, name) == 0)
    if (!waiting_more(&w)) support_die("%s did not start", name);
  mem_free(hold);
}

void server_postgres_stop(struct server *s, bool immediate) { halt(s, "postgresql", immediate ? SIGQUIT : SIGINT); }

void server_postgres_start(struct server *s)
{
  resume(s, "postgresql");
  sql_close(server_open(s, "postgres"));
}

void server_postgres_restart(struct server *s, bool immediate)
{
  server_postgres_stop(s, immediate);
  server_postgres_start(s);
}

void server_broker_kill(struct server *s) { halt(s, "rabbitmq", SIGKILL); }

void server_broker_start(struct server *s)
{
  resume(s, "rabbitmq");
  struct waiting w = waiting_start(90);
  int fd;
  while ((fd = http_connect(server_mq_port(s))) < 0)
    if (!waiting_more(&w)) support_die("RabbitMQ did not come back");
  (void)close(fd);
}

void server_broker_stop_app(struct server *s)
{
  s->is_app_stopped = true;
  server_rabbitmqctl(s, (const char *[]){"stop_app", NULL}, NULL);
}

void server_broker_start_app(struct server *s)
{
  server_rabbitmqctl(s, (const char *[]){"start_app", NULL}, NULL);
  s->is_app_stopped = false;
}

void server_broker_alarm(struct server *s, bool on)
{
  s->is_alarmed = true;
  server_rabbitmqctl(s, (const char *[]){"set_vm_memory_high_watermark", "absolute", on ? "1MB" : "1GB", NULL}, NULL);
  s->is_alarmed = on;
}

static bool is_held(const struct server *s, const char *name)
{
  char *hold = support_format("%s/run/hold.%s", s->home, name);
  bool is = access(hold, F_OK) == 0;
  mem_free(hold);
  return is;
}

void server_heal(struct server *s)
{
  pid_t broker = read_pid(s, "rabbitmq");
  if (broker > 0) (void)kill(broker, SIGCONT);
  if (is_held(s, "postgresql")) server_postgres_start(s);
  if (is_held(s, "rabbitmq")) server_broker_start(s);
  if (s->is_app_stopped) server_broker_start_app(s);
  if (s->is_alarmed) server_broker_alarm(s, false);
}

int server_broker_log_count(const struct server *s, const char *text)
{
  char *path = support_format("%s/log/rabbitmq.log", s->home), line[4096];
  FILE *f = fopen(path, "re");
  int count = 0;
  if (f == NULL) support_die("cannot read %s", path);
  while (fgets(line, sizeof line, f) != NULL) count += strstr(line, text) != NULL;
  (void)fclose(f);
  mem_free(path);
  return count;
}
