// SPDX-License-Identifier: Apache-2.0
// Fuzzes the masking of recorded texts: no input crashes, what comes out is short valid UTF-8, a value under a
// sensitive name and a configured secret never come out. libFuzzer entry; one thread.
#include <stdlib.h>
#include <string.h>

#include "common/text.h"
#include "fulfiller/redact.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define SECRET "correct-horse"

#define CHECK(condition)       \
  do {                         \
    if (!(condition)) abort(); \
  } while (0)

static void mask(const struct redact *r, const struct buf *text, struct buf *out)
{
  buf_init(out, REDACT_TEXT_BYTES_MAX);
  redact_text(r, buf_text(text), text->len, out);
  CHECK(buf_result(out) == RESULT_OK);
  CHECK(text_is_utf8(buf_text(out), out->len));
}

// Whatever stands before and behind it.
static void a_secret_never_comes_out(const struct redact *r, const uint8_t *data, size_t size)
{
  struct buf text, out;
  buf_init(&text, 1024 * 1024);
  buf_append(&text, data, size / 2);
  buf_puts(&text, SECRET);
  buf_append(&text, data + size / 2, size - size / 2);
  mask(r, &text, &out);
  CHECK(strstr(buf_text(&out), SECRET) == NULL);
  buf_release(&out);
  buf_release(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  struct redact r;
  struct buf text, out;
  redact_init(&r, NULL);
  redact_add_secret(&r, SECRET, strlen(SECRET));
  buf_init(&text, 1024 * 1024);
  buf_append(&text, data, size);
  mask(&r, &text, &out);
  buf_release(&out);
  a_secret_never_comes_out(&r, data, size);
  buf_clear(&text);
  buf_puts(&text, "{\"token\":\"f00-ba4-f00\",\"x\":\"");
  buf_append(&text, data, size);
  mask(NULL, &text, &out);
  CHECK(strncmp(buf_text(&out), "{\"token\":\"***\",\"x\":", 19) == 0);
  buf_release(&out);
  buf_release(&text);
  redact_release(&r);
  return 0;
}
