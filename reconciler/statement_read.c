// SPDX-License-Identifier: Apache-2.0
// The reader: decodes, and hands on to the format.
// Owner: the import; any one thread.
#include "reconciler/statement_read.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/buf.h"
#include "common/mem.h"
#include "common/utf8.h"
#include "reconciler/statement_decode.h"
#include "reconciler/statement_part.h"

#define PIECE_BYTES (64 * 1024)
#define DECODED_MAX (4 * PIECE_BYTES + 64)  // no encoding becomes longer than that

struct statement_reader {
  struct statement_sink sink;
  struct statement_decoder *decoder;
  struct buf text;
  struct statement_csv *csv;  // one of the two
  struct statement_json *json;
};

void statement_sink_fields(struct statement_sink *s, const struct statement_text fields[STATEMENT_FIELDS], int64_t line)
{
  struct statement_line l;
  char why[STATEMENT_WHY_BYTES];
  if (s->result != RESULT_OK) return;
  if (statement_profile_line(s->profile, fields, line, &l, why) != RESULT_OK) {
    (void)statement_sink_refuse(s, line, why);
    return;
  }
  s->lines++;
  if (l.has_amount) {
    memcpy(s->currency, l.currency, sizeof s->currency);
    s->has_total = s->has_total && !__builtin_add_overflow(s->total, l.signed_amount, &s->total);
  }
  s->result = s->on_line(s->ctx, &l);
}

// Names and values in it were cut to a length, perhaps within a character.
static void make_valid(char *text)
{
  uint32_t code_point = 0;
  for (size_t at = 0, len = strlen(text), width = 0; at < len; at += width) {
    width = utf8_decode(text + at, len - at, &code_point);
    if (width > 0) continue;
    text[at] = '?';
    width = 1;
  }
}

enum result statement_sink_refuse(struct statement_sink *s, int64_t line, const char *why)
{
  if (s->result != RESULT_OK) return s->result;
  s->fault_line = line;
  if (line > 0)
    (void)snprintf(s->why, sizeof s->why, "line %" PRId64 ": %s", line, why);
  else
    (void)snprintf(s->why, sizeof s->why, "%s", why);
  make_valid(s->why);
  s->result = RESULT_INVALID;
  return s->result;
}

enum result statement_reader_new(const struct statement_profile *p, statement_line_fn *on_line, void *ctx,
                                 struct statement_reader **out_reader)
{
  struct statement_decoder *decoder = statement_decoder_new(p->conf->encoding);
  if (decoder == NULL) return RESULT_INVALID;
  struct statement_reader *r = MEM_NEW(struct statement_reader);
  r->decoder = decoder;
  r->sink = (struct statement_sink){.profile = p, .on_line = on_line, .ctx = ctx, .has_total = true};
  buf_init(&r->text, DECODED_MAX);
  if (p->conf->format == STATEMENT_CSV)
    r->csv = statement_csv_new(&r->sink);
  else
    r->json = statement_json_new(&r->sink);
  *out_reader = r;
  return RESULT_OK;
}

void statement_reader_free(struct statement_reader *r)
{
  if (r == NULL) return;
  statement_decoder_free(r->decoder);
  statement_csv_free(r->csv);
  statement_json_free(r->json);
  buf_release(&r->text);
  mem_free(r);
}

static void hand_on(struct statement_reader *r)
{
  if (r->csv != NULL)
    statement_csv_feed(r->csv, buf_text(&r->text), r->text.len);
  else
    statement_json_feed(r->json, buf_text(&r->text), r->text.len);
}

enum result statement_reader_feed(struct statement_reader *r, const char *bytes, size_t len)
{
  while (len > 0 && r->sink.result == RESULT_OK) {
    size_t piece = len < PIECE_BYTES ? len : PIECE_BYTES;
    buf_clear(&r->text);
    enum result decoded = statement_decoder_feed(r->decoder, bytes, piece, &r->text);
    hand_on(r);  // what is before a wrong byte may be wrong earlier
    if (decoded != RESULT_OK && r->sink.result == RESULT_OK)
      return statement_sink_refuse(&r->sink, statement_decoder_line(r->decoder), statement_decoder_why(r->decoder));
    bytes += piece;
    len -= piece;
  }
  return r->sink.result;
}

enum result statement_reader_end(struct statement_reader *r)
{
  if (r->sink.result != RESULT_OK) return r->sink.result;
  buf_clear(&r->text);
  if (statement_decoder_end(r->decoder, &r->text) != RESULT_OK)
    return statement_sink_refuse(&r->sink, statement_decoder_line(r->decoder), statement_decoder_why(r->decoder));
  hand_on(r);
  if (r->sink.result != RESULT_OK) return r->sink.result;
  if (r->csv != NULL)
    statement_csv_end(r->csv);
  else
    statement_json_end(r->json);
  return r->sink.result;
}

const char *statement_reader_why(const struct statement_reader *r) { return r->sink.why; }
int64_t statement_reader_fault_line(const struct statement_reader *r) { return r->sink.fault_line; }
