// SPDX-License-Identifier: Apache-2.0
// Reading an event file node by node: known keys, typed values, and faults that name file, line and path.
// Pure; any thread.
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "common/conf.h"

struct event_reader {
  const char *file;
  struct conf_fault *fault;  // the first one
};
#define EVENT_PATH_BYTES 160

// "FILE:12: path: reason"; path may be "". RESULT_INVALID.
enum result event_fail(const struct event_reader *r, int line, const char *path, const char *format, ...)
    PRINTF_LIKE(4, 5);
// The node must be a mapping with no other keys than these (ended by NULL).
MUST_CHECK enum result event_keys_check(const struct event_reader *r, const struct conf_node *node, const char *path,
                                        const char *const *keys);
// The child named key. RESULT_NOT_FOUND if it is missing and not required (no fault is noted then).
MUST_CHECK enum result event_child(const struct event_reader *r, const struct conf_node *node, const char *path,
                                   const char *key, bool required, enum conf_node_kind kind,
                                   const struct conf_node **out_child);
// Texts keep their text, whatever YAML would make of it. RESULT_OK with NULL if it is missing and not required.
MUST_CHECK enum result event_text(const struct event_reader *r, const struct conf_node *node, const char *path,
                                  const char *key, bool required, const char **out_text);
MUST_CHECK enum result event_bool(const struct event_reader *r, const struct conf_node *node, const char *path,
                                  const char *key, bool *out_value);
// The node as JSON: an unquoted canonical integer is a number, unquoted true and false are booleans, everything else is
// text.
json_t *event_json(const struct conf_node *node);
// The deepest node that a path such as "stock.total" or "limits[1].count" (up to its end or a ':') leads to; node
// itself at least.
const struct conf_node *event_find(const struct conf_node *node, const char *path);
// For messages: `path` + "." + `key`.
void event_path(char out_path[EVENT_PATH_BYTES], const char *path, const char *key);
