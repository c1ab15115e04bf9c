// SPDX-License-Identifier: Apache-2.0
// A small strict reader of answers with Content-Length. Chunked answers are broken to it: the daemons never send them.
// Pure; any thread.
#include "tests/bench/load/answer.h"

#include <string.h>
#include <strings.h>

#include "common/text.h"

#define HEAD_BYTES_MAX 8192
#define DEPTH_MAX      32

struct head {
  bool has_length, broken;
  size_t length;
};

static bool name_is(const char *line, size_t name_len, const char *name)
{
  return name_len == strlen(name) && strncasecmp(line, name, name_len) == 0;
}

static void read_header(const char *line, size_t len, struct head *h, struct answer *a)
{
  const char *colon = memchr(line, ':', len);
  if (colon == NULL) {
    h->broken = true;
    return;
  }
  size_t name_len = (size_t)(colon - line), value_len = len - name_len - 1;
  const char *value = colon + 1;
  while (value_len > 0 && (*value == ' ' || *value == '\t')) value++, value_len--;
  while (value_len > 0 && (value[value_len - 1] == ' ' || value[value_len - 1] == '\t')) value_len--;
  uint64_t number = 0;
  if (name_is(line, name_len, "Content-Length")) {
    if (h->has_length || text_to_u64(value, value_len, &number) != RESULT_OK) h->broken = true;
    h->has_length = true;
    h->length = (size_t)number;
  } else if (name_is(line, name_len, "Transfer-Encoding")) {
    h->broken = true;
  } else if (name_is(line, name_len, "Connection")) {
    a->close = value_len == 5 && strncasecmp(value, "close", 5) == 0;
  } else if (name_is(line, name_len, "Idempotent-Replayed")) {
    a->replayed = value_len == 4 && memcmp(value, "true", 4) == 0;
  } else if (name_is(line, name_len, "Retry-After")) {
    if (text_to_u64(value, value_len, &number) == RESULT_OK && number <= 3600) a->retry_after_s = (int)number;
  }
}

// "HTTP/1.1 201 Created"
static bool read_status(const char *line, size_t len, int *out_status)
{
  if (len < 12 || memcmp(line, "HTTP/1.", 7) != 0 || line[8] != ' ') return false;
  int status = 0;
  for (int i = 9; i < 12; i++) {
    if (line[i] < '0' || line[i] > '9') return false;
    status = status * 10 + (line[i] - '0');
  }
  *out_status = status;
  return status >= 100 && status <= 599;
}

// --- the body: one walk over the JSON, keeping the texts of three top-level members ---

struct walk {
  const char *at, *end;
};

static bool walk_string(struct walk *w, struct answer_text *out_text)
{
  const char *start = ++w->at;
  for (; w->at < w->end && *w->at != '"'; w->at++) {
    if (*w->at == '\\') w->at++;
  }
  if (w->at >= w->end) return false;
  *out_text = (struct answer_text){start, (size_t)(w->at - start)};
  w->at++;
  return true;
}

static void keep_member(struct answer *a, struct answer_text name, struct answer_text value)
{
  if (name.len == 4 && memcmp(name.bytes, "code", 4) == 0) a->code = value;
  if (name.len == 7 && memcmp(name.bytes, "claimId", 7) == 0) a->claim_id = value;
  if (name.len == 6 && memcmp(name.bytes, "status", 6) == 0) a->state = value;
}

// True if brackets and strings are complete. Values other than texts are passed over; their grammar is the server's
// tests' business.
static bool walk_body(const char *body, size_t len, struct answer *a)
{
  struct walk w = {body, body + len};
  struct answer_text name = {NULL, 0}, text;
  char open[DEPTH_MAX];
  size_t depth = 0;
  bool after_colon = false;
  while (w.at < w.end) {
    char c = *w.at;
    if (c == '"') {
      if (!walk_string(&w, &text)) return false;
      if (depth == 1 && after_colon) keep_member(a, name, text);
      name = text;
      after_colon = false;
      continue;
    }
    if (c == '{' || c == '[') {
      if (depth == DEPTH_MAX) return false;
      open[depth++] = c;
    } else if (c == '}' || c == ']') {
      if (depth == 0 || open[--depth] != (c == '}' ? '{' : '[')) return false;
    }
    if (c == ':')
      after_colon = true;
    else if (c == ',' || c == '}' || c == ']')
      after_colon = false;
    w.at++;
  }
  return depth == 0;
}

enum answer_progress answer_read(const char *bytes, size_t len, struct answer *out_answer)
{
  const char *head_end = memmem(bytes, len, "\r\n\r\n", 4);
  if (head_end == NULL) return len > HEAD_BYTES_MAX ? ANSWER_BROKEN : ANSWER_PARTIAL;
  struct answer a = {0};
  struct head h = {false, false, 0};
  const char *line = bytes, *end = memmem(line, len, "\r\n", 2);
  if (!read_status(line, (size_t)(end - line), &a.status)) return ANSWER_BROKEN;
  while (end != head_end) {
    line = end + 2;
    end = memmem(line, (size_t)(head_end + 2 - line), "\r\n", 2);
    read_header(line, (size_t)(end - line), &h, &a);
  }
  if (h.broken || (!h.has_length && a.status != 204 && a.status != 304)) return ANSWER_BROKEN;
  size_t head_len = (size_t)(head_end - bytes) + 4;
  if (h.length > len - head_len) return ANSWER_PARTIAL;
  a.bytes = head_len + h.length;
  if (!walk_body(bytes + head_len, h.length, &a)) return ANSWER_BROKEN;
  *out_answer = a;
  return ANSWER_COMPLETE;
}
