// SPDX-License-Identifier: Apache-2.0
// Rendering a provider's requests, and its ladder. Pure; any thread.
#include "fulfiller/provider.h"

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

static enum result render_url(const struct provider *p, const struct provider_request *r,
                              const struct claim_facts *facts, struct buf *out)
{
  buf_clear(out);
  buf_puts(out, p->conf->base_url);
  return template_render(&r->path, facts, out);
}

// All values share one buffer; pointers are taken when it has stopped growing.
static enum result render_headers(const struct provider_request *r, const struct claim_facts *facts,
                                  const char *traceparent, struct provider_call *call)
{
  buf_clear(&call->header_text);
  for (size_t i = 0; i < r->header_count; i++) {
    call->header_at[i] = call->header_text.len;
    enum result result = template_render(&r->headers[i].value, facts, &call->header_text);
    if (result != RESULT_OK) return result;
    buf_putc(&call->header_text, '\0');
  }
  enum result result = buf_result(&call->header_text);
  if (result != RESULT_OK) return result;
  for (size_t i = 0; i < r->header_count; i++) {
    call->headers[i] = (struct http_header){r->headers[i].name, call->header_text.data + call->header_at[i]};
  }
  call->request.headers = call->headers;
  call->request.header_count = r->header_count;
  if (traceparent[0] != '\0')
    call->headers[call->request.header_count++] = (struct http_header){"traceparent", traceparent};
  return RESULT_OK;
}

enum result provider_render(const struct provider *p, enum provider_action action, enum call_kind kind,
                            const struct claim_facts *facts, const char *traceparent, struct provider_call *call)
{
  const struct provider_action_profile *profile = &p->actions[action];
  const struct provider_request *r = kind == CALL_ACT ? &profile->call : &profile->inquire;
  enum result result;
  REQUIRE(r->exists);
  call->request = (struct http_request){.method = r->method,
                                        .connect_timeout = p->conf->connect_timeout,
                                        .total_timeout = p->conf->total_timeout,
                                        .answer_max = ANSWER_BYTES_MAX,
                                        .never_resend = kind == CALL_ACT,
                                        .fresh_connection = kind == CALL_ACT && !r->has_request_id};
  TRY(render_url(p, r, facts, &call->url));
  TRY(render_headers(r, facts, traceparent, call));
  buf_clear(&call->body);
  if (r->has_body) TRY(template_render(&r->body, facts, &call->body));
  call->request.url = buf_text(&call->url);
  if (r->has_body) {
    call->request.body = buf_text(&call->body);
    call->request.body_len = call->body.len;
  }
  result = RESULT_OK;
cleanup:
  return result;
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
