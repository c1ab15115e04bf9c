// SPDX-License-Identifier: Apache-2.0
// The life of a daemon: configuration, log, loop; serve until a signal, drain, stop. Or one command.
// Owner: main; the loop thread.
#include "common/daemon.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "common/contract.h"
#include "common/daemon_internal.h"
#include "common/loop.h"

static const struct span longest_turn = {200000};
static const struct span longest_draining_turn = {20000};

struct daemon {
  const struct daemon_spec *spec;
  const char *config_file;
  void *config;
  struct runtime rt;
  struct app *app;
  struct loop_signal *terminate, *interrupt, *hang_up;
  struct daemon_notify notify;
  int stop_signals;
  bool is_draining, was_ready;
  struct mono_time drain_deadline;
  uint64_t log_dropped;  // as last counted in the metric
};

static const struct daemon_conf *conf_of(const void *config) { return config; }

static void log_as_configured(struct log *log, const void *config)
{
  log_set(log, (enum log_level)conf_of(config)->log_level, (enum log_format)conf_of(config)->log_format);
}

static enum result load(const struct daemon_spec *spec, const char *file, bool reads_files, void **out_config,
                        struct conf_fault *out_fault)
{
  void *config = NULL;
  enum result result = conf_load(spec->conf_table, file, environ, &config, out_fault);
  if (result == RESULT_OK && spec->check != NULL) result = spec->check(config, file, reads_files, out_fault);
  if (result == RESULT_OK)
    *out_config = config;
  else if (config != NULL)
    conf_free(spec->conf_table, config);
  return result;
}

// --- signals

static void on_stop_signal(void *ctx)
{
  struct daemon *d = ctx;
  d->stop_signals++;
}

static void on_hang_up(void *ctx)
{
  struct daemon *d = ctx;
  struct conf_fault fault;
  void *fresh = NULL;
  char message[64];
  snprintf(message, sizeof message, "RELOADING=1\nMONOTONIC_USEC=%lld", (long long)clk_mono().us);
  daemon_notify_send(&d->notify, message);
  if (load(d->spec, d->config_file, true, &fresh, &fault) != RESULT_OK) {
    LOG(d->rt.log, EV_CONFIG_REJECTED, F_STR("detail", fault.text));
  } else {
    const char *key = NULL;
    bool needs_restart = conf_needs_restart(d->spec->conf_table, d->config, fresh, &key);
    log_as_configured(d->rt.log, fresh);
    d->spec->reload(d->app, fresh);
    LOG(d->rt.log, EV_CONFIG_RELOADED, F_STR("file", d->config_file),
        F_STR("needs_restart", needs_restart ? key : NULL));
    conf_free(d->spec->conf_table, d->config);
    d->config = fresh;
  }
  if (d->was_ready) daemon_notify_send(&d->notify, "READY=1");
}

// --- serving

static void begin_drain(struct daemon *d)
{
  d->is_draining = true;
  d->drain_deadline = mono_after(clk_mono(), conf_of(d->config)->drain_timeout);
  LOG(d->rt.log, EV_DAEMON_DRAINING, F_SPAN("drain_timeout_seconds", conf_of(d->config)->drain_timeout));
  daemon_notify_send(&d->notify, "STOPPING=1");
  d->spec->drain(d->app);
}

static void tell_if_ready(struct daemon *d)
{
  const char *why_not = NULL;
  if (d->was_ready || d->is_draining || !d->spec->is_ready(d->app, &why_not)) return;
  d->was_ready = true;
  daemon_notify_send(&d->notify, "READY=1");
}

// True when the daemon may stop; why it does is in *out_reason, and the program's status in *out_exit.
static bool is_finished(struct daemon *d, const char **out_reason, int *out_exit)
{
  if (d->stop_signals == 0) return false;
  if (!d->is_draining) begin_drain(d);
  bool is_drained = d->spec->is_idle(d->app), is_hurried = d->stop_signals > 1;
  if (!is_drained && !is_hurried && mono_before(clk_mono(), d->drain_deadline)) return false;
  *out_reason = is_drained ? "drained" : is_hurried ? "second_signal" : "drain_timeout";
  *out_exit = is_drained ? EXIT_OK : EXIT_TEMPORARY;
  return true;
}

static void count_dropped_lines(struct daemon *d)
{
  uint64_t dropped = log_dropped(d->rt.log);
  if (dropped == d->log_dropped) return;
  metric_add(d->rt.metrics, M_LOG_LINES_DROPPED, (double)(dropped - d->log_dropped));
  d->log_dropped = dropped;
}

static int run_until_stopped(struct daemon *d)
{
  const char *reason = "";
  int exit_code = EXIT_OK;
  while (!is_finished(d, &reason, &exit_code)) {
    loop_turn(d->rt.loop, d->is_draining ? longest_draining_turn : longest_turn);
    tell_if_ready(d);
    daemon_notify_turn(&d->notify, clk_mono());
    log_flush(d->rt.log);
    count_dropped_lines(d);
  }
  LOG(d->rt.log, EV_DAEMON_STOPPED, F_STR("reason", reason));
  return exit_code;
}

static int exit_code_of(enum result r)
{
  switch (r) {
    case RESULT_OK: return EXIT_OK;
    case RESULT_INVALID:
    case RESULT_TOO_BIG: return EXIT_CONFIG;
    case RESULT_DENIED: return EXIT_PERMISSION;
    case RESULT_UNAVAILABLE:
    case RESULT_TIMEOUT: return EXIT_UNAVAILABLE;
    case RESULT_IO: return EXIT_IO;
    case RESULT_NOT_FOUND:
    case RESULT_CONFLICT:
    case RESULT_FULL:
    case RESULT_UNEXPECTED: return EXIT_SOFTWARE;
  }
  return EXIT_SOFTWARE;
}

// Each client connection is a descriptor; the usual soft limit of 1024 is for programs that use select().
static void raise_descriptor_limit(void)
{
  struct rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == limit.rlim_max) return;
  limit.rlim_cur = limit.rlim_max;
  (void)setrlimit(RLIMIT_NOFILE, &limit);
}

static void set_up(struct daemon *d, struct log *log)
{
  raise_descriptor_limit();
  d->rt.log = log;
  d->rt.messages = d->spec->messages;
  d->rt.loop = loop_new();
  d->rt.metrics = metric_set_new(d->spec->metric_defs, d->spec->metric_count);
  loop_set_metrics(d->rt.loop, d->rt.metrics);
  metric_series_put(METRIC_SERIES(d->rt.metrics, M_BUILD_INFO, d->spec->name, LARGESSE_VERSION), 1);
  d->terminate = loop_signal_new(d->rt.loop, SIGTERM, on_stop_signal, d);
  d->interrupt = loop_signal_new(d->rt.loop, SIGINT, on_stop_signal, d);
  d->hang_up = loop_signal_new(d->rt.loop, SIGHUP, on_hang_up, d);
  daemon_notify_init(&d->notify);
}

static void tear_down(struct daemon *d)
{
  if (d->app != NULL) d->spec->stop(d->app);
  loop_signal_free(d->terminate);
  loop_signal_free(d->interrupt);
  loop_signal_free(d->hang_up);
  daemon_notify_release(&d->notify);
  loop_free(d->rt.loop);  // runs the last deferred frees, which may still count
  metric_set_free(d->rt.metrics);
}

// Takes over *config: a reload replaces it.
static int serve(const struct daemon_spec *spec, const char *config_file, void **config, struct log *log)
{
  struct daemon d = {.spec = spec, .config_file = config_file, .config = *config};
  set_up(&d, log);
  enum result result = spec->start(&d.rt, d.config, &d.app);
  int exit_code = exit_code_of(result);
  if (result == RESULT_OK) {
    LOG(log, EV_DAEMON_UP, F_STR("version", LARGESSE_VERSION),
        F_STR("config", config_file == NULL ? "built-in" : config_file));
    log_flush(log);
    exit_code = run_until_stopped(&d);
  } else {
    LOG(log, EV_DAEMON_FAILED, F_STR("reason", result_text(result)));
  }
  tear_down(&d);
  *config = d.config;
  return exit_code;
}

// --- commands

static const struct daemon_command *find_command(const struct daemon_spec *spec, int argc, char **argv, int *out_words)
{
  const struct daemon_command *found = NULL;
  for (const struct daemon_command *c = spec->commands; c != NULL && c->words != NULL; c++) {
    int words = daemon_match_words(c->words, argc, argv);
    if (words == 0 || (found != NULL && words <= *out_words)) continue;  // the longest match wins
    found = c;
    *out_words = words;
  }
  return found;
}

static int run_command(const struct daemon_command *command, const void *config, struct log *log, int argc, char **argv)
{
  int exit_code = command->run(config, log, argc, argv);
  if (fflush(stdout) != 0 || ferror(stdout) != 0) return exit_code == EXIT_OK ? EXIT_IO : exit_code;
  return exit_code;
}

static int usage(const struct daemon_spec *spec, const char *what, const char *word)
{
  fprintf(stderr, "%s: %s%s\nTry '%s -h'.\n", spec->name, what, word, spec->name);
  return EXIT_USAGE;
}

static int unknown(const struct daemon_spec *spec, char **argv)
{
  fprintf(stderr, "%s: unknown command: %s\n", spec->name, argv[0]);
  if (daemon_print_commands(spec, 1, argv, stderr) == 0) fprintf(stderr, "Try '%s -h'.\n", spec->name);
  return EXIT_USAGE;
}

static int run_configured(const struct daemon_spec *spec, const struct daemon_options *o, void **config, int argc,
                          char **argv)
{
  int words = 0;
  const struct daemon_command *command = find_command(spec, argc, argv, &words);
  bool is_serve = daemon_match_words("serve", argc, argv) == 1;
  if (daemon_match_words("config print", argc, argv) == argc) return daemon_print_config(spec, *config);
  if (!is_serve && command == NULL) return unknown(spec, argv);
  if (is_serve && argc > 1) return usage(spec, "serve takes no arguments: ", argv[1]);

  struct log *log = log_new(spec->name, spec->log_events, spec->log_event_count, STDERR_FILENO);
  log_as_configured(log, *config);
  int exit_code = is_serve ? serve(spec, o->config_file, config, log)
                           : run_command(command, *config, log, argc - words, argv + words);
  log_free(log);
  return exit_code;
}

int daemon_main(const struct daemon_spec *spec, int argc, char **argv)
{
  struct daemon_options o;
  struct conf_fault fault;
  void *config = NULL;
  int exit_code;
  (void)signal(SIGPIPE, SIG_IGN);  // a peer that closes is an error of the write, not of the process
  if (!daemon_options_parse(spec, argc, argv, &o, &exit_code)) return exit_code;
  int left = argc - o.command_at;
  char **words = argv + o.command_at;
  int asked = 0;
  if (daemon_is_help(left, words, &asked) && daemon_print_commands(spec, asked, words, stdout) > 0) return EXIT_OK;
  if (left == 0 && !o.is_check) return usage(spec, "a command is missing", "");
  if (left == 2 && daemon_match_words("config keys", left, words) == 2) return daemon_print_config(spec, NULL);
  if (left == 1 && daemon_match_words("routes", left, words) == 1) return daemon_print_routes(spec);
  bool reads_files = o.is_check || daemon_match_words("serve", left, words) == 1;
  if (load(spec, o.config_file, reads_files, &config, &fault) != RESULT_OK) {
    fprintf(stderr, "%s\n", fault.text);
    return EXIT_CONFIG;
  }
  exit_code = o.is_check ? EXIT_OK : run_configured(spec, &o, &config, left, words);
  conf_free(spec->conf_table, config);
  return exit_code;
}
