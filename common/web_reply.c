// SPDX-License-Identifier: Apache-2.0
// Answering: status line, headers and body into the connection's output, which is sent at the end of the turn;
// problem+json. Owner: the handler of the request; loop thread.
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "common/contract.h"
#include "common/message.h"
#include "common/web_conn.h"

#define POLICY "content-security-policy"

static const char *reason(int status)
{
  switch (status) {
    case 200: return "OK";
    case 201: return "Created";
    case 202: return "Accepted";
    case 204: return "No Content";
    case 303: return "See Other";
    case 304: return "Not Modified";
    case 400: return "Bad Request";
    case 401: return "Unauthorized";
    case 403: return "Forbidden";
    case 404: return "Not Found";
    case 405: return "Method Not Allowed";
    case 408: return "Request Timeout";
    case 409: return "Conflict";
    case 410: return "Gone";
    case 412: return "Precondition Failed";
    case 413: return "Content Too Large";
    case 414: return "URI Too Long";
    case 415: return "Unsupported Media Type";
    case 417: return "Expectation Failed";
    case 422: return "Unprocessable Content";
    case 429: return "Too Many Requests";
    case 431: return "Request Header Fields Too Large";
    case 500: return "Internal Server Error";
    case 503: return "Service Unavailable";
    case 505: return "HTTP Version Not Supported";
    default:
      return status < 300 ? "Success" : status < 400 ? "Redirection" : status < 500 ? "Client Error" : "Server Error";
  }
}

// The value of the Date header, formatted once a second.
static const char *date(struct web_server *s)
{
  int64_t now = clk_wall().us / 1000000;
  if (now != s->date_s) {
    static const char days[] = "SunMonTueWedThuFriSat", months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    time_t t = (time_t)now;
    struct tm tm;
    ENSURE(gmtime_r(&t, &tm) != NULL);
    (void)snprintf(s->date, sizeof s->date, "%.3s, %02u %.3s %04u %02u:%02u:%02u GMT", days + 3 * tm.tm_wday,
                   (unsigned)tm.tm_mday % 100u, months + 3 * tm.tm_mon, (unsigned)(tm.tm_year + 1900) % 10000u,
                   (unsigned)tm.tm_hour % 100u, (unsigned)tm.tm_min % 100u, (unsigned)tm.tm_sec % 100u);
    s->date_s = now;
  }
  return s->date;
}

void web_reply_header(struct web_request *req, const char *name, const char *value)
{
  size_t name_len = strlen(name), value_len = strlen(value);
  // A value with a line end would let whoever chose it write headers of its own; so it is left out altogether.
  if (!web_parse_is_token(name, name_len) || !web_parse_is_value(value, value_len)) return;
  if (req->header_count == WEB_REPLY_HEADERS_MAX || req->headers.len + name_len + value_len + 4 > req->headers.max)
    return;
  req->header_count++;
  if (web_parse_same(name, name_len, POLICY, sizeof POLICY - 1)) req->has_policy = true;
  buf_append(&req->headers, name, name_len);
  buf_append(&req->headers, ": ", 2);
  buf_append(&req->headers, value, value_len);
  buf_append(&req->headers, "\r\n", 2);
}

// What a browser that is shown an answer may do with it: nothing that it was not sent for.
static void put_protection(struct buf *out, const char *policy)
{
  static const char others[] =
      "X-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\nCross-Origin-Opener-Policy: same-origin\r\n";
  if (policy) {
    buf_puts(out, "Content-Security-Policy: ");
    buf_puts(out, policy);
    buf_puts(out, "\r\n");
  }
  buf_append(out, others, sizeof others - 1);
}

static void put_head(struct web_conn *c, int status, const char *content_type, size_t len)
{
  struct web_request *req = &c->request;
  struct buf *out = &c->out;
  if (status == 200) {
    buf_puts(out, "HTTP/1.1 200 OK\r\nDate: ");
  } else {
    buf_puts(out, "HTTP/1.1 ");
    buf_put_u64(out, (uint64_t)status);
    buf_putc(out, ' ');
    buf_puts(out, reason(status));
    buf_puts(out, "\r\nDate: ");
  }
  buf_puts(out, date(c->server));
  if (content_type) {
    buf_puts(out, "\r\nContent-Type: ");
    buf_puts(out, content_type);
  }
  if (status != 204 && status != 304) {
    buf_puts(out, "\r\nContent-Length: ");
    buf_put_u64(out, len);
  }
  if (req->must_close) buf_puts(out, "\r\nConnection: close");
  buf_puts(out, "\r\n");
  put_protection(out, req->has_policy ? NULL : c->server->policy);
  buf_append(out, req->headers.data, req->headers.len);
  buf_append(out, "\r\n", 2);
}

static void log_served(struct web_conn *c, int status, struct span took)
{
  struct web_request *req = &c->request;
  struct log *log = c->server->rt->log;
  if (!log || !log_wants(log, EV_HTTP_REQUEST_SERVED) || req->parse.method.len == 0) return;
  LOG(log, EV_HTTP_REQUEST_SERVED, F_STR("method", web_method(req)), F_STR("path", req->path), F_INT("status", status),
      F_SPAN("took_s", took), F_STR("actor", web_actor(req)));
}

void web_reply(struct web_request *req, int status, const char *content_type, const char *body, size_t len)
{
  struct web_conn *c = web_request_conn(req);
  REQUIRE(c->state == CONN_HANDLING);
  REQUIRE(status >= 200 && status <= 599);
  if (c->server) {
    struct span took = mono_since(clk_mono(), req->started);
    web_server_count(c->server, req->route, status, took);
    log_served(c, status, took);
  }
  if (c->server && !c->gone) {
    if (len > WEB_REPLY_BYTES_MAX) {
      status = 500;
      content_type = NULL;
      len = 0;
    }
    req->must_close = req->must_close || c->server->draining;
    put_head(c, status, content_type, len);
    if (!req->is_head && status != 204 && status != 304) buf_append(&c->out, body, len);
    ENSURE(!c->out.overflowed);
  }
  conn_request_done(c);
}

void web_reply_close(struct web_request *req)
{
  struct web_conn *c = web_request_conn(req);
  REQUIRE(c->state == CONN_HANDLING);
  c->gone = true;
  conn_request_done(c);
}

void web_reply_json(struct web_request *req, int status, const char *body, size_t len)
{
  web_reply(req, status, "application/json", body, len);
}

void web_reply_empty(struct web_request *req, int status) { web_reply(req, status, NULL, "", 0); }

// --- problems

// "SOLD_OUT" → "sold-out" or, as a title, "Sold out".
static void put_code(struct buf *b, const char *code, char gap, bool capital)
{
  for (const char *p = code; *p; p++) {
    char c = *p >= 'A' && *p <= 'Z' && !(capital && p == code) ? (char)(*p + ('a' - 'A')) : *p;
    buf_putc(b, c == '_' ? gap : c);
  }
}

static const struct message_catalogue *catalogue_of(const struct web_request *req)
{
  const struct web_conn *c = web_request_conn(req);
  return c->server ? c->server->rt->messages : NULL;
}

void web_put_text(struct buf *b, const struct web_request *req, const char *english)
{
  if (!web_wants_chinese(req) || !message_put_chinese(catalogue_of(req), english, b)) buf_puts(b, english);
}

void web_reply_language(struct web_request *req)
{
  web_reply_header(req, "Content-Language", web_wants_chinese(req) ? "zh" : "en");
  web_reply_header(req, "Vary", "Accept-Language");
}

static void put_title(struct buf *b, const struct web_request *req, const char *code)
{
  const char *chinese = web_wants_chinese(req) ? message_title(catalogue_of(req), code) : NULL;
  if (chinese)
    buf_puts(b, chinese);
  else
    put_code(b, code, ' ', true);
}

static void put_detail(struct buf *b, const struct web_request *req, const char *english)
{
  buf_puts(b, ",\"detail\":");
  if (!web_wants_chinese(req)) {
    buf_put_json(b, english, strlen(english));
    return;
  }
  struct buf text;
  buf_init(&text, WEB_REPLY_BYTES_MAX);
  web_put_text(&text, req, english);
  buf_put_json(b, buf_text(&text), text.len);
  buf_release(&text);
}

void web_put_problem(struct buf *b, const struct web_request *req, const struct web_problem *p)
{
  buf_puts(b, "{\"type\":\"/problems/");
  put_code(b, p->code, '-', false);
  buf_puts(b, "\",\"title\":\"");
  put_title(b, req, p->code);
  buf_puts(b, "\",\"status\":");
  buf_put_u64(b, (uint64_t)p->status);
  buf_puts(b, ",\"code\":\"");
  buf_puts(b, p->code);
  buf_putc(b, '"');
  if (p->detail) put_detail(b, req, p->detail);
  if (p->rule) {
    buf_puts(b, ",\"rule\":");
    buf_put_json(b, p->rule, strlen(p->rule));
  }
  if (p->extra_json && p->extra_json[0] != '\0') {
    buf_putc(b, ',');
    buf_puts(b, p->extra_json);
  }
  if (p->retry_after_s > 0) buf_puts(b, ",\"retryable\":true");
  buf_putc(b, '}');
}

// How many are turned away for who they are, or for asking too much.
static void count_refusal(const struct web_server *s, const char *code)
{
  static const char *const counted[] = {"UNAUTHENTICATED", "FORBIDDEN", "RATE_LIMITED"};
  for (size_t i = 0; s->rt->metrics && i < ARRAY_LEN(counted); i++)
    if (strcmp(code, counted[i]) == 0) metric_series_add(METRIC_SERIES(s->rt->metrics, M_HTTP_REFUSED, counted[i]), 1);
}

void web_reply_problem(struct web_request *req, const struct web_problem *p)
{
  struct web_conn *c = web_request_conn(req);
  if (!c->server) {  // nobody is left to read it
    web_reply_empty(req, p->status);
    return;
  }
  if (p->status < 500) count_refusal(c->server, p->code);
  struct buf *page = &c->server->page;
  buf_clear(page);
  web_put_problem(page, req, p);
  if (p->retry_after_s > 0) {
    char seconds[16];
    (void)snprintf(seconds, sizeof seconds, "%d", p->retry_after_s);
    web_reply_header(req, "Retry-After", seconds);
  }
  web_reply_language(req);
  web_reply(req, p->status, "application/problem+json", buf_text(page), page->len);
}

static const char *fault_code(int status)
{
  switch (status) {
    case 408: return "REQUEST_TIMEOUT";
    case 413: return "TOO_LARGE";
    case 414: return "URI_TOO_LONG";
    case 417: return "EXPECTATION_FAILED";
    case 431: return "HEADERS_TOO_LARGE";
    case 505: return "VERSION_NOT_SUPPORTED";
    default: return "INVALID_REQUEST";
  }
}

void web_reply_fault(struct web_request *req, int status, const char *detail)
{
  struct web_conn *c = web_request_conn(req);
  struct log *log = c->server->rt->log;
  if (log) LOG(log, EV_HTTP_REQUEST_REFUSED, F_INT("status", status), F_STR("detail", detail));
  req->must_close = true;
  c->linger = true;
  web_reply_problem(req, &(struct web_problem){.code = fault_code(status), .status = status, .detail = detail});
}

void web_reply_continue(struct web_conn *c) { buf_puts(&c->out, "HTTP/1.1 100 Continue\r\n\r\n"); }
