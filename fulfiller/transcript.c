// SPDX-License-Identifier: Apache-2.0
// Writing down requests and answers. Pure; any thread.
#include "fulfiller/transcript.h"

#include <string.h>

#include "common/mem.h"
#include "fulfiller/outcome.h"

// Of a text that is cut to REDACT_TEXT_BYTES_MAX afterwards; masks may be shorter than what they stand for.
#define RAW_BYTES_MAX ((size_t)4 * REDACT_TEXT_BYTES_MAX)

static void put_body(struct buf *b, const char *body, size_t len)
{
  if (body == NULL || len == 0) return;
  size_t room = b->len + 1 < RAW_BYTES_MAX ? RAW_BYTES_MAX - b->len - 1 : 0;
  buf_putc(b, '\n');
  buf_append(b, body, len < room ? len : room);
}

static void put_header(struct buf *b, const char *name, const char *value)
{
  if (strlen(name) + strlen(value) + 3 > RAW_BYTES_MAX - b->len) return;
  buf_puts(b, name);
  buf_puts(b, ": ");
  buf_puts(b, value);
  buf_putc(b, '\n');
}

static char *masked(const struct redact *redact, struct buf *raw)
{
  struct buf out;
  buf_init(&out, REDACT_TEXT_BYTES_MAX);
  redact_text(redact, buf_text(raw), raw->len, &out);
  buf_release(raw);
  return buf_take(&out);
}

char *transcript_request(const struct redact *redact, const struct http_request *request)
{
  struct buf raw;
  buf_init(&raw, RAW_BYTES_MAX);
  buf_puts(&raw, request->method);
  buf_putc(&raw, ' ');
  size_t len = strlen(request->url), room = RAW_BYTES_MAX / 2;
  buf_append(&raw, request->url, len < room ? len : room);
  buf_putc(&raw, '\n');
  for (size_t i = 0; i < request->header_count; i++)
    put_header(&raw, request->headers[i].name, request->headers[i].value);
  put_body(&raw, request->body, request->body_len);
  return masked(redact, &raw);
}

char *transcript_answer(const struct redact *redact, const struct http_answer *answer)
{
  struct buf raw;
  if (answer->stage != HTTP_ANSWERED) return NULL;
  buf_init(&raw, RAW_BYTES_MAX);
  buf_printf(&raw, "HTTP %d\n", answer->status);
  if (answer->content_type[0] != '\0') put_header(&raw, "Content-Type", answer->content_type);
  if (answer->retry_after[0] != '\0') put_header(&raw, "Retry-After", answer->retry_after);
  put_body(&raw, answer->body, answer->body_len);
  return masked(redact, &raw);
}

void transcript_mask(const struct redact *redact, char *words, size_t size)
{
  if (words[0] == '\0') return;
  struct buf masked;
  buf_init(&masked, REDACT_TEXT_BYTES_MAX);
  redact_text(redact, words, strlen(words), &masked);
  verdict_put(words, size, buf_text(&masked));
  buf_release(&masked);
}
