// SPDX-License-Identifier: Apache-2.0
// Reading HTTP answers out of a byte stream: one complete answer at a time, its status, the headers that matter, and
// the top-level texts of its JSON body. Pure; no allocation.
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct answer_text {
  const char *bytes;
  size_t len;
};

struct answer {
  int status;
  bool close;                                // the server will close the connection
  bool replayed;                             // Idempotent-Replayed: true
  int retry_after_s;                         // 0: none
  struct answer_text code, claim_id, state;  // members code, claimId, status of the body; empty if absent
  size_t bytes;                              // of the whole answer
};

enum answer_progress { ANSWER_PARTIAL, ANSWER_COMPLETE, ANSWER_BROKEN };

// The texts of *out_answer point into bytes.
enum answer_progress answer_read(const char *bytes, size_t len, struct answer *out_answer);
