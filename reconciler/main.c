// SPDX-License-Identifier: Apache-2.0
// The reconciler: proves the totals from the rows, and lets people see and finish what machines could not.
// Owner: the process.
#include "reconciler/app.h"
#include "reconciler/commands.h"

static const struct log_event_def log_events[] = {
#define LOG_EVENT(id, level, name) {name, level},
#include "common/log_events.def"
#include "reconciler/log_events.def"
#undef LOG_EVENT
};

static const struct metric_def metric_defs[] = {
#define METRIC(id, type, name, labels, help) {name, type, labels, help},
#include "common/metrics.def"
#include "reconciler/metrics.def"
#undef METRIC
};

int main(int argc, char **argv)
{
  const struct daemon_spec spec = {
    .name = "reconciler",
    .conf_table = reconciler_conf_table(),
    .log_events = log_events,
    .log_event_count = ARRAY_LEN(log_events),
    .metric_defs = metric_defs,
    .metric_count = ARRAY_LEN(metric_defs),
    .commands = reconciler_commands(),
    .start = app_start,
    .reload = app_reload,
    .drain = app_drain,
    .is_idle = app_is_idle,
    .is_ready = app_is_ready,
    .stop = app_stop,
  };
  return daemon_main(&spec, argc, argv);
}
