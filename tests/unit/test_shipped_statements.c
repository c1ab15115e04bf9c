// SPDX-License-Identifier: Apache-2.0
// The examples of config/statements: each is accepted as it stands, and reads what its comments promise.
// One thread; run from the top folder.
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

static enum result put_line(void *ctx, const struct statement_line *l)
{
  struct buf *out = ctx;
  buf_printf(out, "%lld:%s %lld%s @%lld #%.*s; ", (long long)l->line, statement_kind_name(l->kind),
             (long long)(l->has_claim ? l->claim_id : -1), l->currency, (long long)(l->at_us / 1000000),
             (int)l->ref.len, l->ref.bytes);
  if (l->has_amount) buf_printf(out, "%lld ", (long long)l->amount);
  return RESULT_OK;
}

static void reads(const char *file, const char *provider, const char *bytes, size_t len, const char *wanted)
{
  static char *const nothing[] = {NULL};
  void *config = NULL;
  struct conf_fault fault = {.text = ""};
  struct statement_profile p;
  struct statement_reader *r = NULL;
  struct buf out;
  if (conf_load(reconciler_conf_table(), file, nothing, &config, &fault) != RESULT_OK) fail_msg("%s", fault.text);
  const struct reconciler_conf *conf = config;
  assert_int_equal(reconciler_conf_check(conf, file, false, &fault), RESULT_OK);
  const struct statement_conf *profile = statement_profile_find(&conf->statements, provider);
  assert_non_null(profile);
  assert_int_equal(statement_profile_compile(provider, profile, &p, &fault), RESULT_OK);
  buf_init(&out, 4096);
  assert_int_equal(statement_reader_new(&p, put_line, &out, &r), RESULT_OK);
  if (statement_reader_feed(r, bytes, len) != RESULT_OK || statement_reader_end(r) != RESULT_OK)
    fail_msg("%s: %s", file, statement_reader_why(r));
  assert_string_equal(buf_text(&out), wanted);
  buf_release(&out);
  statement_reader_free(r);
  conf_free(reconciler_conf_table(), config);
}

static void text_reads(const char *file, const char *provider, const char *text, const char *wanted)
{
  reads(file, provider, text, strlen(text), wanted);
}

static void wechatpay(void **state)
{
  (void)state;
  text_reads("config/statements/wechatpay.yaml", "wechatpay",
             "\xef\xbb\xbf交易时间,公众账号ID,微信订单号,商户订单号,交易状态,货币种类,应结订单金额\r\n"
             "`2026-11-29 08:00:01,`wx1,`4200001,`12-345-p,`SUCCESS,`CNY,`10.50\r\n"
             "`2026-11-29 08:00:02,`wx1,`4200002,`12-345-p,`REFUND,`CNY,`0.00\r\n"
             "总交易单数,应结订单总金额\r\n`2,`10.50\r\n",
             "2:payment 345CNY @1795939201 #4200001; 1050 3:ignored 345CNY @1795939202 #4200002; ");
}

static void alipay(void **state)
{
  (void)state;
  // In GB18030: 商户订单号,支付宝交易号,业务类型,订单金额（元）,完成时间; 交易.
  static const char bill[] =
      "#\xd6\xa7\xb8\xb6\xb1\xa6\n"
      "\xc9\xcc\xbb\xa7\xb6\xa9\xb5\xa5\xba\xc5,\xd6\xa7\xb8\xb6\xb1\xa6\xbd\xbb\xd2\xd7\xba\xc5,"
      "\xd2\xb5\xce\xf1\xc0\xe0\xd0\xcd,"
      "\xb6\xa9\xb5\xa5\xbd\xf0\xb6\xee\xa3\xa8\xd4\xaa\xa3\xa9,\xcd\xea\xb3\xc9\xca\xb1\xbc\xe4\n"
      "12-345-p\t,2026112922\t,\xbd\xbb\xd2\xd7,10.50,2026-11-29 08:00:01\t\n#end\n";
  reads("config/statements/alipay.yaml", "alipay", bill, sizeof bill - 1,
        "3:payment 345CNY @1795939201 #2026112922; 1050 ");
}

static void stripe_style(void **state)
{
  (void)state;
  text_reads("config/statements/stripe_style.yaml", "cards",
             "balance_transaction_id,created_utc,currency,gross,reporting_category,payment_metadata[request_id]\n"
             "txn_1,2026-11-29 08:00:01,jpy,500,charge,12-345-p\n"
             "txn_2,2026-11-29 08:00:02,usd,-5.00,refund,12-345-f\n"
             "txn_3,2026-11-29 08:00:02,usd,-0.30,fee,\n",
             "2:payment 345JPY @1795939201 #txn_1; 500 3:refund 345USD @1795939202 #txn_2; 500 "
             "4:ignored -1USD @1795939202 #txn_3; ");
}

static void bank_style(void **state)
{
  (void)state;
  text_reads("config/statements/bank_style.yaml", "bank",
             "Konto\n1\n\n\nBuchungstag;Kundennummer;Betrag;W\xe4hrung;Buchungsreferenz\n"
             "29.11.2026;77;1.000,50;EUR;R1\n29.11.2026;77;-950,00;EUR;R2\n",
             "6:payment -1EUR @1795910400 #R1; 100050 7:refund -1EUR @1795910400 #R2; 95000 ");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(wechatpay),
      cmocka_unit_test(alipay),
      cmocka_unit_test(stripe_style),
      cmocka_unit_test(bank_style),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
