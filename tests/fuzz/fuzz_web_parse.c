// SPDX-License-Identifier: Apache-2.0
// Fuzz target (libFuzzer) of the HTTP parser: any bytes, fed whole and cut in two, must give the same verdict and body.
// Owner: make fuzz.
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/contract.h"
#include "common/mem.h"
#include "common/web_parse.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct verdict {
  enum web_parse_step step;
  int status;
  size_t body_len;
  uint64_t body_sum;
};

static enum web_parse_step feed(struct web_parse *p, char *bytes, size_t *io_len, uint64_t body_max)
{
  enum web_parse_step step;
  while ((step = web_parse_feed(p, bytes, io_len)) == WEB_PARSE_HEAD) p->body_max = body_max;
  ENSURE(p->pos <= *io_len && p->body_len <= body_max);
  return step;
}

static struct verdict judge(const uint8_t *data, size_t size, size_t cut, uint64_t body_max)
{
  struct web_parse p;
  struct verdict v = {WEB_PARSE_MORE, 0, 0, 0};
  char *first = mem_zalloc(cut + 1, 1), *all = mem_zalloc(size + 1, 1);
  size_t len = cut;
  web_parse_reset(&p);
  memcpy(first, data, cut);
  v.step = feed(&p, first, &len, body_max);
  memcpy(all, first, len);
  if (v.step == WEB_PARSE_MORE) {
    memcpy(all + len, data + cut, size - cut);
    len += size - cut;
    v.step = feed(&p, all, &len, body_max);
  }
  if (v.step == WEB_PARSE_FAULT) v.status = p.status;
  if (v.step == WEB_PARSE_DONE) {
    ENSURE(p.body_at + p.body_len <= len);
    v.body_len = p.body_len;
    for (size_t i = 0; i < p.body_len; i++) v.body_sum = v.body_sum * 31 + (uint8_t)all[p.body_at + i];
    for (size_t i = 0; i < p.header_count; i++) ENSURE(strlen(all + p.headers[i].value.at) == p.headers[i].value.len);
    ENSURE(strlen(all + p.path.at) == p.path.len && strlen(all + p.method.at) == p.method.len);
  }
  mem_free(first);
  mem_free(all);
  return v;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  if (size < 2) return 0;
  size_t cut = (size_t)data[0] * (size - 1) / 255;
  uint64_t body_max = (uint64_t)data[0] * 16;
  struct verdict whole = judge(data + 1, size - 1, size - 1, body_max),
                 halves = judge(data + 1, size - 1, cut, body_max);
  ENSURE(whole.step == halves.step && whole.status == halves.status);
  ENSURE(whole.body_len == halves.body_len && whole.body_sum == halves.body_sum);
  return 0;
}
