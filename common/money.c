// SPDX-License-Identifier: Apache-2.0
// Amounts in minor units and their decimal texts. Pure; any thread.
#include "common/money.h"

#include <string.h>

#include "common/contract.h"

// Those of ISO 4217 that do not have two places.
static const struct {
  const char *code;
  int exponent;
} odd_currencies[] = {{"BIF", 0}, {"CLP", 0}, {"DJF", 0}, {"GNF", 0}, {"ISK", 0}, {"JPY", 0}, {"KMF", 0},
                      {"KRW", 0}, {"PYG", 0}, {"RWF", 0}, {"UGX", 0}, {"UYI", 0}, {"VND", 0}, {"VUV", 0},
                      {"XAF", 0}, {"XOF", 0}, {"XPF", 0}, {"BHD", 3}, {"IQD", 3}, {"JOD", 3}, {"KWD", 3},
                      {"LYD", 3}, {"OMR", 3}, {"TND", 3}, {"CLF", 4}, {"UYW", 4}};

bool money_exponent(const char *currency, int *out_exponent)
{
  if (currency == NULL || strlen(currency) != 3 || strspn(currency, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != 3) return false;
  *out_exponent = 2;
  for (size_t i = 0; i < ARRAY_LEN(odd_currencies); i++) {
    if (strcmp(currency, odd_currencies[i].code) == 0) *out_exponent = odd_currencies[i].exponent;
  }
  return true;
}

void money_put(struct buf *out, int64_t amount, const char *currency)
{
  int exponent = 0;
  if (!money_exponent(currency, &exponent)) exponent = 0;
  money_put_decimal(out, amount, exponent);
}

void money_put_decimal(struct buf *out, int64_t amount, int exponent)
{
  REQUIRE(exponent >= 0 && exponent <= MONEY_EXPONENT_MAX);
  uint64_t magnitude = amount < 0 ? 0 - (uint64_t)amount : (uint64_t)amount;
  uint64_t unit = 1;
  for (int i = 0; i < exponent; i++) unit *= 10;
  if (amount < 0) buf_putc(out, '-');
  buf_put_u64(out, magnitude / unit);
  if (exponent > 0) buf_printf(out, ".%0*llu", exponent, (unsigned long long)(magnitude % unit));
}

bool money_times(int64_t amount, int64_t quantity, int64_t *out_total)
{
  return !__builtin_mul_overflow(amount, quantity, out_total);
}

// --- reading
// ----------------------------------------------------------------------------------------------------------

// The magnitude is gathered below zero, where the smallest int64 fits too.
struct reading {
  const char *at, *end;
  int64_t below_zero;
  const char *fault;
};

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static enum result refuse(struct reading *r, const char *fault)
{
  r->fault = fault;
  return RESULT_INVALID;
}

static enum result take_digit(struct reading *r, int digit)
{
  if (__builtin_mul_overflow(r->below_zero, 10, &r->below_zero) ||
      __builtin_sub_overflow(r->below_zero, digit, &r->below_zero)) {
    return refuse(r, "does not fit");
  }
  return RESULT_OK;
}

static enum result take_run(struct reading *r, size_t *out_digits)
{
  size_t digits = 0;
  for (; r->at < r->end && is_digit(*r->at); r->at++, digits++) {
    enum result taken = take_digit(r, *r->at - '0');
    if (taken != RESULT_OK) return taken;
  }
  *out_digits = digits;
  return RESULT_OK;
}

static bool take_text(struct reading *r, const char *text)
{
  size_t len = text == NULL ? 0 : strlen(text);
  if (len == 0 || (size_t)(r->end - r->at) < len || memcmp(r->at, text, len) != 0) return false;
  r->at += len;
  return true;
}

// Groups of three, the first shorter; or of two with three at the end (1,00,000).
static enum result take_whole(struct reading *r, const char *grouping)
{
  size_t first = 0, middle = 0, digits = 0;
  enum result result = RESULT_OK;
  TRY(take_run(r, &first));
  for (size_t groups = 0; take_text(r, grouping); groups++) {
    if (groups > 0 && digits != middle) return refuse(r, "groups of digits differ");
    TRY(take_run(r, &digits));
    if (groups == 0) middle = digits;
    if (first == 0 || first > 3 || digits < 2 || digits > 3) return refuse(r, "a group has no three digits");
  }
  if (digits == 2) return refuse(r, "the last group has no three digits");
cleanup:
  return result;
}

static enum result take_fraction(struct reading *r, char decimal, int exponent)
{
  enum result result = RESULT_OK;
  size_t digits = 0;
  if (r->at < r->end && *r->at == decimal) {
    r->at++;
    TRY(take_run(r, &digits));
    if (digits == 0) return refuse(r, "no digits behind the decimal sign");
    if (digits > (size_t)exponent) return refuse(r, "more decimal places than the currency has are ambiguous");
  }
  for (size_t i = digits; i < (size_t)exponent; i++) TRY(take_digit(r, 0));
cleanup:
  return result;
}

static const char *why_not(char c)
{
  if (c == '(' || c == ')') return "parentheses are ambiguous";
  if (c == '-') return "a minus that is not alone in front is ambiguous";
  if (c == '.' || c == ',') return "a sign between digits that is not declared is ambiguous";
  return "is no number";
}

static enum result read_amount(struct reading *r, const struct money_signs *signs, int exponent, int64_t *out_amount)
{
  enum result result = RESULT_OK;
  bool negative = take_text(r, "-") || take_text(r, "\xe2\x88\x92");  // also U+2212
  if (!negative) (void)take_text(r, "+");
  if (r->at == r->end) return refuse(r, "is empty");
  const char *start = r->at;
  if (!is_digit(*start) && *start != signs->decimal) return refuse(r, why_not(*start));
  TRY(take_whole(r, signs->grouping));
  TRY(take_fraction(r, signs->decimal, exponent));
  if (r->at != r->end) return refuse(r, why_not(*r->at));
  int64_t amount = r->below_zero;
  if (!negative && __builtin_sub_overflow(0, amount, &amount)) return refuse(r, "does not fit");
  *out_amount = amount;
cleanup:
  return result;
}

enum result money_parse(const char *text, size_t len, const struct money_signs *signs, int exponent,
                        int64_t *out_amount, const char **out_fault)
{
  REQUIRE(signs != NULL && exponent >= 0 && exponent <= MONEY_EXPONENT_MAX);
  struct reading r = {.at = text, .end = text + len};
  enum result result = read_amount(&r, signs, exponent, out_amount);
  if (result != RESULT_OK && out_fault != NULL) *out_fault = r.fault;
  return result;
}
