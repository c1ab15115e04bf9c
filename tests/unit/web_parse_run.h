// SPDX-License-Identifier: Apache-2.0
// What the tests of the HTTP parser share: feeding a request in pieces, each time at another address.
// Owner: unit tests.
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <string.h>
#include <cmocka.h>

#include "common/buf.h"
#include "common/compiler.h"
#include "common/mem.h"
#include "common/web_parse.h"

#define BODY_MAX 1000
#define HOST     "Host: x\r\n"
#define CHUNKED  "POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n"

struct run {
  struct web_parse parse;
  char *bytes;
  size_t len;
  enum web_parse_step step;
};

static inline unsigned next_random(unsigned *seed)
{
  *seed = *seed * 1103515245u + 12345u;
  return *seed >> 16 & 0x7fff;
}

// Feeds in pieces of at most piece_max bytes (0: random ones), each time at another address.
static inline void run_init(struct run *r, const char *text, size_t len, size_t piece_max, unsigned seed)
{
  size_t at = 0;
  web_parse_reset(&r->parse);
  r->bytes = NULL;
  r->len = 0;
  r->step = WEB_PARSE_MORE;
  while (r->step == WEB_PARSE_MORE && at < len) {
    size_t piece = piece_max > 0 ? piece_max : 1 + next_random(&seed) % 40;
    if (piece > len - at) piece = len - at;
    char *moved = mem_zalloc(r->len + piece, 1);  // exactly as large as needed: a sanitizer sees any step outside
    if (r->len > 0) memcpy(moved, r->bytes, r->len);
    mem_free(r->bytes);
    r->bytes = moved;
    memcpy(r->bytes + r->len, text + at, piece);
    r->len += piece;
    at += piece;
    while ((r->step = web_parse_feed(&r->parse, r->bytes, &r->len)) == WEB_PARSE_HEAD) r->parse.body_max = BODY_MAX;
  }
}

static inline void run_release(struct run *r) { mem_free(r->bytes); }

static inline const char *text_at(const struct run *r, struct web_piece p) { return r->bytes + p.at; }
