// SPDX-License-Identifier: Apache-2.0
// Parser of HTTP/1.x requests: see web_parse.h. Where RFC 9112 lets a server be lenient or strict, this one is strict,
// since two parsers that disagree about where a request ends are how requests are smuggled. Owner: the connection that
// feeds it; pure, any thread.
#include "common/web_parse.h"

#include <string.h>

#include "common/compiler.h"
#include "common/web_parse_internal.h"

#define METHOD_BYTES_MAX   16
#define REQUEST_LINE_EXTRA (METHOD_BYTES_MAX + 12)  // two spaces and the version

enum web_parse_step web_parse_fault(struct web_parse *p, int status, const char *text)
{
  p->state = WEB_AT_FAULT;
  p->status = status;
  p->fault = text;
  return WEB_PARSE_FAULT;
}

static bool is_token_char(unsigned char c)
{
  // One bit per character: ! # $ % & ' * + - . digits letters ^ _ ` | ~
  static const uint32_t bits[4] = {0, 0x03ff6cfau, 0xc7fffffeu, 0x57ffffffu};
  return c < 128 && (bits[c >> 5] >> (c & 31) & 1u) != 0;
}

bool web_parse_is_token(const char *bytes, size_t len)
{
  for (size_t i = 0; i < len; i++)
    if (!is_token_char((unsigned char)bytes[i])) return false;
  return len > 0;
}

bool web_parse_is_value(const char *bytes, size_t len)
{
  for (size_t i = 0; i < len; i++) {
    unsigned char c = (unsigned char)bytes[i];
    if ((c < 0x20 && c != '\t') || c == 0x7f) return false;
  }
  return true;
}

static char lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c; }

bool web_parse_same(const char *a, size_t a_len, const char *b, size_t b_len)
{
  if (a_len != b_len) return false;
  for (size_t i = 0; i < a_len; i++)
    if (lower(a[i]) != lower(b[i])) return false;
  return true;
}

static bool same(const char *a, size_t a_len, const char *literal)
{
  return web_parse_same(a, a_len, literal, strlen(literal));
}

static struct web_piece piece(size_t at, size_t len) { return (struct web_piece){(uint32_t)at, (uint32_t)len}; }

void web_parse_reset(struct web_parse *p) { memset(p, 0, offsetof(struct web_parse, headers)); }

// --- lines

// Finds the line that starts at pos, without its CR LF; a bare LF is broken (a bare CR is found by the check of
// characters).
enum web_parse_line web_parse_find_line(struct web_parse *p, const char *bytes, size_t len, size_t *out_line_len)
{
  const char *lf = p->scan < len ? memchr(bytes + p->scan, '\n', len - p->scan) : NULL;
  if (!lf) {
    p->scan = len;
    return LINE_NONE;
  }
  size_t at = (size_t)(lf - bytes);
  if (at == p->pos || bytes[at - 1] != '\r') return LINE_BROKEN;
  *out_line_len = at - 1 - p->pos;
  return LINE_FOUND;
}

void web_parse_next_line(struct web_parse *p, size_t line_len)
{
  p->pos += line_len + 2;
  p->scan = p->pos;
}

// --- request line

static enum web_parse_step parse_version(struct web_parse *p, const char *v, size_t len)
{
  if (len != 8 || memcmp(v, "HTTP/", 5) != 0 || v[5] < '0' || v[5] > '9' || v[6] != '.' || v[7] < '0' || v[7] > '9')
    return web_parse_fault(p, 400, "The request line is not METHOD target HTTP/1.1.");
  if (v[5] != '1' || v[7] > '1') return web_parse_fault(p, 505, "Only HTTP/1.1 and HTTP/1.0 are spoken here.");
  p->minor_0 = v[7] == '0';
  p->close = p->minor_0;
  return WEB_PARSE_MORE;
}

// "http://host/path" is as good as "/path": only the path matters here.
static size_t authority_len(const char *target, size_t len)
{
  size_t scheme = same(target, len < 7 ? len : 7, "http://") ? 7 : same(target, len < 8 ? len : 8, "https://") ? 8 : 0;
  if (scheme == 0) return 0;
  const char *slash = memchr(target + scheme, '/', len - scheme);
  return slash ? (size_t)(slash - target) : 0;
}

static enum web_parse_step parse_target(struct web_parse *p, char *bytes, size_t at, size_t len)
{
  if (len > WEB_URI_BYTES_MAX) return web_parse_fault(p, 414, "The request target is too long.");
  for (size_t i = 0; i < len; i++) {
    unsigned char c = (unsigned char)bytes[at + i];
    if (c <= 0x20 || c >= 0x7f || c == '#')
      return web_parse_fault(p, 400, "The request target has a character that must be percent-encoded.");
  }
  bytes[at + len] = '\0';
  if (len == 1 && bytes[at] == '*' && same(bytes + p->method.at, p->method.len, "OPTIONS")) {
    p->path = piece(at, 1);
    return WEB_PARSE_MORE;
  }
  size_t skip = authority_len(bytes + at, len);
  at += skip;
  len -= skip;
  if (len == 0 || bytes[at] != '/')
    return web_parse_fault(p, 400, "The request target must be a path that begins with a slash.");
  const char *mark = memchr(bytes + at, '?', len);
  size_t path_len = mark ? (size_t)(mark - (bytes + at)) : len;
  p->path = piece(at, path_len);
  if (mark) {
    bytes[at + path_len] = '\0';
    p->query = piece(at + path_len + 1, len - path_len - 1);
    p->has_query = true;
  }
  return WEB_PARSE_MORE;
}

static enum web_parse_step parse_request_line(struct web_parse *p, char *bytes, size_t line_len)
{
  char *line = bytes + p->pos;
  const char *space = memchr(line, ' ', line_len);
  size_t method_len = space ? (size_t)(space - line) : 0;
  if (!space || method_len > METHOD_BYTES_MAX || !web_parse_is_token(line, method_len))
    return web_parse_fault(p, 400, "The request line does not begin with a method.");
  size_t rest = line_len - method_len - 1;
  const char *target = space + 1;
  const char *second = memchr(target, ' ', rest);
  if (!second) return web_parse_fault(p, 400, "The request line is not METHOD target HTTP/1.1.");
  size_t target_len = (size_t)(second - target);
  enum web_parse_step step = parse_version(p, second + 1, rest - target_len - 1);
  if (step == WEB_PARSE_FAULT) return step;
  p->method = piece(p->pos, method_len);
  line[method_len] = '\0';
  return parse_target(p, bytes, p->pos + method_len + 1, target_len);
}

static enum web_parse_step at_request_line(struct web_parse *p, char *bytes, size_t len)
{
  size_t line_len = 0;
  enum web_parse_line verdict = web_parse_find_line(p, bytes, len, &line_len);
  if (verdict == LINE_BROKEN) return web_parse_fault(p, 400, "Lines must end with CR LF.");
  if (verdict == LINE_NONE) {
    if (len - p->pos > WEB_URI_BYTES_MAX + REQUEST_LINE_EXTRA)
      return web_parse_fault(p, 414, "The request target is too long.");
    return WEB_PARSE_MORE;
  }
  if (line_len == 0 && p->head_bytes == 0) {  // RFC 9112 2.2: an empty line before the request is passed over, here one
    p->head_bytes = 2;
    web_parse_next_line(p, 0);
    return at_request_line(p, bytes, len);
  }
  enum web_parse_step step = parse_request_line(p, bytes, line_len);
  if (step == WEB_PARSE_FAULT) return step;
  p->head_bytes += line_len + 2;
  web_parse_next_line(p, line_len);
  p->state = WEB_AT_HEADERS;
  return WEB_PARSE_HEAD;
}

// --- headers

// Splits "Name: value" and checks every character; out is untouched on a fault.
enum web_parse_step web_parse_split_header(struct web_parse *p, const char *bytes, size_t line_len,
                                           struct web_header_line *out)
{
  const char *line = bytes + p->pos;
  if (line[0] == ' ' || line[0] == '\t') return web_parse_fault(p, 400, "Folded header lines are not accepted.");
  const char *colon = memchr(line, ':', line_len);
  if (!colon) return web_parse_fault(p, 400, "A header line has no colon.");
  size_t name_len = (size_t)(colon - line);
  if (!web_parse_is_token(line, name_len))
    return web_parse_fault(p, 400, "A header name has a character that is not allowed, or a space before its colon.");
  size_t from = name_len + 1, to = line_len;
  while (from < to && (line[from] == ' ' || line[from] == '\t')) from++;
  while (to > from && (line[to - 1] == ' ' || line[to - 1] == '\t')) to--;
  if (!web_parse_is_value(line + from, to - from))
    return web_parse_fault(p, 400, "A header value has a control character.");
  *out = (struct web_header_line){piece(p->pos, name_len), piece(p->pos + from, to - from)};
  return WEB_PARSE_MORE;
}

static enum web_parse_step parse_length(struct web_parse *p, const char *v, size_t len)
{
  uint64_t n = 0;
  for (size_t i = 0; i < len; i++) {
    if (v[i] < '0' || v[i] > '9') return web_parse_fault(p, 400, "Content-Length must be one decimal number.");
    uint64_t digit = (uint64_t)(v[i] - '0');
    n = n > (UINT64_MAX - digit) / 10 ? UINT64_MAX : n * 10 + digit;  // saturates: too large for any limit
  }
  if (len == 0) return web_parse_fault(p, 400, "Content-Length must be one decimal number.");
  p->has_length = true;
  p->length = n;
  return WEB_PARSE_MORE;
}

static void parse_connection(struct web_parse *p, const char *v, size_t len)
{
  for (size_t at = 0; at < len;) {
    const char *comma = memchr(v + at, ',', len - at);
    size_t end = comma ? (size_t)(comma - v) : len, from = at, to = end;
    while (from < to && (v[from] == ' ' || v[from] == '\t')) from++;
    while (to > from && (v[to - 1] == ' ' || v[to - 1] == '\t')) to--;
    if (same(v + from, to - from, "close")) p->close = true;
    at = end + 1;
  }
}

static bool is_host(const char *v, size_t len)
{
  for (size_t i = 0; i < len; i++)
    if ((unsigned char)v[i] <= 0x20 || (unsigned char)v[i] >= 0x7f || strchr("/@?#,\\\"<>", v[i])) return false;
  return true;
}

static enum web_known known_header(const char *name, size_t len)
{
  switch (len) {
    case 4: return same(name, len, "host") ? WEB_HOST : WEB_KNOWN_COUNT;
    case 6: return same(name, len, "expect") ? WEB_EXPECT : WEB_KNOWN_COUNT;
    case 12: return same(name, len, "content-type") ? WEB_CONTENT_TYPE : WEB_KNOWN_COUNT;
    case 13: return same(name, len, "authorization") ? WEB_AUTHORIZATION : WEB_KNOWN_COUNT;
    case 14: return same(name, len, "content-length") ? WEB_CONTENT_LENGTH : WEB_KNOWN_COUNT;
    case 17: return same(name, len, "transfer-encoding") ? WEB_TRANSFER_ENCODING : WEB_KNOWN_COUNT;
    default: return WEB_KNOWN_COUNT;
  }
}

static enum web_parse_step take_known(struct web_parse *p, enum web_known which, const char *v, size_t len)
{
  if (p->known[which] != 0) return web_parse_fault(p, 400, "A header that may be sent once was sent twice.");
  p->known[which] = (uint8_t)(p->header_count + 1);
  switch (which) {
    case WEB_HOST: return is_host(v, len) ? WEB_PARSE_MORE : web_parse_fault(p, 400, "The Host header is malformed.");
    case WEB_CONTENT_LENGTH: return parse_length(p, v, len);
    case WEB_TRANSFER_ENCODING:
      if (!same(v, len, "chunked") || p->minor_0)
        return web_parse_fault(p, 400, "The only transfer coding is chunked, in HTTP/1.1.");
      p->chunked = true;
      return WEB_PARSE_MORE;
    case WEB_EXPECT:
      // HTTP/1.0 has no 100 Continue; RFC 9110 10.1.1 says to ignore the expectation there.
      if (!same(v, len, "100-continue"))
        return web_parse_fault(p, 417, "The only expectation that can be met is 100-continue.");
      p->expects_continue = !p->minor_0;
      return WEB_PARSE_MORE;
    case WEB_CONTENT_TYPE:
    case WEB_AUTHORIZATION:
    case WEB_KNOWN_COUNT: break;
  }
  return WEB_PARSE_MORE;
}

static enum web_parse_step parse_header(struct web_parse *p, char *bytes, size_t line_len)
{
  struct web_header_line h;
  enum web_parse_step step = web_parse_split_header(p, bytes, line_len, &h);
  if (step == WEB_PARSE_FAULT) return step;
  if (p->header_count == WEB_HEADERS_MAX) return web_parse_fault(p, 431, "There are too many headers.");
  char *name = bytes + h.name.at, *value = bytes + h.value.at;
  enum web_known which = known_header(name, h.name.len);
  if (which != WEB_KNOWN_COUNT) {
    step = take_known(p, which, value, h.value.len);
    if (step == WEB_PARSE_FAULT) return step;
  } else if (h.name.len == 10 && same(name, h.name.len, "connection")) {
    parse_connection(p, value, h.value.len);
  }
  name[h.name.len] = '\0';
  value[h.value.len] = '\0';
  p->headers[p->header_count++] = h;
  return WEB_PARSE_MORE;
}

static enum web_parse_step end_headers(struct web_parse *p)
{
  if (p->known[WEB_HOST] == 0 && !p->minor_0) return web_parse_fault(p, 400, "The Host header is missing.");
  if (p->chunked && p->has_length)
    return web_parse_fault(p, 400, "Content-Length and Transfer-Encoding exclude each other.");
  p->body_at = p->pos;
  p->body_len = 0;
  p->state = WEB_AT_BODY_START;
  return WEB_PARSE_HEAD;
}

static enum web_parse_step at_headers(struct web_parse *p, char *bytes, size_t len)
{
  for (;;) {
    size_t line_len = 0;
    enum web_parse_line verdict = web_parse_find_line(p, bytes, len, &line_len);
    if (verdict == LINE_BROKEN) return web_parse_fault(p, 400, "Lines must end with CR LF.");
    size_t seen = p->head_bytes + (verdict == LINE_NONE ? len - p->pos : line_len + 2);
    if (seen > WEB_HEADER_BYTES_MAX) return web_parse_fault(p, 431, "The headers are too large.");
    if (verdict == LINE_NONE) return WEB_PARSE_MORE;
    p->head_bytes = seen;
    if (line_len == 0) {
      web_parse_next_line(p, 0);
      return end_headers(p);
    }
    if (parse_header(p, bytes, line_len) == WEB_PARSE_FAULT) return WEB_PARSE_FAULT;
    web_parse_next_line(p, line_len);
  }
}

// --- a request

enum web_parse_step web_parse_feed(struct web_parse *p, char *bytes, size_t *io_len)
{
  enum web_parse_step step = WEB_PARSE_HEAD;  // inside: "go on with the next state"
  while (step == WEB_PARSE_HEAD) {
    if (p->state == WEB_AT_REQUEST_LINE) {
      step = at_request_line(p, bytes, *io_len);
    } else if (p->state == WEB_AT_HEADERS) {
      step = at_headers(p, bytes, *io_len);
      if (step == WEB_PARSE_HEAD) return WEB_PARSE_HEAD;
    } else {
      step = web_parse_body(p, bytes, io_len);
    }
  }
  return step;
}
