// SPDX-License-Identifier: Apache-2.0
// The strict, incremental parser of HTTP/1.x requests: request line, headers, bodies by length or in chunks, limits.
// Pure: bytes in, verdict out; it works in place on the connection's buffer and never allocates. Any thread.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/limits.h"

enum web_parse_step {
  WEB_PARSE_MORE,   // feed again when more bytes have come
  WEB_PARSE_HEAD,   // the head is complete; set body_max, then feed again
  WEB_PARSE_DONE,   // the request is complete; what lies at and after pos belongs to the next one
  WEB_PARSE_FAULT,  // status and fault say why; the connection cannot be used any more
};

enum web_parse_state {
  WEB_AT_REQUEST_LINE,
  WEB_AT_HEADERS,
  WEB_AT_BODY_START,
  WEB_AT_LENGTH_BODY,
  WEB_AT_CHUNK_SIZE,
  WEB_AT_CHUNK_DATA,
  WEB_AT_CHUNK_END,
  WEB_AT_TRAILER,
  WEB_AT_END,
  WEB_AT_FAULT
};

// A piece of the buffer as an offset, since the buffer may move while it grows. Method, path, query, header names and
// values of a complete head are NUL-terminated in the buffer.
struct web_piece {
  uint32_t at, len;
};
struct web_header_line {
  struct web_piece name, value;
};

// Headers with a meaning of their own: index + 1 into headers, 0 when absent. Each may be sent once only.
enum web_known {
  WEB_HOST,
  WEB_CONTENT_LENGTH,
  WEB_TRANSFER_ENCODING,
  WEB_CONTENT_TYPE,
  WEB_AUTHORIZATION,
  WEB_EXPECT,
  WEB_KNOWN_COUNT
};

struct web_parse {
  uint64_t body_max;  // the caller's, before the feed that follows WEB_PARSE_HEAD
  enum web_parse_state state;
  int status;         // of a fault: 400, 408, 413, 414, 417, 431 or 505
  const char *fault;  // one English sentence, a literal
  size_t pos;         // first byte not consumed
  size_t scan;        // no line feed lies between pos and here
  size_t head_bytes;  // request line and headers so far, then the trailer's
  struct web_piece method, path, query;
  bool has_query;
  bool minor_0;  // HTTP/1.0
  bool close;    // the client does not want the connection kept
  bool chunked, has_length, expects_continue;
  uint64_t length;  // Content-Length
  uint64_t chunk_left;
  size_t body_at, body_len;  // the decoded body, contiguous
  size_t header_count;
  uint8_t known[WEB_KNOWN_COUNT];
  struct web_header_line headers[WEB_HEADERS_MAX];
};

void web_parse_reset(struct web_parse *p);
// bytes begins with the request (all that was fed before is still there, at any address); *io_len is how many there
// are, and may shrink because the framing of chunks is cut out. After WEB_PARSE_DONE and WEB_PARSE_FAULT only reset is
// allowed.
enum web_parse_step web_parse_feed(struct web_parse *p, char *bytes, size_t *io_len);

// Case-insensitive in ASCII only.
bool web_parse_same(const char *a, size_t a_len, const char *b, size_t b_len);
// A token of RFC 9110: what a method or a header's name is made of.
bool web_parse_is_token(const char *bytes, size_t len);
// What a header's value may hold: no control characters but a tab.
bool web_parse_is_value(const char *bytes, size_t len);
