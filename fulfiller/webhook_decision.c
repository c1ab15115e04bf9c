// SPDX-License-Identifier: Apache-2.0
// What becomes of a webhook delivery after an attempt: see webhook_decision.h.
// Pure; any thread.
#include "fulfiller/webhook_decision.h"

#include <stdio.h>
#include <string.h>

#include "fulfiller/outcome.h"

const char *webhook_outcome_name(enum webhook_outcome o)
{
  static const char *const names[] = {
#define X(name, text) [name] = text,
      WEBHOOK_OUTCOME_LIST(X)
#undef X
  };
  return names[o];
}

// The rung, lengthened by up to a tenth: deliveries that failed together do not come back together.
static struct span pause_after(const struct webhook_conf *conf, int64_t tries, uint64_t seed)
{
  size_t rung = tries < 1 ? 0 : (size_t)(tries - 1);
  if (rung >= conf->ladder.count) rung = conf->ladder.count - 1;
  int64_t us = conf->ladder.items[rung].us;
  uint64_t spread = (seed * UINT64_C(0x9e3779b97f4a7c15)) >> 32;
  return span_us(us + (int64_t)(spread % 1001) * (us / 10000));
}

void webhook_decide(const struct webhook_conf *conf, const struct http_answer *answer, int64_t tries,
                    struct wall_time now, uint64_t seed, struct webhook_decision *out_decision)
{
  struct webhook_decision d = {.status = answer->status};
  bool is_answered = answer->stage == HTTP_ANSWERED;
  if (is_answered)
    snprintf(d.detail, sizeof d.detail, "HTTP %d", answer->status);
  else
    verdict_put(d.detail, sizeof d.detail, answer->fault);
  if (is_answered && answer->status >= 200 && answer->status <= 299) {
    d.outcome = WEBHOOK_DONE;
  } else if (is_answered && answer->status == 410) {
    d.outcome = WEBHOOK_GONE;
  } else if (tries >= conf->attempts) {
    d.outcome = WEBHOOK_DEAD;
  } else {
    struct span asked = outcome_retry_after(answer->retry_after, now, conf->retry_after_max);
    d.outcome = WEBHOOK_RETRY;
    d.due = pause_after(conf, tries, seed);
    if (asked.us > d.due.us) d.due = asked;
  }
  *out_decision = d;
}

void webhook_id_of(const char *event_id, char *out, size_t size)
{
  snprintf(out, size, "%s", event_id);
  for (char *c = out; *c != '\0'; c++)
    if (*c == '.') *c = '_';
}
