// SPDX-License-Identifier: Apache-2.0
// What the three programs have in common: options, configuration, log, loop, metrics, signals, drain, sd_notify,
// health. A daemon's main.c describes itself in a struct daemon_spec and calls daemon_main.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "common/clk.h"
#include "common/conf.h"
#include "common/db.h"
#include "common/log.h"
#include "common/metric.h"
#include "common/mq.h"
#include "common/result.h"
#include "common/runtime.h"
#include "common/web_route.h"

enum exit_code {
  EXIT_OK = 0,
  EXIT_FINDINGS = 1,
  EXIT_USAGE = 64,
  EXIT_DATA = 65,
  EXIT_UNAVAILABLE = 69,
  EXIT_SOFTWARE = 70,
  EXIT_OS = 71,
  EXIT_CANNOT_CREATE = 73,
  EXIT_IO = 74,
  EXIT_TEMPORARY = 75,
  EXIT_PERMISSION = 77,
  EXIT_CONFIG = 78
};

// The first member of every daemon's configuration struct; its keys are DAEMON_CONF_KEYS (database.*, broker.*, log.*,
// drain.*).
struct daemon_conf {
  struct db_conf database;
  struct mq_conf broker;
  int log_level;              // enum log_level
  int log_format;             // enum log_format
  struct span drain_timeout;  // SIGTERM: in-flight work is given up after this
};
// clang-format off
// The rows of conf_key for the members above, for use inside a daemon's own table; config_type embeds `struct daemon_conf daemon`.
#define DAEMON_CONF_KEYS(config_type) \
  DB_CONF_KEYS(config_type, daemon.database), MQ_CONF_KEYS(config_type, daemon.broker), \
  {"log.level", CONF_CHOICE, offsetof(config_type, daemon.log_level), "info", 0, 0, CONF_RELOADABLE, "error|warn|info|debug", NULL, "lines below this level are left out"}, \
  {"log.format", CONF_CHOICE, offsetof(config_type, daemon.log_format), "text", 0, 0, CONF_RELOADABLE, "text|json", NULL, "one line per event: key=value text, or a JSON object"}, \
  {"drain_timeout", CONF_SPAN, offsetof(config_type, daemon.drain_timeout), "20s", 0, 600000000, CONF_RELOADABLE, NULL, NULL, "after SIGTERM, work in flight is given up after this long"}
// clang-format on

struct app;  // the daemon's own context; defined by each daemon

struct daemon_command {
  const char *words;  // "serve", "migrate", "activity list": matched against the first arguments
  const char *usage;  // rest of the line, for --help
  const char *help;
  // Runs with the configuration loaded; argv starts after the words. Returns an exit code. Blocking is fine.
  int (*run)(const void *config, struct log *log, int argc, char **argv);
};

struct daemon_spec {
  const char *name;                        // "scheduler"
  const struct conf_table *conf_table;     // begins with DAEMON_CONF_KEYS
  const struct log_event_def *log_events;  // library's and own
  size_t log_event_count;
  const struct metric_def *metric_defs;
  size_t metric_count;
  const struct message_catalogue *messages;
  const struct daemon_command *commands;  // ended by {NULL}; "serve" is added by daemon_main
  const struct web_routes *routes;
  // serve: start everything; on failure log why and return the result. *out_app is the daemon's.
  enum result (*start)(struct runtime *rt, const void *config, struct app **out_app);
  // SIGHUP found a valid new configuration: take the reloadable keys. The old one is freed after this returns.
  void (*reload)(struct app *app, const void *config);
  // SIGTERM: stop taking new work. Called once; then is_idle is asked after each turn.
  void (*drain)(struct app *app);
  bool (*is_idle)(const struct app *app);
  bool (*is_ready)(const struct app *app, const char **out_why_not);  // for /readyz and sd_notify
  void (*stop)(struct app *app);                                      // releases everything, also half started
  // Rules that need more than one key (templates, sums): asked after each loading, also by -t and SIGHUP. NULL: none.
  // file may be NULL. reads_files: also what files of it hold, such as secrets; not for commands, whose users may be
  // others than the daemon's.
  enum result (*check)(const void *config, const char *file, bool reads_files, struct conf_fault *out_fault);
};

// Handles -c FILE, -t, -V, -h, runs a command or serves until SIGTERM/SIGINT (a second one: at once). Returns the exit
// code for main.
int daemon_main(const struct daemon_spec *spec, int argc, char **argv);
