// SPDX-License-Identifier: Apache-2.0
// Decoding with iconv, which stops at the first byte that is wrong.
// Owner: the reader's; any one thread.
#include "reconciler/statement_decode.h"

#include <errno.h>
#include <iconv.h>
#include <string.h>
#include <strings.h>

#include "common/mem.h"

#define CARRIED_MAX 16
#define PIECE_BYTES 8192

struct statement_decoder {
  iconv_t iconv;
  char carried[CARRIED_MAX];  // of a character whose rest has not come
  size_t carried_len;
  bool needs_mark, has_written;
  int64_t line;
  const char *why;
};

struct statement_decoder *statement_decoder_new(const char *encoding)
{
  iconv_t iconv = iconv_open("UTF-8", encoding);
  if ((intptr_t)iconv == -1) return NULL;
  struct statement_decoder *d = MEM_NEW(struct statement_decoder);
  d->iconv = iconv;
  d->line = 1;
  d->needs_mark = strcasecmp(encoding, "utf-16") == 0 || strcasecmp(encoding, "utf-32") == 0;
  return d;
}

void statement_decoder_free(struct statement_decoder *d)
{
  if (d == NULL) return;
  (void)iconv_close(d->iconv);
  mem_free(d);
}

static void put(struct statement_decoder *d, const char *bytes, size_t len, struct buf *out)
{
  static const char mark[] = "\xef\xbb\xbf";
  size_t skip = !d->has_written && len >= 3 && memcmp(bytes, mark, 3) == 0 ? 3 : 0;
  if (len > 0) d->has_written = true;
  for (size_t i = 0; i < len; i++) d->line += bytes[i] == '\n';
  buf_append(out, bytes + skip, len - skip);
}

static enum result refuse(struct statement_decoder *d, const char *why)
{
  d->why = why;
  return RESULT_INVALID;
}

// What is left of the input is the beginning of a character.
static enum result convert(struct statement_decoder *d, char **at, size_t *left, struct buf *out)
{
  char piece[PIECE_BYTES];
  while (*left > 0) {
    char *to = piece;
    size_t room = sizeof piece;
    size_t done = iconv(d->iconv, at, left, &to, &room);
    int error = errno;
    put(d, piece, sizeof piece - room, out);
    if (done != (size_t)-1 || error == E2BIG) continue;
    if (error == EINVAL && *left < CARRIED_MAX) break;
    return refuse(d, "has bytes that are not of the profile's encoding");
  }
  return buf_result(out);
}

// Two bytes tell; the one of UTF-32 that is not told by them is left to iconv.
static enum result look_for_mark(struct statement_decoder *d)
{
  const char *first = d->carried;
  d->needs_mark = false;
  if (memcmp(first, "\xff\xfe", 2) != 0 && memcmp(first, "\xfe\xff", 2) != 0 && memcmp(first, "\0\0", 2) != 0)
    return refuse(d, "has no byte order mark: its encoding must be named with its order, such as utf-16le");
  return RESULT_OK;
}

enum result statement_decoder_feed(struct statement_decoder *d, const char *bytes, size_t len, struct buf *out)
{
  enum result result = RESULT_OK;
  if (len == 0) return RESULT_OK;
  // Some bytes at a time behind what was carried, until a character is whole.
  while ((d->carried_len > 0 || d->needs_mark) && len > 0) {
    d->carried[d->carried_len++] = *bytes++;
    len--;
    if (d->needs_mark && d->carried_len < 2) continue;
    if (d->needs_mark) TRY(look_for_mark(d));
    char *at = d->carried;
    size_t left = d->carried_len;
    TRY(convert(d, &at, &left, out));
    memmove(d->carried, at, left);
    d->carried_len = left;
  }
  char *at = (char *)bytes;  // iconv only reads it
  size_t left = len;
  TRY(convert(d, &at, &left, out));
  if (left > 0) memcpy(d->carried + d->carried_len, at, left);
  d->carried_len += left;
cleanup:
  return result;
}

// Some encodings hold a letter back until they know that no accent follows.
enum result statement_decoder_end(struct statement_decoder *d, struct buf *out)
{
  char piece[64], *to = piece;
  size_t room = sizeof piece;
  if (d->carried_len > 0 || iconv(d->iconv, NULL, NULL, &to, &room) == (size_t)-1)
    return refuse(d, "ends within a character");
  put(d, piece, sizeof piece - room, out);
  return buf_result(out);
}

int64_t statement_decoder_line(const struct statement_decoder *d) { return d->line; }
const char *statement_decoder_why(const struct statement_decoder *d) { return d->why != NULL ? d->why : "is too long"; }
