// SPDX-License-Identifier: Apache-2.0
// The simulator as a provider of a test's configuration, in pieces of YAML that stand below `    NAME:`. What a test is
// about (time-outs, ladder, limits, callbacks) it adds itself. more_answers are rules before the usual ones, each ended
// by a comma.
#pragma once

// The stack names the simulator's real address in the environment, for `simulator` and `simulator-b`.
#define SIMULATOR_ELSEWHERE "      base_url: http://127.0.0.1:1\n"

#define SIMULATOR_DELIVER(more_answers)                                                               \
  "      request_id_header: Idempotency-Key\n"                                                        \
  "      request_id_field: requestId\n"                                                               \
  "      deliver:\n"                                                                                  \
  "        path: /credits\n"                                                                          \
  "        body: '{\"userId\": \"${claim.userId}\", \"rewardCode\": \"${reward.code}\", \"amount\": " \
  "${reward.amount}, \"currency\": ${reward.currency}, \"quantity\": ${claim.quantity}}'\n"           \
  "        answers: {" more_answers "'2xx /status=SUCCESS': done, '2xx /status=PENDING': pending, '2xx': unknown}\n"

#define SIMULATOR_INQUIRE "      inquire: { path: '/credits/${claim.requestId}' }\n"

#define SIMULATOR_REVERSE(more_answers)                      \
  "      reverse:\n"                                         \
  "        path: /credits/${claim.id}/reverse\n"             \
  "        body: '{\"refundId\": \"${claim.requestId}\"}'\n" \
  "        answers: {" more_answers                          \
  "'2xx /status=SUCCESS': done, '2xx': unknown}\n"           \
  "      inquire_reverse: { path: '/credits/${claim.id}/reverse/${claim.requestId}' }\n"

// Claims that nobody delivers are published again soon.
#define SWEEPS_SOON "scheduler: { claims: { sweep_after: 2s }, sweep: { every: 200ms, base: 1s } }\n"
