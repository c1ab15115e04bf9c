// SPDX-License-Identifier: Apache-2.0
// Rendering a provider's requests, and its ladder. Pure; any thread.
#include "fulfiller/provider.h"

#include <stdio.h>

#include "common/contract.h"

#define URL_BYTES_MAX         8192
#define BODY_BYTES_MAX        (256 * 1024)
#define HEADER_TEXT_BYTES_MAX (16 * 1024)
#define ANSWER_BYTES_MAX      (256 * 1024)

void provider_call_init(struct provider_call *call)
{
  buf_init(&call->url, URL_BYTES_MAX);
  buf_init(&call->body, BODY_BYTES_MAX);
  buf_init(&call->header_text, HEADER_TEXT_BYTES_MAX);
}

void provider_call_release(struct provider_call *call)
{
  buf_release(&call->url);
  buf_release(&call->body);
  buf_release(&call->header_text);
}

static enum result render_headers(const struct provider_request *r, const struct claim_facts *facts,
                                  const struct template_means *means, struct provider_call *call)
{
  buf_clear(&call->header_text);
  for (size_t i = 0; i < r->header_count; i++) {
    call->header_at[i] = call->header_text.len;
    enum result result = template_render(&r->headers[i].value, facts, means, &call->header_text);
    if (result != RESULT_OK) return result;
    buf_putc(&call->header_text, '\0');
  }
  return buf_result(&call->header_text);
}

static enum result render_texts(const struct provider *p, const struct provider_request *r,
                                const struct claim_facts *facts, const struct template_means *means,
                                struct provider_call *call)
{
  enum result result;
  buf_clear(&call->url);
  buf_clear(&call->body);
  buf_puts(&call->url, p->conf->base_url);
  TRY(template_render(&r->path, facts, means, &call->url));
  if (r->has_body) TRY(template_render(&r->body, facts, means, &call->body));
  TRY(render_headers(r, facts, means, call));
cleanup:
  return result;
}

// All values share one buffer; pointers are taken when it has stopped growing.
static void take_headers(const struct provider_request *r, const struct sign_header *signs, size_t sign_count,
                         const char *traceparent, struct provider_call *call)
{
  const char *text = buf_text(&call->header_text);
  size_t count = 0;
  for (size_t i = 0; i < r->header_count; i++)
    call->headers[count++] = (struct http_header){r->headers[i].name, text + call->header_at[i]};
  for (size_t i = 0; i < sign_count; i++)
    call->headers[count++] = (struct http_header){signs[i].name, text + signs[i].value_at};
  snprintf(call->traceparent, sizeof call->traceparent, "%s", traceparent);  // the caller's may be gone when it is sent
  if (traceparent[0] != '\0') call->headers[count++] = (struct http_header){"traceparent", call->traceparent};
  call->request.headers = call->headers;
  call->request.header_count = count;
}

static struct http_request request_of(const struct provider *p, const struct provider_request *r, enum call_kind kind)
{
  return (struct http_request){.method = r->method,
                               .connect_timeout = p->conf->connect_timeout,
                               .total_timeout = p->conf->total_timeout,
                               .answer_max = ANSWER_BYTES_MAX,
                               .never_resend = kind != CALL_INQUIRE,
                               .fresh_connection = kind == CALL_ACT && !r->has_request_id};
}

const struct provider_request *provider_request_of(const struct provider *p, enum provider_action action,
                                                   enum call_kind kind)
{
  const struct provider_action_profile *profile = &p->actions[action];
  switch (kind) {
    case CALL_INQUIRE: return &profile->inquire;
    case CALL_CLOSE: return &profile->close;
    case CALL_ACT: break;
  }
  return &profile->call;
}

enum result provider_render_at(const struct provider *p, enum provider_action action, enum call_kind kind,
                               const struct claim_facts *facts, const char *traceparent,
                               const struct render_moment *moment, struct provider_call *call)
{
  const struct provider_request *r = provider_request_of(p, action, kind);
  const struct template_means means = {.moment = *moment, .keys = &p->keys};
  struct sign_header signs[SIGN_HEADERS_MAX];
  size_t sign_count = 0;
  enum result result;
  REQUIRE(r->exists);
  TRY(render_texts(p, r, facts, &means, call));
  const struct sign_request request = {r->method, &call->url, &call->body, r->has_body};
  TRY(provider_sign(p->signature, &p->sign, &p->keys, moment, &request, &call->header_text, signs, &sign_count));
  call->request = request_of(p, r, kind);
  take_headers(r, signs, sign_count, traceparent, call);
  call->request.url = buf_text(&call->url);
  if (r->has_body) {
    call->request.body = buf_text(&call->body);
    call->request.body_len = call->body.len;
  }
cleanup:
  return result;
}

enum result provider_render(const struct provider *p, enum provider_action action, enum call_kind kind,
                            const struct claim_facts *facts, const char *traceparent, struct provider_call *call)
{
  const struct render_moment moment = render_moment_now();
  return provider_render_at(p, action, kind, facts, traceparent, &moment, call);
}

struct span provider_rung(const struct provider *p, int64_t tries)
{
  const struct conf_spans *ladder = &p->conf->ladder;
  size_t index = tries <= 1 ? 0 : (size_t)tries - 1;
  return ladder->items[index < ladder->count ? index : ladder->count - 1];
}

struct span provider_rung_at_least(const struct provider *p, struct span wanted)
{
  const struct conf_spans *ladder = &p->conf->ladder;
  struct span best = {-1}, longest = {0};
  for (size_t i = 0; i < ladder->count; i++) {
    struct span rung = ladder->items[i];
    if (rung.us > longest.us) longest = rung;
    if (rung.us >= wanted.us && (best.us < 0 || rung.us < best.us)) best = rung;
  }
  return best.us >= 0 ? best : longest;
}
