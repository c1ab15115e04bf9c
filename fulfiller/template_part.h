// SPDX-License-Identifier: Apache-2.0
// Inside template*.c only: the pieces of a compiled template. Pure.
#pragma once

#include <stddef.h>

#define VARIABLE_LIST(X)                          \
  X(VARIABLE_CLAIM_ID, "claim.id")                \
  X(VARIABLE_REQUEST_ID, "claim.requestId")       \
  X(VARIABLE_PROVIDER_REF, "claim.providerRef")   \
  X(VARIABLE_USER_ID, "claim.userId")             \
  X(VARIABLE_QUANTITY, "claim.quantity")          \
  X(VARIABLE_BIZ_ID, "claim.bizId")               \
  X(VARIABLE_ACTIVITY_CODE, "claim.activityCode") \
  X(VARIABLE_CHANNEL, "claim.channel")            \
  X(VARIABLE_REWARD_CODE, "reward.code")          \
  X(VARIABLE_AMOUNT, "reward.amount")             \
  X(VARIABLE_CURRENCY, "reward.currency")

enum template_variable {
  VARIABLE_NONE,  // literal text
#define X(id, name) id,
  VARIABLE_LIST(X)
#undef X
      VARIABLE_PARAM,  // reward.params.<name>
};

enum template_escape { ESCAPE_URL, ESCAPE_HEADER, ESCAPE_JSON_CONTENT, ESCAPE_JSON_VALUE };

struct template_part {
  enum template_variable variable;
  enum template_escape escape;
  char *text;  // the literal, or the name of the parameter
  size_t len;
};
