// SPDX-License-Identifier: Apache-2.0
// What every worker of a daemon is handed: the loop it runs on, where it logs, where it counts, and the
// texts for people. Owned by struct daemon.
#pragma once

struct loop;
struct log;
struct metric_set;
struct message_catalogue;

struct runtime {
  struct loop *loop;
  struct log *log;
  struct metric_set *metrics;
  const struct message_catalogue *messages;  // NULL: English only
};
