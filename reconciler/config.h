// SPDX-License-Identifier: Apache-2.0
// The reconciler's configuration: the sections all daemons share, and `reconciler`.
// Owner: the daemon; a new struct per load, read only.
#pragma once

#include "common/conf.h"
#include "common/daemon.h"
#include "common/web.h"

struct audit_conf {
  struct span statement_timeout;  // of one audit of one activity
  int64_t findings_max;           // of one audit of one activity
};

struct operations_conf {
  int64_t batch_rows;  // items done by one statement
  int64_t rate;        // items a second, unless an operation says otherwise
  struct span every;   // the pause before looking again when nothing is due
};

struct night_conf {
  bool enabled;
  char *time_zone;   // of business dates
  char *at;          // local time of the next day at which a date is reported, "02:00"
  int64_t catch_up;  // nights that are looked back for, the latest one included
  struct span every;
  struct span lease;  // beyond the time that one audit may take
};

struct archive_conf {
  char *directory;           // of exports; empty: --output says where
  struct span detach_after;  // a month is over for so long before its claims are detached
};

struct retention_conf {
  struct span operations;  // items of operations that ended
  struct span callbacks;   // of claims that ended
  struct span every;
  int64_t batch_rows;
};

struct reconciler_conf {
  struct daemon_conf daemon;  // first: daemon.h relies on it
  struct web_conf web;
  struct audit_conf audit;
  struct operations_conf operations;
  struct night_conf night;
  uint64_t statement_bytes_max;  // of a file
  struct conf_map statements;    // struct statement_conf by provider
  struct archive_conf archive;
  struct retention_conf retention;
  struct span figures_every;
  struct conf_texts providers, charging_providers;  // names; those that can take payments
};

const struct conf_table *reconciler_conf_table(void);
// What the table cannot say: see daemon_spec.
MUST_CHECK enum result reconciler_conf_check(const void *config, const char *file, bool reads_files,
                                             struct conf_fault *out_fault);
