// SPDX-License-Identifier: Apache-2.0
// The life of a daemon, seen from outside: options and their exit statuses, signals, reload, drain, notifications.
// Each case runs daemon_main in a child process of its own.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/daemon.h"
#include "common/daemon_tables.h"
#include "common/loop.h"
#include "common/mem.h"

// --- a small daemon

struct small_conf {
  struct daemon_conf daemon;
  int64_t work_ms;  // drain takes this long; -1: for ever
  char *start;      // how start ends
};
static const struct conf_key keys[] = {
    DAEMON_CONF_KEYS(struct small_conf),
    {"work_ms", CONF_INT, offsetof(struct small_conf, work_ms), "0", -1, 100000, CONF_RELOADABLE, NULL, NULL,
     "length of the work"},
    {"start", CONF_TEXT, offsetof(struct small_conf, start), "well", 0, 100, 0, NULL, NULL, "how to start"},
};
static const struct conf_table table = {keys, ARRAY_LEN(keys), sizeof(struct small_conf)};
struct app {
  struct runtime *rt;
  int64_t work_ms;
  struct mono_time idle_at;
};

static enum result small_start(struct runtime *rt, const void *config, struct app **out_app)
{
  const struct small_conf *c = config;
  struct app *app = MEM_NEW(struct app);
  *app = (struct app){rt, c->work_ms, {0}};
  *out_app = app;
  if (strcmp(c->start, "unavailable") == 0) return RESULT_UNAVAILABLE;
  return strcmp(c->start, "well") == 0 ? RESULT_OK : RESULT_INVALID;
}
static void small_reload(struct app *app, const void *config)
{
  app->work_ms = ((const struct small_conf *)config)->work_ms;
}
static void small_drain(struct app *app) { app->idle_at = mono_after(clk_mono(), span_ms(app->work_ms)); }
static bool small_is_idle(const struct app *app) { return app->work_ms >= 0 && !mono_before(clk_mono(), app->idle_at); }
static bool small_is_ready(const struct app *app, const char **out_why_not)
{
  (void)app, (void)out_why_not;
  return true;
}
static void small_stop(struct app *app)
{
  fprintf(stderr, "stopped\n");
  mem_free(app);
}

static int print_args(const void *config, struct log *log, int argc, char **argv)
{
  (void)log;
  printf("%s", ((const struct small_conf *)config)->start);
  for (int i = 0; i < argc; i++) printf(" [%s]", argv[i]);
  printf("\n");
  return EXIT_FINDINGS;
}
static int print_short(const void *config, struct log *log, int argc, char **argv)
{
  (void)config, (void)log, (void)argv;
  printf("short %d\n", argc);
  return EXIT_OK;
}
static const struct daemon_command commands[] = {{"thing", "[NAME]", "a short one", print_short},
                                                 {"thing list", "[--all]", "a longer one", print_args},
                                                 {NULL, NULL, NULL, NULL}};

static const struct daemon_spec spec = {.name = "small",
                                        .conf_table = &table,
                                        .log_events = log_events,
                                        .log_event_count = ARRAY_LEN(log_events),
                                        .metric_defs = metric_defs,
                                        .metric_count = ARRAY_LEN(metric_defs),
                                        .commands = commands,
                                        .start = small_start,
                                        .reload = small_reload,
                                        .drain = small_drain,
                                        .is_idle = small_is_idle,
                                        .is_ready = small_is_ready,
                                        .stop = small_stop};

// --- running it

struct rig {
  char folder[64], conf[96], notify[96];
  int notify_fd;
  pid_t pid;
  int out_fd, err_fd;
  char out[32768], err[32768];
  size_t out_len, err_len;
};

static int set_up(void **state)
{
  struct rig *r = MEM_NEW(struct rig);
  snprintf(r->folder, sizeof r->folder, "/tmp/test_daemon.XXXXXX");
  assert_non_null(mkdtemp(r->folder));
  snprintf(r->conf, sizeof r->conf, "%s/small.yaml", r->folder);
  snprintf(r->notify, sizeof r->notify, "%s/notify", r->folder);
  r->notify_fd = -1;
  *state = r;
  return 0;
}

static int tear_down(void **state)
{
  struct rig *r = *state;
  if (r->pid > 0) {
    kill(r->pid, SIGKILL);
    waitpid(r->pid, NULL, 0);
  }
  if (r->notify_fd >= 0) close(r->notify_fd);
  unlink(r->conf);
  unlink(r->notify);
  rmdir(r->folder);
  mem_free(r);
  return 0;
}

static void write_conf(const struct rig *r, const char *text)
{
  FILE *f = fopen(r->conf, "w");
  assert_non_null(f);
  fputs(text, f);
  assert_int_equal(fclose(f), 0);
}

static void run_child(const struct rig *r, int out_fd, int err_fd, int argc, char **argv)
{
  dup2(out_fd, STDOUT_FILENO);
  dup2(err_fd, STDERR_FILENO);
  if (chdir(r->folder) != 0) _exit(99);
  int exit_code = daemon_main(&spec, argc, argv);
  fflush(NULL);
  _exit(exit_code);
}

static void start(struct rig *r, const char *const *args)
{
  char *argv[16];
  int argc = 0, out[2], err[2];
  for (argv[argc++] = (char[]){"small"}; args[argc - 1] != NULL; argc++) argv[argc] = mem_strdup(args[argc - 1]);
  argv[argc] = NULL;
  assert_int_equal(pipe(out), 0);
  assert_int_equal(pipe(err), 0);
  fflush(NULL);
  r->pid = fork();
  assert_true(r->pid >= 0);
  if (r->pid == 0) run_child(r, out[1], err[1], argc, argv);
  for (int i = 1; i < argc; i++) mem_free(argv[i]);
  close(out[1]);
  close(err[1]);
  r->out_fd = out[0];
  r->err_fd = err[0];
  r->out_len = r->err_len = 0;
}
#define START(r, ...) start((r), (const char *const[]){__VA_ARGS__, NULL})

static void read_some(int fd, char *text, size_t size, size_t *len)
{
  ssize_t got = read(fd, text + *len, size - 1 - *len);
  if (got > 0) *len += (size_t)got;
  text[*len] = '\0';
}

static void wait_for_log(struct rig *r, const char *what)
{
  for (int i = 0; i < 500 && strstr(r->err, what) == NULL; i++) {
    struct pollfd p = {r->err_fd, POLLIN, 0};
    if (poll(&p, 1, 20) > 0) read_some(r->err_fd, r->err, sizeof r->err, &r->err_len);
  }
  if (strstr(r->err, what) == NULL) print_error("no \"%s\" in:\n%s\n", what, r->err);
  assert_non_null(strstr(r->err, what));
}

// The exit status, after reading all output.
static int finish(struct rig *r)
{
  size_t before;
  do read_some(r->out_fd, r->out, sizeof r->out, (before = r->out_len, &r->out_len));
  while (r->out_len > before);
  do read_some(r->err_fd, r->err, sizeof r->err, (before = r->err_len, &r->err_len));
  while (r->err_len > before);
  close(r->out_fd);
  close(r->err_fd);
  int status = 0;
  assert_int_equal(waitpid(r->pid, &status, 0), r->pid);
  r->pid = 0;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// --- cases

static void options_have_their_exit_statuses(void **state)
{
  struct rig *r = *state;
  START(r, "-V");
  assert_int_equal(finish(r), EXIT_OK);
  assert_memory_equal(r->out, "small ", 6);
  START(r, "-h");
  assert_int_equal(finish(r), EXIT_OK);
  assert_non_null(strstr(r->out, "thing list [--all]"));
  assert_non_null(strstr(r->out, "serve"));
  START(r, "-x");
  assert_int_equal(finish(r), EXIT_USAGE);
  START(r, "-t", "serve");  // no file, built-in defaults
  assert_int_equal(finish(r), EXIT_OK);
  START(r, "nonsense");
  assert_int_equal(finish(r), EXIT_USAGE);
  assert_non_null(strstr(r->err, "nonsense"));
  assert_non_null(strstr(r->err, "Try 'small -h'"));
  START(r, "-c", "nowhere.yaml", "serve");
  assert_int_equal(finish(r), EXIT_CONFIG);
}

static void commands_say_what_they_take(void **state)
{
  struct rig *r = *state;
  START(r, "thing", "list", "--help");
  assert_int_equal(finish(r), EXIT_OK);
  assert_non_null(strstr(r->out, "thing list [--all]"));
  assert_null(strstr(r->out, "serve"));
  START(r, "thing", "-h");
  assert_int_equal(finish(r), EXIT_OK);
  assert_non_null(strstr(r->out, "thing list [--all]"));
  START(r, "serve", "--help");
  assert_int_equal(finish(r), EXIT_OK);
  assert_non_null(strstr(r->out, "SIGTERM"));
  START(r, "nonsense", "--help");
  assert_int_equal(finish(r), EXIT_USAGE);
  START(r, "config", "frob");  // the first word is one: what there is
  assert_int_equal(finish(r), EXIT_USAGE);
  assert_non_null(strstr(r->err, "config print"));
}

static void a_faulty_configuration_is_one_line_with_file_and_line(void **state)
{
  struct rig *r = *state;
  write_conf(r, "start: well\nwork_ms: lots\n");
  START(r, "-c", r->conf, "-t");
  assert_int_equal(finish(r), EXIT_CONFIG);
  assert_non_null(strstr(r->err, "small.yaml:2: work_ms"));
  assert_ptr_equal(strchr(r->err, '\n'), r->err + r->err_len - 1);
}

static void the_longest_command_wins_and_gets_the_rest_of_the_words(void **state)
{
  struct rig *r = *state;
  START(r, "thing", "list", "--all", "x y");
  assert_int_equal(finish(r), EXIT_FINDINGS);
  assert_string_equal(r->out, "well [--all] [x y]\n");
  START(r, "thing", "other");
  assert_int_equal(finish(r), EXIT_OK);
  assert_string_equal(r->out, "short 1\n");
}

static void the_configuration_and_its_keys_can_be_printed(void **state)
{
  struct rig *r = *state;
  START(r, "config", "keys");
  assert_int_equal(finish(r), EXIT_OK);
  assert_non_null(strstr(r->out, "database.pool_size"));
  START(r, "config", "print");
  assert_int_equal(finish(r), EXIT_OK);
  assert_non_null(strstr(r->out, "drain_timeout: 20s"));
  write_conf(r, r->out);
  START(r, "-c", r->conf, "-t");
  assert_int_equal(finish(r), EXIT_OK);
}

static void a_start_that_fails_stops_what_was_started_and_says_why_by_status(void **state)
{
  struct rig *r = *state;
  write_conf(r, "start: unavailable\n");
  START(r, "-c", r->conf, "serve");
  assert_int_equal(finish(r), EXIT_UNAVAILABLE);
  assert_non_null(strstr(r->err, "daemon.failed"));
  assert_non_null(strstr(r->err, "stopped"));
}

static void a_stop_signal_drains_and_exits_zero(void **state)
{
  struct rig *r = *state;
  const int signals[] = {SIGTERM, SIGINT};
  write_conf(r, "work_ms: 150\n");
  for (size_t i = 0; i < ARRAY_LEN(signals); i++) {
    r->err[0] = '\0';
    START(r, "-c", r->conf, "serve");
    wait_for_log(r, "daemon.up");
    struct mono_time begin = clk_mono();
    kill(r->pid, signals[i]);
    assert_int_equal(finish(r), EXIT_OK);
    assert_true(mono_since(clk_mono(), begin).us >= 150000);
    assert_non_null(strstr(r->err, "daemon.draining"));
    assert_non_null(strstr(r->err, "reason=drained"));
    assert_non_null(strstr(r->err, "stopped\n"));
  }
}

static void a_second_signal_ends_at_once_and_so_does_the_drain_timeout(void **state)
{
  struct rig *r = *state;
  write_conf(r, "work_ms: -1\n");
  START(r, "-c", r->conf, "serve");
  wait_for_log(r, "daemon.up");
  kill(r->pid, SIGTERM);
  wait_for_log(r, "daemon.draining");
  kill(r->pid, SIGTERM);
  assert_int_equal(finish(r), EXIT_TEMPORARY);
  assert_non_null(strstr(r->err, "reason=second_signal"));

  r->err[0] = '\0';
  write_conf(r, "work_ms: -1\ndrain_timeout: 100ms\n");
  START(r, "-c", r->conf, "serve");
  wait_for_log(r, "daemon.up");
  kill(r->pid, SIGTERM);
  assert_int_equal(finish(r), EXIT_TEMPORARY);
  assert_non_null(strstr(r->err, "reason=drain_timeout"));
}

static void a_reload_takes_a_good_file_and_keeps_the_old_values_for_a_bad_one(void **state)
{
  struct rig *r = *state;
  write_conf(r, "work_ms: -1\n");
  START(r, "-c", r->conf, "serve");
  wait_for_log(r, "daemon.up");
  write_conf(r, "work_ms: nothing\n");
  kill(r->pid, SIGHUP);
  wait_for_log(r, "config.rejected");
  write_conf(r, "work_ms: 0\nstart: other\n");
  kill(r->pid, SIGHUP);
  wait_for_log(r, "config.reloaded");
  wait_for_log(r, "needs_restart=start");
  kill(r->pid, SIGTERM);
  assert_int_equal(finish(r), EXIT_OK);  // work_ms was taken: with -1 it would not end
}

static void expect_message(const struct rig *r, const char *start_of_it)
{
  char message[256];
  for (int i = 0; i < 100; i++) {
    struct pollfd p = {r->notify_fd, POLLIN, 0};
    if (poll(&p, 1, 100) <= 0) continue;
    ssize_t got = recv(r->notify_fd, message, sizeof message - 1, 0);
    assert_true(got > 0);
    message[got] = '\0';
    if (strncmp(message, "WATCHDOG=1", 10) == 0 && strcmp(start_of_it, "WATCHDOG=1") != 0) continue;
    assert_memory_equal(message, start_of_it, strlen(start_of_it));
    return;
  }
  fail_msg("no message %s", start_of_it);
}

static void notify_through(struct rig *r, bool is_abstract)
{
  struct sockaddr_un a = {.sun_family = AF_UNIX};
  size_t len = strlen(r->notify);
  memcpy(a.sun_path, r->notify, len);
  if (is_abstract) a.sun_path[0] = '\0';
  r->notify_fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  assert_int_equal(bind(r->notify_fd, (struct sockaddr *)&a, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len)),
                   0);
  char name[96];
  memcpy(name, r->notify, len + 1);
  if (is_abstract) name[0] = '@';
  setenv("NOTIFY_SOCKET", name, 1);
  setenv("WATCHDOG_USEC", "400000", 1);
  write_conf(r, "work_ms: 0\n");
  START(r, "-c", r->conf, "serve");
  expect_message(r, "READY=1");
  expect_message(r, "WATCHDOG=1");
  expect_message(r, "WATCHDOG=1");
  kill(r->pid, SIGHUP);
  expect_message(r, "RELOADING=1\nMONOTONIC_USEC=");
  expect_message(r, "READY=1");
  kill(r->pid, SIGTERM);
  expect_message(r, "STOPPING=1");
  assert_int_equal(finish(r), EXIT_OK);
  unsetenv("NOTIFY_SOCKET");
  unsetenv("WATCHDOG_USEC");
}

static void the_service_manager_is_told(void **state) { notify_through(*state, false); }
static void the_service_manager_is_told_through_an_abstract_socket(void **state) { notify_through(*state, true); }

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
  const struct CMUnitTest tests[] = {
      CASE(options_have_their_exit_statuses),
      CASE(commands_say_what_they_take),
      CASE(a_faulty_configuration_is_one_line_with_file_and_line),
      CASE(the_longest_command_wins_and_gets_the_rest_of_the_words),
      CASE(the_configuration_and_its_keys_can_be_printed),
      CASE(a_start_that_fails_stops_what_was_started_and_says_why_by_status),
      CASE(a_stop_signal_drains_and_exits_zero),
      CASE(a_second_signal_ends_at_once_and_so_does_the_drain_timeout),
      CASE(a_reload_takes_a_good_file_and_keeps_the_old_values_for_a_bad_one),
      CASE(the_service_manager_is_told),
      CASE(the_service_manager_is_told_through_an_abstract_socket),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
