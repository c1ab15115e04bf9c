// SPDX-License-Identifier: Apache-2.0
// The ids of a daemon's log events and metrics, those of the library first: EV_… for LOG and M_… for metric_*. Included
// by its app.h, which first defines DAEMON_LOG_EVENTS and DAEMON_METRICS as the names of its two .def files; its main.c
// includes common/daemon_tables.h for the rest.
#pragma once

#include "common/log.h"
#include "common/metric.h"

enum daemon_event {
  EV_DAEMON_BASE = LOG_COMMON_EVENT_COUNT - 1,
#define LOG_EVENT(id, level, name) id,
#include DAEMON_LOG_EVENTS
#undef LOG_EVENT
};

enum daemon_metric {
  M_DAEMON_BASE = METRIC_COMMON_COUNT - 1,
#define METRIC(id, type, name, labels, help) id,
#include DAEMON_METRICS
#undef METRIC
};
