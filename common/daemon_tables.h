// SPDX-License-Identifier: Apache-2.0
// What the ids of common/daemon_ids.h stand for: the tables of log events and metrics that a main.c hands to daemon_main with DAEMON_TABLES.
#pragma once

#include "common/compiler.h"
#include "common/daemon.h"

static const struct log_event_def log_events[] = {
#define LOG_EVENT(id, level, name) {name, level},
#include "common/log_events.def"
#include DAEMON_LOG_EVENTS
#undef LOG_EVENT
};

static const struct metric_def metric_defs[] = {
#define METRIC(id, type, name, labels, help) {name, type, labels, help},
#include "common/metrics.def"
#include DAEMON_METRICS
#undef METRIC
};

// Members of struct daemon_spec.
#define DAEMON_TABLES \
  .log_events = log_events, .log_event_count = ARRAY_LEN(log_events), .metric_defs = metric_defs, .metric_count = ARRAY_LEN(metric_defs)
