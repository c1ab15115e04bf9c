// SPDX-License-Identifier: Apache-2.0
// An event file: a set of timed sessions in YAML, checked and expanded to one activity for each session. What depends
// on the database (instants of local times, which providers and rewards exist) is left to whoever applies it. Pure; any
// thread.
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "common/clk.h"
#include "common/conf.h"
#include "common/limits.h"
#include "scheduler/event_node.h"

#define EVENT_SESSIONS_MAX 5000
#define EVENT_NUMBERS_MAX  1000000  // of one session

struct event_reward {
  const char *code;
  const struct conf_node *node;
  json_t *body;  // shape checked by reward_doc_check
};

struct event_discount {
  const char *id;
  const struct conf_node *node;
  json_t *doc;  // of discount_doc_check
};

struct number_range {
  bool is_given;
  int64_t from, to;
};

struct event_session {
  const struct conf_node *node;   // the item under `sessions`
  size_t item;                    // which one
  size_t n;                       // from 1, within the item
  const char *pattern;            // of the code, with {date} {time} {n}
  char code[CODE_BYTES_MAX + 1];  // "" while a demonstration's start is not known and its code needs it
  char local[20];                 // "2026-10-01 11:00:00"; "" for a demonstration
  char offset[8];                 // "+02:00" where a local time repeats, or ""
  int line;                       // of the time
  struct span after;              // demonstrations: starts this long after the file is applied
  struct span duration;
  bool publish;
  struct number_range numbers;  // to be there, of kind number
  json_t *doc;                  // for activity_put, but code (if ""), startAt and endAt are still to be set
};

struct event_file {
  char *name;  // of the file, for messages
  struct conf_node *root;
  const char *code, *title, *time_zone;
  struct event_reward *rewards;
  size_t reward_count;
  struct event_discount *discounts;
  size_t discount_count;
  struct event_session *sessions;
  size_t session_count;
};

// name stands for the file in messages. Free with event_file_free.
MUST_CHECK enum result event_file_parse(const char *name, const char *bytes, size_t len, struct event_file **out_event,
                                        struct conf_fault *out_fault);
void event_file_free(struct event_file *event);  // NULL is allowed

// A demonstration's code once its start is known: date "20261001", time "110005". RESULT_INVALID with a fault.
MUST_CHECK enum result event_session_name(const struct event_file *event, struct event_session *s, const char *date,
                                          const char *time, struct conf_fault *out_fault);
bool event_session_is_demonstration(const struct event_session *s);
// Turns a fault of activity_doc_check or activity_put ("stock.total: …") into one that names file, line and the key in
// the file.
void event_session_fault(const struct event_file *event, const struct event_session *s, const char *fault,
                         struct conf_fault *out_fault);

// event_session.c: the items under `sessions`, appended to event->sessions.
MUST_CHECK enum result event_session_expand(struct event_file *event, const struct conf_node *item, size_t index,
                                            const struct event_reader *r);
void event_session_release(struct event_session *s);
