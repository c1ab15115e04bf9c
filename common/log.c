// SPDX-License-Identifier: Apache-2.0
// Formats events as key=value text or JSON, gathers them, and writes them once per loop turn.
// Loop thread only, except log_flush at exit.
#include "common/log.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/contract.h"
#include "common/limits.h"
#include "common/mem.h"
#include "common/text.h"

#define LAST_FLUSH_WAIT_MS    1000
#define TRUNCATION_MARK_BYTES 32  // kept free in every line for `truncated=true` and the end of the line

struct log {
  const char *daemon;
  const struct log_event_def *events;
  size_t event_count;
  int fd;
  enum log_level level;
  enum log_format format;
  struct buf line;
  struct buf pending;
  size_t written;  // bytes of pending that the fd has taken
  uint64_t dropped;
};

static const char *const level_names[] = {"error", "warn", "info", "debug"};

struct log *log_new(const char *daemon, const struct log_event_def *events, size_t event_count, int fd)
{
  struct log *log = MEM_NEW(struct log);
  log->daemon = daemon;
  log->events = events;
  log->event_count = event_count;
  log->fd = fd;
  log->level = LOG_INFO;
  buf_init(&log->line, LOG_LINE_BYTES_MAX - TRUNCATION_MARK_BYTES);
  buf_init(&log->pending, LOG_BUFFER_BYTES_MAX);
  return log;
}

void log_free(struct log *log)
{
  if (log == NULL) return;
  log_flush(log);
  // The last lines say why the process ends: give a slow reader of a non-blocking pipe a moment.
  struct pollfd slot = {.fd = log->fd, .events = POLLOUT};
  if (log->pending.len > 0 && poll(&slot, 1, LAST_FLUSH_WAIT_MS) == 1) log_flush(log);
  buf_release(&log->line);
  buf_release(&log->pending);
  mem_free(log);
}

void log_set(struct log *log, enum log_level level, enum log_format format)
{
  log->level = level;
  log->format = format;
}

bool log_wants(const struct log *log, int event)
{
  REQUIRE(event >= 0 && (size_t)event < log->event_count);
  return log->events[event].level <= log->level;
}

uint64_t log_dropped(const struct log *log) { return log->dropped; }

static size_t count_lines(const char *bytes, size_t len)
{
  size_t lines = 0;
  for (size_t i = 0; i < len; i++) lines += bytes[i] == '\n';
  return lines;
}

// Writes as much as the fd takes now. What it refuses for good (no reader, no space) is dropped and counted.
static void write_pending(struct log *log)
{
  while (log->written < log->pending.len) {
    ssize_t n = write(log->fd, log->pending.data + log->written, log->pending.len - log->written);
    if (n >= 0) {
      log->written += (size_t)n;
      continue;
    }
    if (errno == EINTR) continue;
    if (errno == EAGAIN || errno == EWOULDBLOCK) return;
    log->dropped += count_lines(log->pending.data + log->written, log->pending.len - log->written);
    break;
  }
  buf_clear(&log->pending);
  log->written = 0;
}

void log_flush(struct log *log)
{
  int saved_errno = errno;
  write_pending(log);
  errno = saved_errno;
}

// Text that a reader of key=value lines cannot mistake for anything else goes without quotes.
static bool is_plain(const char *bytes, size_t len)
{
  for (size_t i = 0; i < len; i++) {
    char c = bytes[i];
    bool is_word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
    if (!is_word && c != '.' && c != ':' && c != '/' && c != '@' && c != '+' && c != ',') return false;
  }
  return len > 0;
}

static void put_text(struct log *log, const char *bytes, size_t len)
{
  size_t kept = len;
  if (kept > LOG_FIELD_BYTES_MAX) {
    kept = LOG_FIELD_BYTES_MAX;
    // Not in the middle of a character.
    for (int i = 0; i < 3 && kept > 0 && ((unsigned char)bytes[kept] & 0xC0) == 0x80; i++) kept--;
  }
  if (log->format == LOG_FORMAT_TEXT && kept == len && is_plain(bytes, len)) {
    buf_append(&log->line, bytes, len);
    return;
  }
  buf_put_json(&log->line, bytes, kept);
  if (kept == len || log->line.overflowed) return;
  // Reopen the quoted text to show that it went on.
  log->line.len--;
  buf_puts(&log->line, "...\"");
}

// Seconds with six digits. By hand, since a claim writes ten fields and printf was a tenth of its cost.
static void put_span(struct buf *line, int64_t us)
{
  uint64_t size = us < 0 ? -(uint64_t)us : (uint64_t)us;
  if (us < 0) buf_putc(line, '-');
  buf_put_u64(line, size / 1000000);
  char fraction[8] = ".000000";
  uint64_t rest = size % 1000000;
  for (size_t i = 6; i > 0; i--, rest /= 10) fraction[i] = (char)('0' + rest % 10);
  buf_append(line, fraction, 7);
}

static void put_value(struct log *log, const struct log_field *field)
{
  int64_t us = field->value.i64;
  switch (field->type) {
    case LOG_TEXT: put_text(log, field->value.text, strlen(field->value.text)); break;
    case LOG_BYTES: put_text(log, field->value.text, field->len); break;
    case LOG_INT: buf_put_i64(&log->line, field->value.i64); break;
    case LOG_UINT: buf_put_u64(&log->line, field->value.u64); break;
    case LOG_BOOL: buf_puts(&log->line, field->value.i64 ? "true" : "false"); break;
    case LOG_SPAN: put_span(&log->line, us); break;
    case LOG_END: break;
  }
}

static void put_key(struct log *log, const char *key)
{
  bool is_json = log->format == LOG_FORMAT_JSON;
  buf_puts(&log->line, is_json ? ",\"" : " ");
  buf_puts(&log->line, key);
  buf_puts(&log->line, is_json ? "\":" : "=");
}

static void put_fields(struct log *log, const struct log_field *fields)
{
  bool is_truncated = false;
  for (; fields->key != NULL; fields++) {
    bool is_text = fields->type == LOG_TEXT || fields->type == LOG_BYTES;
    if (is_text && fields->value.text == NULL) continue;
    size_t before = log->line.len;
    put_key(log, fields->key);
    put_value(log, fields);
    if (buf_result(&log->line) == RESULT_OK) continue;
    // This field does not fit; a later, shorter one may.
    log->line.len = before;
    log->line.overflowed = false;
    is_truncated = true;
  }
  // The mark and the end use the bytes that were kept free.
  log->line.max = LOG_LINE_BYTES_MAX;
  if (is_truncated) {
    put_key(log, "truncated");
    buf_puts(&log->line, "true");
  }
  buf_puts(&log->line, log->format == LOG_FORMAT_JSON ? "}\n" : "\n");
  log->line.max = LOG_LINE_BYTES_MAX - TRUNCATION_MARK_BYTES;
}

static void format_line(struct log *log, const struct log_event_def *def, const struct log_field *fields)
{
  char now[TEXT_TIME_BYTES];
  text_from_time(clk_wall(), now);
  bool is_json = log->format == LOG_FORMAT_JSON;
  const char *level = level_names[def->level];
  struct buf *line = &log->line;
  buf_clear(line);
  buf_puts(line, is_json ? "{\"time\":\"" : "");
  buf_puts(line, now);
  buf_puts(line, is_json ? "\",\"level\":\"" : " ");
  buf_puts(line, level);
  if (!is_json && strlen(level) == 4) buf_putc(line, ' ');
  buf_puts(line, is_json ? "\",\"daemon\":\"" : " ");
  buf_puts(line, log->daemon);
  buf_puts(line, is_json ? "\",\"pid\":" : "[");
  buf_put_i64(line, getpid());
  buf_puts(line, is_json ? ",\"event\":\"" : "] ");
  buf_puts(line, def->name);
  buf_puts(line, is_json ? "\"" : "");
  put_fields(log, fields);
}

void log_write(struct log *log, int event, const struct log_field *fields)
{
  if (!log_wants(log, event)) return;
  int saved_errno = errno;
  format_line(log, &log->events[event], fields);
  size_t room = log->pending.max - log->pending.len;
  if (log->line.len > room) {
    write_pending(log);
    // The fd took a part: only what it has not seen is kept.
    buf_consume(&log->pending, log->written);
    log->written = 0;
    room = log->pending.max - log->pending.len;
  }
  if (log->line.len > room)
    log->dropped++;
  else
    buf_append(&log->pending, log->line.data, log->line.len);
  errno = saved_errno;
}
