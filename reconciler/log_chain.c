// SPDX-License-Identifier: Apache-2.0
// Proves the chain of the operator log: see log_chain.h. Pure; any thread.
#include "reconciler/log_chain.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/buf.h"
#include "common/text.h"

#define ROW_BYTES_MAX (16u * 1024u * 1024u)

static const char first_word[] = "largesse operator log";  // what the first row follows

// A JSON string just as PostgreSQL writes it: what is hashed is bytes, not their meaning.
static void put_string(struct buf *b, const char *text)
{
  static const char special[] = "\b\f\n\r\t\"\\", letters[] = "bfnrt\"\\";
  if (text == NULL) {
    buf_puts(b, "null");
    return;
  }
  buf_putc(b, '"');
  for (const char *p = text; *p != '\0'; p++) {
    const char *at = strchr(special, *p);
    if (at != NULL) {
      buf_putc(b, '\\');
      buf_putc(b, letters[at - special]);
    } else if ((unsigned char)*p < ' ') {
      buf_printf(b, "\\u%04x", (unsigned)(unsigned char)*p);
    } else {
      buf_putc(b, *p);
    }
  }
  buf_putc(b, '"');
}

enum result log_chain_hash(struct signature *signature, const struct log_row *row, uint8_t out_hash[LOG_HASH_BYTES])
{
  const char *const texts[] = {row->actor, row->action, row->target, row->reason, row->detail};
  struct buf b;
  buf_init(&b, ROW_BYTES_MAX);
  buf_append(&b, (const char *)row->before, LOG_HASH_BYTES);
  buf_printf(&b, "[\"%" PRId64 "\", \"%" PRId64 "\"", row->seq, row->at_us);
  for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
    buf_puts(&b, ", ");
    put_string(&b, texts[i]);
  }
  buf_putc(&b, ']');
  enum result result = buf_result(&b);
  if (result == RESULT_OK) signature_sha256(signature, b.data, b.len, out_hash);
  buf_release(&b);
  return result;
}

void log_chain_init(struct log_chain *c, int64_t from, const struct log_anchor *anchor)
{
  *c = (struct log_chain){.signature = signature_new(), .next = from, .has_hash = from == 1, .anchor = *anchor};
  if (c->has_hash) signature_sha256(c->signature, first_word, sizeof first_word - 1, c->hash);
}

void log_chain_release(struct log_chain *c) { signature_free(c->signature); }

PRINTF_LIKE(3, 4) static bool fail(struct log_chain *c, int64_t seq, const char *format, ...)
{
  va_list args;
  va_start(args, format);
  (void)vsnprintf(c->fault, sizeof c->fault, format, args);
  va_end(args);
  c->fault_seq = seq;
  return false;
}

static bool is_same(const uint8_t *a, const uint8_t *b) { return memcmp(a, b, LOG_HASH_BYTES) == 0; }

static bool check_content(struct log_chain *c, const struct log_row *row)
{
  uint8_t hash[LOG_HASH_BYTES];
  if (log_chain_hash(c->signature, row, hash) == RESULT_OK && is_same(hash, row->hash)) return true;
  return fail(c, row->seq, "its content was changed");
}

bool log_chain_put(struct log_chain *c, const struct log_row *row)
{
  if (row->seq > c->next)
    return row->seq == c->next + 1 ? fail(c, c->next, "this row is missing")
                                   : fail(c, c->next, "this row and those up to %" PRId64 " are missing", row->seq - 1);
  if (c->has_hash && !is_same(row->before, c->hash))
    return fail(c, row->seq, "it does not follow row %" PRId64 ": a row was put in between, or that one was replaced",
                row->seq - 1);
  if (!check_content(c, row)) return false;
  if (c->anchor.seq == row->seq && !is_same(c->anchor.hash, row->hash))
    return fail(c, row->seq, "it is not the row that the anchor was taken of: the log was written anew");
  memcpy(c->hash, row->hash, LOG_HASH_BYTES);
  c->has_hash = true;
  c->next = row->seq + 1;
  return true;
}

static bool cut_off(struct log_chain *c, int64_t last, const char *says)
{
  return fail(c, c->next, "this row and those up to %" PRId64 " are missing: the end of the log was cut off, %s", last,
              says);
}

bool log_chain_end(struct log_chain *c, const struct log_anchor *head, int64_t newest)
{
  if (c->next <= head->seq) return cut_off(c, head->seq, "its head says");
  if (c->next <= c->anchor.seq) return cut_off(c, c->anchor.seq, "the anchor says");
  if (newest > head->seq) return fail(c, head->seq + 1, "it was put behind the end of the log");
  if (c->has_hash && c->next == head->seq + 1 && !is_same(head->hash, c->hash))
    return fail(c, head->seq, "the head of the log names another row");
  return true;
}

void log_chain_differs(struct log_chain *c, int64_t seq, const char *date)
{
  (void)fail(c, seq, "it is not the row that the report of %.10s notes: the log was written anew", date);
}

enum result log_anchor_read(const char *text, struct log_anchor *out_anchor)
{
  const char *colon = strchr(text, ':');
  struct log_anchor anchor;
  struct buf hash;
  if (colon == NULL || text_to_i64(text, (size_t)(colon - text), &anchor.seq) != RESULT_OK || anchor.seq < 1)
    return RESULT_INVALID;
  buf_init(&hash, LOG_HASH_BYTES);
  enum result result = text_from_hex(colon + 1, strlen(colon + 1), &hash);
  if (result != RESULT_OK || hash.len != LOG_HASH_BYTES) {
    buf_release(&hash);
    return RESULT_INVALID;
  }
  memcpy(anchor.hash, hash.data, LOG_HASH_BYTES);
  buf_release(&hash);
  *out_anchor = anchor;
  return RESULT_OK;
}
