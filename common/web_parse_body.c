// SPDX-License-Identifier: Apache-2.0
// Bodies of HTTP/1.x requests: by length, or in chunks that are moved together in place.
// Owner: the connection that feeds the parser; pure, any thread.
#include <string.h>

#include "common/contract.h"
#include "common/web_parse_internal.h"

#define CHUNK_LINE_BYTES_MAX 256
#define CHUNK_DIGITS_MAX     16

static enum web_parse_step at_body_start(struct web_parse *p)
{
  if (p->has_length && p->length > p->body_max)
    return web_parse_fault(p, 413, "The body is larger than this call allows.");
  p->head_bytes = 0;  // from here on it counts the trailer
  p->state = p->chunked ? WEB_AT_CHUNK_SIZE : WEB_AT_LENGTH_BODY;
  return WEB_PARSE_HEAD;
}

static enum web_parse_step at_length_body(struct web_parse *p, size_t len)
{
  if (len - p->body_at < p->length) return WEB_PARSE_MORE;
  p->body_len = (size_t)p->length;
  p->pos = p->body_at + p->body_len;
  p->state = WEB_AT_END;
  return WEB_PARSE_DONE;
}

static int hex_value(char c)
{
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static enum web_parse_step parse_chunk_size(struct web_parse *p, const char *line, size_t len)
{
  uint64_t size = 0;
  size_t digits = 0;
  while (digits < len && hex_value(line[digits]) >= 0) {
    if (digits == CHUNK_DIGITS_MAX) return web_parse_fault(p, 400, "A chunk size has too many digits.");
    size = size << 4 | (uint64_t)hex_value(line[digits++]);
  }
  bool has_extension = digits < len && line[digits] == ';';
  if (digits == 0 || (digits < len && !has_extension) || !web_parse_is_value(line, len))
    return web_parse_fault(p, 400, "A chunk size is malformed.");
  if (size > p->body_max - p->body_len) return web_parse_fault(p, 413, "The body is larger than this call allows.");
  p->chunk_left = size;
  p->state = size == 0 ? WEB_AT_TRAILER : WEB_AT_CHUNK_DATA;
  return WEB_PARSE_HEAD;
}

static enum web_parse_step at_chunk_size(struct web_parse *p, const char *bytes, size_t len)
{
  size_t line_len = 0;
  enum web_parse_line verdict = web_parse_find_line(p, bytes, len, &line_len);
  if (verdict == LINE_BROKEN) return web_parse_fault(p, 400, "Lines must end with CR LF.");
  if ((verdict == LINE_NONE ? len - p->pos : line_len) > CHUNK_LINE_BYTES_MAX)
    return web_parse_fault(p, 400, "A chunk size line is too long.");
  if (verdict == LINE_NONE) return WEB_PARSE_MORE;
  if (parse_chunk_size(p, bytes + p->pos, line_len) == WEB_PARSE_FAULT) return WEB_PARSE_FAULT;
  web_parse_next_line(p, line_len);
  return WEB_PARSE_HEAD;
}

static enum web_parse_step at_chunk_data(struct web_parse *p, char *bytes, size_t len)
{
  size_t have = len - p->pos;
  size_t take = have < p->chunk_left ? have : (size_t)p->chunk_left;
  memmove(bytes + p->body_at + p->body_len, bytes + p->pos, take);
  p->body_len += take;
  p->pos += take;
  p->scan = p->pos;
  p->chunk_left -= take;
  if (p->chunk_left > 0) return WEB_PARSE_MORE;
  p->state = WEB_AT_CHUNK_END;
  return WEB_PARSE_HEAD;
}

static enum web_parse_step at_chunk_end(struct web_parse *p, const char *bytes, size_t len)
{
  size_t have = len - p->pos;
  if ((have > 0 && bytes[p->pos] != '\r') || (have > 1 && bytes[p->pos + 1] != '\n'))
    return web_parse_fault(p, 400, "A chunk does not end where its size says.");
  if (have < 2) return WEB_PARSE_MORE;
  web_parse_next_line(p, 0);
  p->state = WEB_AT_CHUNK_SIZE;
  return WEB_PARSE_HEAD;
}

// Trailer fields are checked like headers, and dropped.
static enum web_parse_step at_trailer(struct web_parse *p, const char *bytes, size_t len)
{
  size_t line_len = 0;
  enum web_parse_line verdict = web_parse_find_line(p, bytes, len, &line_len);
  if (verdict == LINE_BROKEN) return web_parse_fault(p, 400, "Lines must end with CR LF.");
  size_t seen = p->head_bytes + (verdict == LINE_NONE ? len - p->pos : line_len + 2);
  if (seen > WEB_HEADER_BYTES_MAX) return web_parse_fault(p, 431, "The trailer is too large.");
  if (verdict == LINE_NONE) return WEB_PARSE_MORE;
  struct web_header_line dropped;
  if (line_len > 0 && web_parse_split_header(p, bytes, line_len, &dropped) == WEB_PARSE_FAULT) return WEB_PARSE_FAULT;
  p->head_bytes = seen;
  web_parse_next_line(p, line_len);
  if (line_len > 0) return WEB_PARSE_HEAD;
  p->state = WEB_AT_END;
  return WEB_PARSE_DONE;
}

// Closes the gap that the framing of chunks left, so that a slow sender of tiny chunks takes no more room than its
// body.
static void close_gap(struct web_parse *p, char *bytes, size_t *io_len)
{
  size_t to = p->body_at + p->body_len, gap = p->pos - to;
  if (gap == 0) return;
  memmove(bytes + to, bytes + p->pos, *io_len - p->pos);
  p->pos = to;
  p->scan -= gap;
  *io_len -= gap;
}

static enum web_parse_step one_step(struct web_parse *p, char *bytes, size_t len)
{
  switch (p->state) {
    case WEB_AT_BODY_START: return at_body_start(p);
    case WEB_AT_LENGTH_BODY: return at_length_body(p, len);
    case WEB_AT_CHUNK_SIZE: return at_chunk_size(p, bytes, len);
    case WEB_AT_CHUNK_DATA: return at_chunk_data(p, bytes, len);
    case WEB_AT_CHUNK_END: return at_chunk_end(p, bytes, len);
    case WEB_AT_TRAILER: return at_trailer(p, bytes, len);
    default: break;
  }
  REQUIRE(p->state >= WEB_AT_BODY_START && p->state < WEB_AT_END);
  return WEB_PARSE_FAULT;
}

enum web_parse_step web_parse_body(struct web_parse *p, char *bytes, size_t *io_len)
{
  enum web_parse_step step = one_step(p, bytes, *io_len);
  if (step == WEB_PARSE_MORE && p->state >= WEB_AT_CHUNK_SIZE) close_gap(p, bytes, io_len);
  return step;
}
