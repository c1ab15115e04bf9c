// SPDX-License-Identifier: Apache-2.0
// What the ids of log events and metrics stand for: the tables that a main.c hands to daemon_main with DAEMON_TABLES.
// The library's alone where no daemon has named its own (common/daemon_ids.h). They are made where this is included.
#pragma once

#include "common/compiler.h"
#include "common/log.h"
#include "common/metric.h"

static const struct log_event_def log_events[] = {
#define LOG_EVENT(id, level, name) {name, level},
#include "common/log_events.def"
#ifdef DAEMON_LOG_EVENTS
#include DAEMON_LOG_EVENTS
#endif
#undef LOG_EVENT
};

static const struct metric_def metric_defs[] = {
#define METRIC(id, type, name, labels, help) {name, type, labels, help},
#include "common/metrics.def"
#ifdef DAEMON_METRICS
#include DAEMON_METRICS
#endif
#undef METRIC
};

// Members of struct daemon_spec.
#define DAEMON_TABLES                                                                             \
  .log_events = log_events, .log_event_count = ARRAY_LEN(log_events), .metric_defs = metric_defs, \
  .metric_count = ARRAY_LEN(metric_defs)
