// SPDX-License-Identifier: Apache-2.0
// Amounts in minor units and their decimal texts. Pure; any thread.
#include "fulfiller/money.h"

#include <string.h>

// Those of ISO 4217 that do not have two places.
static const struct {
  const char *code;
  int places;
} odd_currencies[] = {{"BIF", 0}, {"CLP", 0}, {"DJF", 0}, {"GNF", 0}, {"ISK", 0}, {"JPY", 0}, {"KMF", 0},
                      {"KRW", 0}, {"PYG", 0}, {"RWF", 0}, {"UGX", 0}, {"UYI", 0}, {"VND", 0}, {"VUV", 0},
                      {"XAF", 0}, {"XOF", 0}, {"XPF", 0}, {"BHD", 3}, {"IQD", 3}, {"JOD", 3}, {"KWD", 3},
                      {"LYD", 3}, {"OMR", 3}, {"TND", 3}, {"CLF", 4}, {"UYW", 4}};

bool money_places(const char *currency, int *out_places)
{
  if (currency == NULL || strlen(currency) != 3 || strspn(currency, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != 3) return false;
  *out_places = 2;
  for (size_t i = 0; i < ARRAY_LEN(odd_currencies); i++) {
    if (strcmp(currency, odd_currencies[i].code) == 0) *out_places = odd_currencies[i].places;
  }
  return true;
}

void money_put_decimal(int64_t minor_units, int places, struct buf *out)
{
  uint64_t magnitude = minor_units < 0 ? 0 - (uint64_t)minor_units : (uint64_t)minor_units;
  uint64_t unit = 1;
  for (int i = 0; i < places; i++) unit *= 10;
  if (minor_units < 0) buf_putc(out, '-');
  buf_put_u64(out, magnitude / unit);
  if (places > 0) buf_printf(out, ".%0*llu", places, (unsigned long long)(magnitude % unit));
}

bool money_times(int64_t amount, int64_t quantity, int64_t *out_total)
{
  return !__builtin_mul_overflow(amount, quantity, out_total);
}
