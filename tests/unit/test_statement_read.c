// SPDX-License-Identifier: Apache-2.0
// Files of statements by their profiles: encodings, signs, times, words, totals; what is refused, with its line and
// column (B86, B87, B123, B125).
// One thread.
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/buf.h"
#include "common/compiler.h"
#include "reconciler/config.h"
#include "reconciler/statement_read.h"

#define ONE_CURRENCY "columns: {request_id: id, amount: amount, currency: cur}, unit: major"

// A line as "line:kind status request amount currency at_us ref".
static enum result put_line(void *ctx, const struct statement_line *l)
{
  struct buf *out = ctx;
  buf_printf(out, "%lld:%s", (long long)l->line, statement_kind_name(l->kind));
  if (l->status != STATUS_DONE) buf_printf(out, " %s", statement_status_name(l->status));
  buf_printf(out, " %.*s", (int)l->request_id.len, l->request_id.len > 0 ? l->request_id.bytes : "");
  if (l->has_claim) buf_printf(out, "=%lld/%lld", (long long)l->activity_id, (long long)l->claim_id);
  if (l->has_amount) buf_printf(out, " %lld%s", (long long)l->amount, l->currency);
  if (l->has_at) buf_printf(out, " @%lld", (long long)l->at_us);
  if (l->ref.len > 0) buf_printf(out, " #%.*s", (int)l->ref.len, l->ref.bytes);
  buf_puts(out, "; ");
  return RESULT_OK;
}

// What a profile makes of a file, in pieces of that size: its lines, or the fault.
static const char *read_pieces(const char *profile, const char *bytes, size_t len, size_t piece, struct buf *out)
{
  char yaml[4096];
  void *config = NULL;
  struct conf_fault fault = {.text = ""};
  struct statement_profile p;
  struct statement_reader *r = NULL;
  buf_clear(out);
  (void)snprintf(yaml, sizeof yaml, "reconciler: {statements: {shop: {%s}}}\n", profile);
  if (conf_parse(reconciler_conf_table(), "x", yaml, strlen(yaml), &config, &fault) != RESULT_OK)
    fail_msg("%s", fault.text);
  const struct reconciler_conf *conf = config;
  if (statement_profile_compile("shop", statement_profile_find(&conf->statements, "shop"), &p, &fault) != RESULT_OK)
    fail_msg("%s", fault.text);
  assert_int_equal(statement_reader_new(&p, put_line, out, &r), RESULT_OK);
  enum result result = RESULT_OK;
  for (size_t at = 0; at < len && result == RESULT_OK; at += piece)
    result = statement_reader_feed(r, bytes + at, len - at < piece ? len - at : piece);
  if (result == RESULT_OK) result = statement_reader_end(r);
  if (result != RESULT_OK) {
    buf_clear(out);
    buf_puts(out, statement_reader_why(r));
  }
  statement_reader_free(r);
  conf_free(reconciler_conf_table(), config);
  return buf_text(out);
}

// The same whole, byte by byte and in between.
static void reads_as(const char *profile, const char *bytes, size_t len, const char *wanted)
{
  static const size_t pieces[] = {1 << 20, 1, 3, 7};
  struct buf out;
  buf_init(&out, 1 << 20);
  for (size_t i = 0; i < ARRAY_LEN(pieces); i++)
    assert_string_equal(read_pieces(profile, bytes, len, pieces[i], &out), wanted);
  buf_release(&out);
}

static void text_reads_as(const char *profile, const char *text, const char *wanted)
{
  reads_as(profile, text, strlen(text), wanted);
}

static void the_simulators_statement(void **state)
{
  (void)state;
  text_reads_as(
      "columns: {request_id: requestId, user: userId, type: type, amount: amount, currency: currency, at: at, "
      "ref: ref}, types: {credit: credit, reverse: reverse, payment: payment, refund: refund}",
      "requestId,userId,type,amount,currency,at,ref\n"
      "12-345,7,credit,500,JPY,1970-01-01T00:00:01.500000Z,sim-1\n"
      "12-345,7,reverse,500,JPY,1970-01-01T00:00:02Z,sim-2\n"
      "12-346-p,7,payment,500,KWD,1970-01-01T00:00:03Z,sim-3\n"
      "12-346-p,7,refund,500,KWD,1970-01-01T00:00:04Z,sim-4\n",
      "2:credit 12-345=12/345 500JPY @1500000 #sim-1; 3:reverse 12-345=12/345 500JPY @2000000 #sim-2; "
      "4:payment 12-346-p=12/346 500KWD @3000000 #sim-3; 5:refund 12-346-p=12/346 500KWD @4000000 #sim-4; ");
}

// B86, B87: a mark of Excel's, CRLF, no last line end; line ends, delimiters and quotes within values.
static void marks_and_quotes(void **state)
{
  (void)state;
  const char *profile = "delimiter: ';', columns: {request_id: id, amount: amount, ref: note}";
  text_reads_as(profile, "\xef\xbb\xbfid;amount;note\r\n1-2;5;\"a;\"\"b\"\"\nc\"\r\n1-3;6;d",
                "2:credit 1-2=1/2 5 #a;\"b\"\nc; 4:credit 1-3=1/3 6 #d; ");
  text_reads_as(profile, "id;amount;note\n1-2;5;\"open\n1-3;6;d\n",
                "line 2: a quote that is not closed, or stands within a value");
  text_reads_as(profile, "id;note\n1-2;5\n", "line 1: the header has no column 'amount'");
  text_reads_as(profile, "id;amount;note;amount\n1-2;5;x;6\n", "line 1: the header has the column 'amount' twice");
  text_reads_as(profile, "id;amount;note\n1-2;5;x\n1-3;6\n", "line 3: the row has 2 columns, note is the 3.");
  text_reads_as(profile, "id;amount;note\n1-2;5;x\n1-3;6;y;z\n", "line 3: the row has 4 columns, the header has 3");
  text_reads_as(profile, "id;amount;note\n1-2;5;x; ;\n", "2:credit 1-2=1/2 5 #x; ");
  text_reads_as("delimiter: ';', columns: {request_id: id, amount: amount, ref: 4}", "id;amount;note\n1-2;5;x;r\n",
                "2:credit 1-2=1/2 5 #r; ");
  text_reads_as(profile, "", "there is no header: the file is empty");
}

static void encodings(void **state)
{
  (void)state;
  const char *columns = "columns: {request_id: id, type: type}, types: {";
  char profile[256];
  (void)snprintf(profile, sizeof profile, "encoding: utf-16, %s\xe5\x85\x85\xe5\x80\xbc: credit}", columns);
  // "id,type\n1-2,充值\n" in UTF-16 with its mark, either way round, and without.
  static const char little[] =
      "\xff\xfei\0d\0,\0t\0y\0p\0e\0\n\0"
      "1\0-\0"
      "2\0,\0\x45\x51\x3c\x50\n\0";
  static const char big[] =
      "\xfe\xff\0i\0d\0,\0t\0y\0p\0e\0\n\0"
      "1\0-\0"
      "2\0,\x51\x45\x50\x3c\0\n";
  reads_as(profile, little, sizeof little - 1, "2:credit 1-2=1/2; ");
  reads_as(profile, big, sizeof big - 1, "2:credit 1-2=1/2; ");
  reads_as(profile, little + 2, 100,
           "line 1: has no byte order mark: its encoding must be named with its order, such as utf-16le");
  (void)snprintf(profile, sizeof profile, "encoding: utf-16le, %s\xe5\x85\x85\xe5\x80\xbc: credit}", columns);
  reads_as(profile, little + 2, sizeof little - 3, "2:credit 1-2=1/2; ");
  reads_as(profile, little, sizeof little - 1, "2:credit 1-2=1/2; ");
  reads_as(profile, little, sizeof little - 2, "line 2: ends within a character");
  (void)snprintf(profile, sizeof profile, "encoding: gb18030, %s\xe5\x85\x85\xe5\x80\xbc: credit}", columns);
  reads_as(profile, "id,type\n1-2,\xb3\xe4\xd6\xb5\n", 17, "2:credit 1-2=1/2; ");
  (void)snprintf(profile, sizeof profile, "encoding: latin1, %sGutschrift f\xc3\xbcr: credit}", columns);
  reads_as(profile, "id,type\n1-2,Gutschrift f\xfcr\n", 27, "2:credit 1-2=1/2; ");
  // The last letter is held back for an accent, and belongs to the file all the same.
  reads_as("encoding: windows-1258, columns: {request_id: id, ref: ref}", "id,ref\n1-2,DONE", 15,
           "2:credit 1-2=1/2 #DONE; ");
  // What is not of the encoding refuses the file, and says where.
  (void)snprintf(profile, sizeof profile, "%s'*': credit}", columns);
  reads_as(profile, "id,type\n1-2,a\n1-3,\xb3\xe4\n", 20, "line 3: has bytes that are not of the profile's encoding");
  reads_as(profile, little, sizeof little - 1, "line 1: has bytes that are not of the profile's encoding");
}

static void signs_of_amounts(void **state)
{
  (void)state;
  // B125
  const char *comma = "delimiter: ';', decimal: ',', grouping: '.', " ONE_CURRENCY;
  text_reads_as(comma, "id;amount;cur\n1-2;-1.000,00;EUR\n1-3;-950,00;EUR\n",
                "2:reverse 1-2=1/2 100000EUR; 3:reverse 1-3=1/3 95000EUR; ");
  text_reads_as(ONE_CURRENCY, "id,amount,cur\n1-2,5.00,USD\n1-3,(33.52),USD\n",
                "line 3: amount (amount) \"(33.52)\": parentheses are ambiguous");
  text_reads_as(ONE_CURRENCY, "id,amount,cur\n1-2,1.000,USD\n",
                "line 2: amount (amount) \"1.000\": more decimal places than the currency has are ambiguous");
  // B123: by the places of each currency, here in one file.
  text_reads_as(ONE_CURRENCY, "id,amount,cur\n1-2,500,JPY\n1-3,5.00,usd\n1-4,0.500,KWD\n",
                "2:credit 1-2=1/2 500JPY; 3:credit 1-3=1/3 500USD; 4:credit 1-4=1/4 500KWD; ");
  text_reads_as(ONE_CURRENCY, "id,amount,cur\n1-2,500.00,JPY\n",
                "line 2: amount (amount) \"500.00\": more decimal places than the currency has are ambiguous");
  text_reads_as(ONE_CURRENCY, "id,amount,cur\n1-2,5,Euro\n", "line 2: cur (currency) \"Euro\": is no currency code");
  text_reads_as(ONE_CURRENCY, "id,amount,cur\n1-2,5,\n", "line 2: amount (amount) \"5\": its currency is not known");
  text_reads_as("columns: {request_id: id, amount: amount}", "id,amount\n1-2,5.00\n",
                "line 2: amount (amount) \"5.00\": is no whole number of minor units");
  text_reads_as("currency: CNY, unit: major, strip: '`', columns: {request_id: id, amount: amount}",
                "id,amount\n`1-2,`5.00\n", "2:credit 1-2=1/2 500CNY; ");
}

static void what_a_line_is(void **state)
{
  (void)state;
  const char *words =
      "columns: {request_id: id, type: t, status: s}, types: {in: credit, out: refund, fee: ignored}, "
      "statuses: {ok: done, wait: pending, no: failed, '*': ignored}";
  text_reads_as(words, "id,t,s\n1-2,in,ok\n1-2-p,in,wait\n1-2-p,out,no\nX,fee,what\n",
                "2:credit 1-2=1/2; 3:payment pending 1-2-p=1/2; 4:refund failed 1-2-p=1/2; 5:ignored ignored X; ");
  text_reads_as(words, "id,t,s\n1-2,In,ok\n", "line 2: t (type) \"In\": is none of the profile's types");
  // By the sign, and by the request id.
  const char *by_sign = "columns: {request_id: id, amount: a}, positive: payment, negative: refund";
  text_reads_as(by_sign, "id,a\n1-2-p,5\n1-2-p,-5\n1-2-f,5\n1-2-r,5\n9,1\n0-2,1\n1-2-x,1\n1--2,1\n",
                "2:payment 1-2-p=1/2 5; 3:refund 1-2-p=1/2 5; 4:refund 1-2-f=1/2 5; 5:reverse 1-2-r=1/2 5; "
                "6:payment 9 1; 7:payment 0-2 1; 8:payment 1-2-x 1; 9:payment 1--2 1; ");
  text_reads_as("columns: {request_id: id, amount: a}", "id,a\n1-2,5\n1-2,-5\n1-2-p,5\n1-2-p,-5\n",
                "2:credit 1-2=1/2 5; 3:reverse 1-2=1/2 5; 4:payment 1-2-p=1/2 5; 5:refund 1-2-p=1/2 5; ");
}

static void times(void **state)
{
  (void)state;
  text_reads_as("columns: {request_id: id, at: at}, time_format: '%Y-%m-%d %H:%M:%S', time_zone: Asia/Shanghai",
                "id,at\n1-2,1970-01-01 08:00:01.25\n", "2:credit 1-2=1/2 @28801250000; ");
  text_reads_as("columns: {request_id: id, at: at}, time_format: '%d/%m/%Y %H:%M %z'",
                "id,at\n1-2,01/01/1970 01:00 +0100\n", "2:credit 1-2=1/2 @0; ");
  text_reads_as("columns: {request_id: id, at: at}, time_format: unix", "id,at\n1-2,5\n",
                "2:credit 1-2=1/2 @5000000; ");
  text_reads_as("columns: {request_id: id, at: at}, time_format: unix_ms", "id,at\n1-2,253402300799999\n",
                "2:credit 1-2=1/2 @253402300799999000; ");
  text_reads_as("columns: {request_id: id, at: at}, time_format: unix", "id,at\n1-2,9223372036854\n",
                "line 2: at (at) \"9223372036854\": is no time as the profile writes it");
  text_reads_as("columns: {request_id: id, at: at}, time_format: '%Y-%m-%d'", "id,at\n1-2,2027-02-30\n",
                "line 2: at (at) \"2027-02-30\": is no time as the profile writes it");
  text_reads_as("columns: {request_id: id, at: at}", "id,at\n1-2,2027-02-28 10:00:00\n",
                "line 2: at (at) \"2027-02-28 10:00:00\": is no time as the profile writes it");
}

// A fault is stored and answered: it is UTF-8 although the name of a column in it was cut.
static void faults_are_text(void **state)
{
  (void)state;
  static const char name[] =
      "a\u5fae\u5fae\u5fae\u5fae\u5fae\u5fae\u5fae\u5fae\u5fae\u5fae\u5fae\u5fae\u5fae\u5fae\u5fae\u5fae\u5fae\u5fae"
      "\u5fae\u5fae";
  char profile[256], file[256], wanted[256];
  (void)snprintf(profile, sizeof profile, "columns: {request_id: id, amount: %s}", name);
  (void)snprintf(file, sizeof file, "id,%s\n1-2,x\n", name);
  (void)snprintf(wanted, sizeof wanted, "line 2: %.58s?? (amount) \"x\": is no number", name);
  text_reads_as(profile, file, wanted);
}

static void heads_and_tails(void **state)
{
  (void)state;
  const char *bill =
      "skip_lines: 2, comment: '#', footer_rows: 2, columns: {request_id: id, amount: a}, "
      "trailer: {row: 2, count: 1, total: 2}";
  text_reads_as(bill, "Bill of 2026-11-29\n\nid,a\n#one,x\n1-2,5\n1-3,-2\nrows,sum\n2,3\n",
                "5:credit 1-2=1/2 5; 6:reverse 1-3=1/3 2; ");
  text_reads_as(bill, "Bill of 2026-11-29\n\nid,a\n1-2,5\nrows,sum\n2,5\n",
                "line 6: the trailer says 2 rows, there are 1");
  text_reads_as(bill, "Bill of 2026-11-29\n\nid,a\n1-2,5\nrows,sum\n1,6\n",
                "line 6: the trailer's total is 6, the sum of the amounts 5 minor units");
  text_reads_as(bill, "Bill of 2026-11-29\n\nid,a\n1-2,5\n",
                "line 4: there are fewer rows than the profile's footer has");
  text_reads_as("header: false, columns: {request_id: 2, amount: 1}", "5,1-2\n", "1:credit 1-2=1/2 5; ");
  // Prose before the header is not CSV.
  text_reads_as("skip_lines: 2, columns: {request_id: id}", "Bill of \"A\r\n\"\r\nid\r\n1-2\r\n", "4:credit 1-2=1/2; ");
  text_reads_as("skip_lines: 2, columns: {request_id: id}", "Bill\n", "there is no header: the file is empty");
}

static void json(void **state)
{
  (void)state;
  const char *list =
      "format: json, items: /data/rows, unit: major, columns: {request_id: /id, amount: /amount/value, "
      "currency: /amount/cur, ref: /ref}";
  text_reads_as(
      list,
      "{\"rows\": [{\"id\": \"9-9\"}], \"data\": {\"n\": [1, {\"rows\": []}], \"rows\": [\n"
      " {\"id\": \"1-2\", \"amount\": {\"value\": 12.10, \"cur\": \"EUR\"}, \"ref\": \"a]}\\\"\\u00fc\"},\n"
      " {\"id\": \"1-3\", \"amount\": {\"value\": \"-7\", \"cur\": \"JPY\"}, \"ref\": null}]}, \"more\": 1}\n",
      "2:credit 1-2=1/2 1210EUR #a]}\"\xc3\xbc; 3:reverse 1-3=1/3 7JPY; ");
  text_reads_as(list, "{\"data\": {\"rows\": []}}", "");
  text_reads_as(list, "{\"data\": []}", "there is no list where the profile's items says");
  text_reads_as(list, "{\"data\": {\"rows\": [{\"id\": \"1-2\"", "line 1: is no JSON: it ends too early");
  text_reads_as(list, "{\"data\": {\"rows\": [\n5]}}", "line 2: is no object of the list");
  text_reads_as(list, "{\"data\": {\"rows\": [\n{\"id\": 1, \"id\": 2}]}}",
                "line 2: is no JSON object: line 1 column 14: duplicate object key near '\"id\"'");
  text_reads_as(list, "{\"data\": {\"rows\": [{\"id\": \"1-2\", \"amount\": {\"value\": 1.005, \"cur\": \"EUR\"}}]}}",
                "line 1: /amount/value (amount) \"1.005\": more decimal places than the currency has are ambiguous");
  text_reads_as("format: json, columns: {request_id: /id}", "\xef\xbb\xbf[{\"id\": \"1-2\"}, {\"id\": \"1-3\"}]",
                "1:credit 1-2=1/2; 1:credit 1-3=1/3; ");
  text_reads_as("format: jsonl, columns: {request_id: /a~1b}", "{\"a/b\": \"1-2\"}\n\n{\"a/b\": \"1-3\"}",
                "1:credit 1-2=1/2; 3:credit 1-3=1/3; ");
}

// Lists that are not the one the profile means, and what is not JSON around it.
static void json_around_the_list(void **state)
{
  (void)state;
  const char *list = "format: json, items: /data/rows, columns: {request_id: /id}";
  text_reads_as(list, "{\"data\": {\"n\": 1}, \"other\": {\"rows\": [{\"id\": \"1-2\"}]}}",
                "there is no list where the profile's items says");
  text_reads_as(list, "{\"data\": {\"rows\": []}, \"other\": {\"rows\": [{\"id\": \"1-2\"}]}}", "");
  text_reads_as(list, "{\"data\": {\"rows\": [{\"id\": \"1-2\"}], \"rows\": [{\"id\": \"1-3\"}]}}",
                "line 1: has the profile's list twice");
  text_reads_as("format: json, columns: {request_id: /id}", "[{\"id\": \"1-2\"}]\n[{\"id\": \"1-3\"}]\n",
                "line 2: is no JSON: something stands behind its end");
  // Names of members may be written with escapes.
  text_reads_as("format: json, items: /\xe6\x95\xb0\xe6\x8d\xae, columns: {request_id: /\xe5\x8d\x95\xe5\x8f\xb7}",
                "{\"\\u6570\\u636e\": [{\"\\u5355\\u53f7\": \"1-2\"}, {\"\xe5\x8d\x95\xe5\x8f\xb7\": \"1-3\"}]}",
                "1:credit 1-2=1/2; 1:credit 1-3=1/3; ");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_simulators_statement), cmocka_unit_test(marks_and_quotes), cmocka_unit_test(encodings),
      cmocka_unit_test(signs_of_amounts),         cmocka_unit_test(what_a_line_is),   cmocka_unit_test(times),
      cmocka_unit_test(faults_are_text),          cmocka_unit_test(heads_and_tails),  cmocka_unit_test(json),
      cmocka_unit_test(json_around_the_list),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
