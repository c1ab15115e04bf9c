// SPDX-License-Identifier: Apache-2.0
// What a provider's answer means by compiled rules, at a fixed instant. Owner: unit tests.
#pragma once

#include <stdint.h>
#include <string.h>

#include "fulfiller/outcome.h"

static const struct wall_time answer_fixture_now = {INT64_C(1795953600000000)};  // 2026-11-29T12:00:00Z

static inline struct verdict classify(const struct answer_rules *rules, enum http_stage stage, int status,
                                      const char *body)
{
  struct verdict verdict;
  struct http_answer answer = {.stage = stage,
                               .status = status,
                               .body = body,
                               .body_len = strlen(body),
                               .retry_after = "",
                               .content_type = "",
                               .fault = stage == HTTP_ANSWERED ? "" : "why"};
  memset(&verdict, 0xA5, sizeof verdict);
  outcome_classify(rules, &answer, answer_fixture_now, &verdict);
  return verdict;
}
