// SPDX-License-Identifier: Apache-2.0
// One item under `sessions` while it is read. Private to event_session.c and event_when.c.
// Pure; any thread.
#pragma once

#include "scheduler/event_file.h"

#define EVENT_AFTER_MAX span_s(INT64_C(366) * 86400)  // of a demonstration's start

// What an item says about when; everything else is the same for all of its sessions.
struct schedule {
  const struct conf_node *dates, *times;  // NULL for a demonstration
  struct span duration, start, every;
  size_t count;
};

struct item {
  struct event_file *event;
  const struct event_reader *reader;
  const struct conf_node *node;
  size_t index;
  char path[EVENT_PATH_BYTES];  // "sessions[0]"
  const char *pattern;
  bool publish;
  struct number_range numbers;
  struct schedule when;
  json_t *body;  // of an activity, without what differs between sessions
};

// event_when.c: fills it->when from duration, dates and times, or start, every and count.
MUST_CHECK enum result event_when_read(struct item *it);
// "2026-10-01" → "20261001"; it must exist.
bool event_when_date(const char *text, char out_date[9]);
// "11:00", "11:00:30", "02:30+02:00" → clock "11:00:00", code "1100" or "110030", offset "+02:00" or "".
bool event_when_time(const char *text, char out_clock[9], char out_code[7], char out_offset[8]);
// event_body.c: the keys an item may have, ended by NULL; fills it->body and it->numbers.
const char *const *event_item_keys(void);
MUST_CHECK enum result event_body_read(struct item *it);
