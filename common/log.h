// SPDX-License-Identifier: Apache-2.0
// Logs are events with identity: a name declared once in a .def file, and typed fields. Field values are escaped here,
// so text from outside can never forge a line (B104). Lines are gathered and written once per loop turn.
// Loop thread only, except log_flush at exit. errno is preserved.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/clk.h"
#include "common/result.h"

enum log_level { LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG };
enum log_format { LOG_FORMAT_TEXT, LOG_FORMAT_JSON };

// A row of a log_events.def: LOG_EVENT(EV_DB_CONNECTED, LOG_INFO, "db.connected")
struct log_event_def {
  const char *name;
  enum log_level level;
};

// Events of the library come first; a daemon's own start at LOG_COMMON_EVENT_COUNT (common/daemon_ids.h).
enum log_common_event {
#define LOG_EVENT(id, level, name) id,
#include "common/log_events.def"
#undef LOG_EVENT
  LOG_COMMON_EVENT_COUNT
};

enum log_field_type { LOG_END, LOG_TEXT, LOG_BYTES, LOG_INT, LOG_UINT, LOG_SPAN, LOG_BOOL };
struct log_field {
  const char *key;  // snake_case, with unit where there is one; a literal
  enum log_field_type type;
  union {
    const char *text;
    int64_t i64;
    uint64_t u64;
  } value;
  size_t len;  // LOG_BYTES only
};

#define F_STR(key, s)      ((struct log_field){(key), LOG_TEXT, {.text = (s)}, 0})    /* NULL: the field is left out */
#define F_BYTES(key, p, n) ((struct log_field){(key), LOG_BYTES, {.text = (p)}, (n)}) /* need not be NUL-terminated */
#define F_INT(key, n)      ((struct log_field){(key), LOG_INT, {.i64 = (int64_t)(n)}, 0})
#define F_UINT(key, n)     ((struct log_field){(key), LOG_UINT, {.u64 = (uint64_t)(n)}, 0})
#define F_SPAN(key, s)     ((struct log_field){(key), LOG_SPAN, {.i64 = (s).us}, 0}) /* written in seconds, 6 digits */
#define F_BOOL(key, b)     ((struct log_field){(key), LOG_BOOL, {.i64 = (b) ? 1 : 0}, 0})

struct log;

// events: the library's rows followed by the daemon's (both outlive the log). fd stays the caller's.
struct log *log_new(const char *daemon, const struct log_event_def *events, size_t event_count, int fd);
void log_free(struct log *log);  // flushes; NULL is allowed
void log_set(struct log *log, enum log_level level, enum log_format format);
bool log_wants(const struct log *log, int event);  // false: the line would be dropped by its level

// fields end with {0}. A full buffer is written out; if fd does not take it the line is dropped and counted.
void log_write(struct log *log, int event, const struct log_field *fields);
void log_flush(struct log *log);
uint64_t log_dropped(const struct log *log);  // lines lost so far, for M_LOG_LINES_DROPPED

// LOG(log, EV_DB_CONNECTED, F_STR("host", h), F_INT("port", p)); at least one field.
#define LOG(log, event, ...) \
  (log_wants((log), (event)) ? log_write((log), (event), (const struct log_field[]){__VA_ARGS__, {0}}) : (void)0)
