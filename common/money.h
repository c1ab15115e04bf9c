// SPDX-License-Identifier: Apache-2.0
// Amounts of money: minor units (int64) and decimal texts, by the exponents of ISO 4217. Exact: no floating point
// anywhere. Pure; any thread.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/buf.h"
#include "common/result.h"

#define MONEY_EXPONENT_MAX 4

// Decimal places of a currency: 0 for JPY, 3 for KWD, 2 for most. False: no currency code (three capital letters).
bool money_exponent(const char *currency, int *out_exponent);
// Appends the amount as a plain decimal text: 1050 CNY is "10.50", 7 JPY is "7", -5 KWD is "-0.005". What is no
// currency code is shown in minor units.
void money_put(struct buf *out, int64_t amount, const char *currency);
// The same with decimal places that are known, 0 to MONEY_EXPONENT_MAX.
void money_put_decimal(struct buf *out, int64_t amount, int exponent);
// False: does not fit.
bool money_times(int64_t amount, int64_t quantity, int64_t *out_total);

// How somebody writes amounts. Nothing is guessed: a sign that is not declared is no part of a number.
struct money_signs {
  char decimal;          // '.' or ','
  const char *grouping;  // UTF-8 between groups of digits; NULL or "": none
};

// A decimal text as minor units: digits, in groups or without, then the decimal sign with at most `exponent` digits
// behind it; '-' or '+' in front. "-1.000,00" with decimal ',' and grouping '.' is -100000 where the exponent is 2.
// RESULT_INVALID: out_fault, if not NULL, says why, a phrase that lives for ever ("parentheses are ambiguous").
MUST_CHECK enum result money_parse(const char *text, size_t len, const struct money_signs *signs, int exponent,
                                   int64_t *out_amount, const char **out_fault);
