// SPDX-License-Identifier: Apache-2.0
// Amounts as providers want them. Exact: no floating point anywhere. Pure; any thread.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/buf.h"

// Decimal places of a currency by ISO 4217: 0 for JPY, 3 for KWD, 2 for most. False: no currency code.
bool money_places(const char *currency, int *out_places);
// Appends minor units as a decimal text: 1050 with 2 places is "10.50", 7 with 0 is "7", -5 with 3 is "-0.005".
void money_put_decimal(int64_t minor_units, int places, struct buf *out);
// False: does not fit.
bool money_times(int64_t amount, int64_t quantity, int64_t *out_total);
