// SPDX-License-Identifier: Apache-2.0
// Amounts: exponents of currencies, texts out and in, exact at the edges (B123, B125).
// One thread.
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "common/compiler.h"
#include "common/money.h"

static void places_are_those_of_iso_4217(void **state)
{
  (void)state;
  static const struct {
    const char *currency;
    int exponent;
  } cases[] = {{"JPY", 0}, {"KRW", 0}, {"USD", 2}, {"CNY", 2}, {"KWD", 3}, {"TND", 3}, {"CLF", 4}};
  for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
    int exponent = -1;
    assert_true(money_exponent(cases[i].currency, &exponent));
    assert_int_equal(exponent, cases[i].exponent);
  }
  static const char *const wrong[] = {"", "usd", "US", "USDX", "U$D"};
  int untouched = 7;
  for (size_t i = 0; i < ARRAY_LEN(wrong); i++) assert_false(money_exponent(wrong[i], &untouched));
  assert_false(money_exponent(NULL, &untouched));
  assert_int_equal(untouched, 7);
}

// B123: 500 minor units of each.
static void minor_units_are_shown_by_currency(void **state)
{
  (void)state;
  static const struct {
    int64_t amount;
    const char *currency, *text;
  } cases[] = {{500, "JPY", "500"},
               {500, "USD", "5.00"},
               {500, "KWD", "0.500"},
               {-5, "KWD", "-0.005"},
               {0, "USD", "0.00"},
               {INT64_MAX, "USD", "92233720368547758.07"},
               {INT64_MIN, "JPY", "-9223372036854775808"},
               {12, "points", "12"}};
  struct buf out;
  buf_init(&out, 64);
  for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
    buf_clear(&out);
    money_put(&out, cases[i].amount, cases[i].currency);
    assert_string_equal(buf_text(&out), cases[i].text);
  }
  buf_release(&out);
}

struct written {
  struct money_signs signs;
  const char *text;
  int exponent;
  int64_t amount;
};

static void amounts_are_read_as_their_profile_writes_them(void **state)
{
  (void)state;
  static const struct written cases[] = {
      {{',', "."}, "-1.000,00", 2, -100000},  // B125
      {{',', "."}, "-950,00", 2, -95000},     // B125
      {{',', "."}, "1.000", 2, 100000},
      {{'.', ","}, "1,234,567.8", 2, 123456780},
      {{'.', ","}, "1,00,000.00", 2, 10000000},
      {{'.', NULL}, "5.00", 2, 500},
      {{'.', NULL}, ".5", 2, 50},
      {{'.', NULL}, "+5", 2, 500},
      {{'.', NULL}, "0500", 0, 500},
      {{'.', NULL}, "0.500", 3, 500},
      {{',', "\xc2\xa0"},
       "12\xc2\xa0"
       "345,6",
       2,
       1234560},
      {{'.', NULL},
       "\xe2\x88\x92"
       "1.5",
       2,
       -150},
      {{'.', NULL}, "92233720368547758.07", 2, INT64_MAX},
      {{'.', NULL}, "-92233720368547758.08", 2, INT64_MIN},
  };
  for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
    int64_t amount = 0;
    const struct written *c = &cases[i];
    assert_int_equal(money_parse(c->text, strlen(c->text), &c->signs, c->exponent, &amount, NULL), RESULT_OK);
    assert_int_equal(amount, c->amount);
  }
}

static void what_could_mean_something_else_is_refused(void **state)
{
  (void)state;
  static const struct {
    struct written written;
    const char *why;
  } cases[] = {
      {{{'.', NULL}, "(33.52)", 2, 0}, "parentheses are ambiguous"},                              // B125
      {{{'.', NULL}, "1.000", 2, 0}, "more decimal places than the currency has are ambiguous"},  // B125
      {{{'.', NULL}, "5.00", 0, 0}, "more decimal places than the currency has are ambiguous"},
      {{{'.', NULL}, "1,000.00", 2, 0}, "a sign between digits that is not declared is ambiguous"},
      {{{',', "."}, "33.52", 2, 0}, "the last group has no three digits"},
      {{{',', "."}, "1000.000,00", 2, 0}, "a group has no three digits"},
      {{{',', "."}, "1.0000", 2, 0}, "a group has no three digits"},
      {{{',', "."}, ".000", 2, 0}, "a sign between digits that is not declared is ambiguous"},
      {{{'.', ","}, "1,000,00,000", 2, 0}, "groups of digits differ"},
      {{{'.', NULL}, "33.52-", 2, 0}, "a minus that is not alone in front is ambiguous"},
      {{{'.', NULL}, "1.2.3", 2, 0}, "a sign between digits that is not declared is ambiguous"},
      {{{'.', NULL}, "1.", 2, 0}, "no digits behind the decimal sign"},
      {{{'.', NULL}, "--1", 2, 0}, "a minus that is not alone in front is ambiguous"},
      {{{'.', NULL}, "", 2, 0}, "is empty"},
      {{{'.', NULL}, "-", 2, 0}, "is empty"},
      {{{'.', NULL}, "1e2", 2, 0}, "is no number"},
      {{{'.', NULL}, " 1", 2, 0}, "is no number"},
      {{{'.', NULL}, "\xef\xbc\x91", 2, 0}, "is no number"},
      {{{'.', NULL}, "92233720368547758.08", 2, 0}, "does not fit"},
      {{{'.', NULL}, "-92233720368547758.09", 2, 0}, "does not fit"},
      {{{'.', NULL}, "99999999999999999999999", 0, 0}, "does not fit"},
  };
  for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
    int64_t amount = 7;
    const char *why = NULL;
    const struct written *c = &cases[i].written;
    assert_int_equal(money_parse(c->text, strlen(c->text), &c->signs, c->exponent, &amount, &why), RESULT_INVALID);
    assert_string_equal(why, cases[i].why);
    assert_int_equal(amount, 7);
  }
}

static void every_amount_comes_back_as_it_went(void **state)
{
  (void)state;
  static const int64_t amounts[] = {0, 1, -1, 9, 99, 100, 12345, -100000, INT64_MAX, INT64_MIN};
  struct buf out;
  buf_init(&out, 64);
  for (size_t i = 0; i < ARRAY_LEN(amounts); i++) {
    for (int exponent = 0; exponent <= MONEY_EXPONENT_MAX; exponent++) {
      int64_t back = 7;
      buf_clear(&out);
      money_put_decimal(&out, amounts[i], exponent);
      assert_int_equal(money_parse(out.data, out.len, &(struct money_signs){'.', NULL}, exponent, &back, NULL),
                       RESULT_OK);
      assert_int_equal(back, amounts[i]);
    }
  }
  buf_release(&out);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(places_are_those_of_iso_4217),
      cmocka_unit_test(minor_units_are_shown_by_currency),
      cmocka_unit_test(amounts_are_read_as_their_profile_writes_them),
      cmocka_unit_test(what_could_mean_something_else_is_refused),
      cmocka_unit_test(every_amount_comes_back_as_it_went),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
