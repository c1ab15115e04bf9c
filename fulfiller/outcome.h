// SPDX-License-Identifier: Apache-2.0
// What a provider's answer means. Outcomes are a closed set; the rules are the profile's, then built-in ones.
// Pure: no I/O, no clock, no log; any thread.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "common/conf.h"
#include "common/http_client.h"
#include "common/limits.h"
#include "common/result.h"
#include "fulfiller/action.h"

#define OUTCOME_LIST(X)                                                                                             \
  X(OUTCOME_DONE, "done")           /* it took effect; of an order that is closed: it will not be paid */           \
  X(OUTCOME_PENDING, "pending")     /* accepted; the result comes later */                                          \
  X(OUTCOME_RETRY, "retry")         /* it took no effect; try again */                                              \
  X(OUTCOME_REFUSED, "refused")     /* it took no effect and never will */                                          \
  X(OUTCOME_UNKNOWN, "unknown")     /* nobody can tell without asking */                                            \
  X(OUTCOME_NOT_FOUND, "not_found") /* inquiries: the provider does not know the request id; reversals and refunds: \
                                       nothing to take back */

enum outcome {
#define X(name, text) name,
  OUTCOME_LIST(X)
#undef X
      OUTCOME_COUNT
};
const char *outcome_name(enum outcome o);

enum answer_format { ANSWER_JSON, ANSWER_ANY };

struct answer_rule {
  int status_from, status_to;
  char *pointer;  // NULL: the status alone decides
  char *value;    // a text, or a number or true/false/null as JSON writes it
  enum outcome outcome;
};
// Compiled rules of one kind of call: the profile's own, then the built-in ones.
struct answer_rules {
  struct answer_rule *items;
  size_t count;
  enum provider_action action;
  enum call_kind kind;
  enum answer_format format;
  const char *reference_pointer, *code_pointer, *message_pointer;  // the configuration's
  const char *url_pointer;                                         // of charges: where the person pays; else NULL
  const char *request_id_pointer;                                  // the same; "" or NULL: answers do not say
  struct span retry_after_max;                                     // no answer can ask for more patience
};
// "2xx /status=PENDING" -> pending. A fault is one line without the place.
MUST_CHECK enum result answer_rules_compile(const struct conf_pairs *own, enum provider_action action,
                                            enum call_kind kind, struct answer_rules *out_rules,
                                            struct conf_fault *out_fault);
// Can a call of this kind find out that the provider does not know the request id, or has nothing to take back?
bool answer_may_be_not_found(enum provider_action action, enum call_kind kind);
void answer_rules_release(struct answer_rules *rules);

#define VERDICT_REF_BYTES    129
#define VERDICT_CODE_BYTES   65
#define VERDICT_DETAIL_BYTES 257
#define VERDICT_URL_BYTES    513
struct verdict {
  enum outcome outcome;
  int status;                   // 0: no answer
  char ref[VERDICT_REF_BYTES];  // "" if none; all texts are valid UTF-8
  char code[VERDICT_CODE_BYTES];
  char detail[VERDICT_DETAIL_BYTES];
  char url[VERDICT_URL_BYTES];  // where the person pays; a longer one than fits is none
  struct span retry_after;      // the provider asks not to be called before; 0: it does not
};
// now: for a Retry-After that is a date.
void outcome_classify(const struct answer_rules *rules, const struct http_answer *answer, struct wall_time now,
                      struct verdict *out_verdict);
// An answer that names another request than the one it came to proves nothing about it: its verdict becomes unknown.
// The request id of the delivery is right for every action; '_' stands for '-' as in requestIdWord.
void outcome_check_request(const struct answer_rules *rules, const struct http_answer *answer, const char *request_id,
                           struct verdict *io_verdict);
// How long a Retry-After header asks to wait: seconds or a date, at most max; nothing, the past or nonsense is 0.
struct span outcome_retry_after(const char *header, struct wall_time now, struct span max);
// Copies text into a field of a verdict: cut between code points, invalid bytes and control characters become '?'.
void verdict_put(char *field, size_t size, const char *text);
