// SPDX-License-Identifier: Apache-2.0
// A provider's callbacks as its block of the configuration describes them: how they are signed, where their facts
// stand, what they mean. Pure; read-only after compilation; refers to texts of the configuration, which must outlive
// it.
#pragma once

#include "common/conf.h"
#include "fulfiller/action.h"
#include "fulfiller/config.h"
#include "fulfiller/outcome.h"

// As callback.profile of the configuration lists them.
enum callback_scheme {
  CALLBACK_NONE,
  CALLBACK_STANDARD_WEBHOOKS,
  CALLBACK_STRIPE,
  CALLBACK_WECHATPAY_V3,
  CALLBACK_ALIPAY,
};

#define CALLBACK_OUTCOME_LIST(X)                                      \
  X(CALLBACK_DONE, "done")       /* what was asked for took effect */ \
  X(CALLBACK_REFUSED, "refused") /* it did not, and never will */     \
  X(CALLBACK_PENDING, "pending") /* not decided yet */                \
  X(CALLBACK_IGNORED, "ignored") /* about something that is not for us */
enum callback_outcome {
#define X(name, text) name,
  CALLBACK_OUTCOME_LIST(X)
#undef X
      CALLBACK_OUTCOME_COUNT
};
const char *callback_outcome_name(enum callback_outcome o);

#define CALLBACK_RULES_MAX    32
#define CALLBACK_POINTERS_MAX 3

struct callback_rule {
  const char *pointer;  // not ended: pointer_len bytes
  size_t pointer_len;
  const char *value;
  enum callback_outcome outcome;
};
// The first of them that is there counts.
struct callback_pointers {
  const char *items[CALLBACK_POINTERS_MAX];
  size_t count;
};
struct callback_profile {
  enum callback_scheme scheme;
  struct span tolerance;
  struct callback_pointers event_id, request_id, reference, occurred, amount;
  const char *code_pointer, *message_pointer;  // of the provider
  const struct conf_texts *mask;               // the same
  int amount_decimals;
  bool needs_amount;  // the configuration says where it stands: news without it proves nothing
  const struct conf_pairs *require;
  struct callback_rule rules[CALLBACK_RULES_MAX];  // the profile's own, then the built-in ones
  size_t rule_count;
};

// RESULT_INVALID: out_fault has one line "callback.answers: …", relative to the block.
MUST_CHECK enum result callback_profile_compile(const struct provider_conf *conf, struct callback_profile *out_profile,
                                                struct conf_fault *out_fault);
