// SPDX-License-Identifier: Apache-2.0
// Inside template*.c only: the pieces of a compiled template. Pure.
#pragma once

#include <stddef.h>

#define VARIABLE_LIST(X)                                   \
  X(VARIABLE_CLAIM_ID, "claim.id")                         \
  X(VARIABLE_HOLD_UNTIL, "claim.holdUntil")                \
  X(VARIABLE_HOLD_UNTIL_UNIX, "claim.holdUntilUnix")       \
  X(VARIABLE_HOLD_UNTIL_BEIJING, "claim.holdUntilBeijing") \
  X(VARIABLE_REQUEST_ID, "claim.requestId")                \
  X(VARIABLE_REQUEST_ID_WORD, "claim.requestIdWord")       \
  X(VARIABLE_PROVIDER_REF, "claim.providerRef")            \
  X(VARIABLE_TOTAL, "claim.amount")                        \
  X(VARIABLE_TOTAL_DECIMAL, "claim.amountDecimal")         \
  X(VARIABLE_NOW_RFC3339, "now.rfc3339")                   \
  X(VARIABLE_NOW_UNIX, "now.unix")                         \
  X(VARIABLE_NOW_BEIJING, "now.beijing")                   \
  X(VARIABLE_NONCE, "nonce")                               \
  X(VARIABLE_USER_ID, "claim.userId")                      \
  X(VARIABLE_QUANTITY, "claim.quantity")                   \
  X(VARIABLE_BIZ_ID, "claim.bizId")                        \
  X(VARIABLE_ACTIVITY_CODE, "claim.activityCode")          \
  X(VARIABLE_CHANNEL, "claim.channel")                     \
  X(VARIABLE_REWARD_CODE, "reward.code")                   \
  X(VARIABLE_AMOUNT, "reward.amount")                      \
  X(VARIABLE_CURRENCY, "reward.currency")                  \
  X(VARIABLE_CURRENCY_LOWER, "reward.currencyLower")

enum template_variable {
  VARIABLE_NONE,  // literal text
#define X(id, name) id,
  VARIABLE_LIST(X)
#undef X
      VARIABLE_PARAM,  // reward.params.<name>
  VARIABLE_SECRET,     // secret.<name>
};

enum template_escape {
  ESCAPE_URL,
  ESCAPE_HEADER,
  ESCAPE_JSON_CONTENT,
  ESCAPE_JSON_VALUE,
  ESCAPE_FORM_JSON_CONTENT,
  ESCAPE_FORM_JSON_VALUE
};

struct template_part {
  enum template_variable variable;
  enum template_escape escape;
  char *text;  // the literal, or the name of the parameter or secret
  size_t len;
};
