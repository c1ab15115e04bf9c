// SPDX-License-Identifier: Apache-2.0
// Fuzzes statements of providers: no input crashes, pieces of any size give the same lines or the same fault as the
// whole, and what is handed on has its bounds. libFuzzer entry; one thread.
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/compiler.h"
#include "common/text.h"
#include "reconciler/config.h"
#include "reconciler/statement_read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CHECK(condition)       \
  do {                         \
    if (!(condition)) abort(); \
  } while (0)

#define FIELDS(of) \
  "columns: {request_id: " of "id, amount: " of "amount, currency: " of "cur, at: " of "at, ref: " of "ref}"

static const char *const profiles[] = {
    FIELDS("") ", unit: major",
    FIELDS("") ", encoding: gb18030, delimiter: ';', strip: '`', time_format: unix, fallback: [reference]",
    FIELDS("") ", encoding: utf-16, comment: '#', time_format: unix_ms",
    FIELDS("") ", encoding: windows-1258, decimal: ',', grouping: '.', unit: major, skip_lines: 1, footer_rows: 2, "
               "trailer: {row: 2, count: 1, total: 2}, time_format: '%Y-%m-%d %H:%M:%S'",
    FIELDS("/") ", format: json, items: /data/rows, unit: major",
    FIELDS("/") ", format: jsonl, time_format: unix",
    "header: false, columns: {request_id: 2, amount: 1, type: 128}, types: {'*': credit}",
};

static enum result put_line(void *ctx, const struct statement_line *l)
{
  struct buf *out = ctx;
  CHECK(l->request_id.len <= STATEMENT_TEXT_MAX && l->user.len <= STATEMENT_TEXT_MAX &&
        l->ref.len <= STATEMENT_TEXT_MAX);
  CHECK(l->amount >= 0 && (!l->has_claim || (l->activity_id > 0 && l->claim_id > 0)));
  if (l->ref.len > 0) CHECK(text_is_utf8(l->ref.bytes, l->ref.len));
  buf_printf(out, "%" PRId64 " %d %d %" PRId64 " %s %" PRId64 " ", l->line, (int)l->kind, (int)l->status,
             l->signed_amount, l->currency, l->at_us);
  buf_append(out, l->request_id.bytes, l->request_id.len);
  buf_append(out, l->ref.bytes, l->ref.len);
  return RESULT_OK;
}

static void read_all(const struct statement_profile *p, const char *bytes, size_t len, size_t piece, struct buf *out)
{
  struct statement_reader *r = NULL;
  enum result result = RESULT_OK;
  buf_init(out, 1u << 24);
  CHECK(statement_reader_new(p, put_line, out, &r) == RESULT_OK);
  for (size_t at = 0; at < len && result == RESULT_OK; at += piece)
    result = statement_reader_feed(r, bytes + at, len - at < piece ? len - at : piece);
  if (result == RESULT_OK) result = statement_reader_end(r);
  CHECK((result == RESULT_OK) == (statement_reader_why(r)[0] == '\0'));
  CHECK(text_is_utf8(statement_reader_why(r), strlen(statement_reader_why(r))));
  buf_puts(out, statement_reader_why(r));
  statement_reader_free(r);
}

static void check(const struct statement_conf *conf, const char *bytes, size_t len, size_t piece)
{
  struct statement_profile p;
  struct conf_fault fault = {.text = ""};
  struct buf whole, pieces;
  CHECK(statement_profile_compile("shop", conf, &p, &fault) == RESULT_OK);
  read_all(&p, bytes, len, len, &whole);
  read_all(&p, bytes, len, piece, &pieces);
  CHECK(whole.len == pieces.len);
  CHECK(memcmp(buf_text(&whole), buf_text(&pieces), whole.len) == 0);
  buf_release(&whole);
  buf_release(&pieces);
}

// Read once: reading a configuration takes longer than reading a file.
static const struct statement_conf *profile(size_t which)
{
  static void *configs[ARRAY_LEN(profiles)];
  if (configs[which] == NULL) {
    struct buf yaml;
    struct conf_fault fault = {.text = ""};
    buf_init(&yaml, 4096);
    buf_printf(&yaml, "reconciler: {statements: {shop: {%s}}}\n", profiles[which]);
    CHECK(conf_parse(reconciler_conf_table(), "x", yaml.data, yaml.len, &configs[which], &fault) == RESULT_OK);
    buf_release(&yaml);
  }
  const struct reconciler_conf *conf = configs[which];
  return statement_profile_find(&conf->statements, "shop");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  if (size < 3) return 0;
  check(profile(data[size - 1] % ARRAY_LEN(profiles)), (const char *)data, size - 2, 1 + data[size - 2] % 16);
  return 0;
}
