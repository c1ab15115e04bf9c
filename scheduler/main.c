// SPDX-License-Identifier: Apache-2.0
// The scheduler: moves activities through their life by the database's clock and serves the claim API.
// Owner: the process.
#include "scheduler/app.h"
#include "scheduler/commands.h"

static const struct log_event_def log_events[] = {
#define LOG_EVENT(id, level, name) {name, level},
#include "common/log_events.def"
#include "scheduler/log_events.def"
#undef LOG_EVENT
};

static const struct metric_def metric_defs[] = {
#define METRIC(id, type, name, labels, help) {name, type, labels, help},
#include "common/metrics.def"
#include "scheduler/metrics.def"
#undef METRIC
};

int main(int argc, char **argv)
{
  const struct daemon_spec spec = {
      .name = "scheduler",
      .conf_table = scheduler_conf_table(),
      .log_events = log_events,
      .log_event_count = ARRAY_LEN(log_events),
      .metric_defs = metric_defs,
      .metric_count = ARRAY_LEN(metric_defs),
      .commands = scheduler_commands(),
      .start = app_start,
      .reload = app_reload,
      .drain = app_drain,
      .is_idle = app_is_idle,
      .is_ready = app_is_ready,
      .stop = app_stop,
  };
  return daemon_main(&spec, argc, argv);
}
