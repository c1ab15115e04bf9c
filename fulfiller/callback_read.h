// SPDX-License-Identifier: Apache-2.0
// From the raw bytes of a callback to what it says: verified first, then parsed, then asked for its facts. Pure; the
// signature context and the keys are those of the calling thread.
#pragma once

#include "common/clk.h"
#include "common/jsonx.h"
#include "fulfiller/callback_keys.h"

struct callback_request {
  const char *content_type;  // NULL: none
  const char *body;          // raw: signatures are over these bytes
  size_t body_len;
  const char *(*header)(const void *ctx, const char *name);  // NULL if absent
  const void *ctx;
};

#define CALLBACK_ID_BYTES   129
#define CALLBACK_BODY_BYTES 2048
struct callback_event {
  char event_id[CALLBACK_ID_BYTES];
  char request_id[CALLBACK_ID_BYTES];  // as given; "" if there is none
  bool has_claim;                      // the request id is one of ours
  int64_t activity_id, claim_id;
  enum provider_action action;
  enum callback_outcome outcome;
  char ref[VERDICT_REF_BYTES], code[VERDICT_CODE_BYTES], detail[VERDICT_DETAIL_BYTES];
  bool has_amount;
  int64_t amount;  // minor units; -1: given, but no amount
  bool has_occurred;
  struct wall_time occurred_at;
  char body[CALLBACK_BODY_BYTES];  // what was said, decrypted, without personal data, cut
};

// RESULT_DENIED: not proven to be the provider's, or not meant for us; RESULT_INVALID: signed, but no such document;
// RESULT_UNEXPECTED: wrong content type. out_why is then a constant text for logs.
MUST_CHECK enum result callback_read(const struct callback_profile *p, const struct callback_keys *keys,
                                     struct signature *s, const struct callback_request *r, struct wall_time now,
                                     struct callback_event *out_event, const char **out_why);

// The second half of it: a document and the id of the event that its header gave (NULL: none). For callback_read.c.
MUST_CHECK enum result callback_event_from(const struct callback_profile *p, struct signature *s,
                                           const json_t *document, const char *header_id,
                                           const struct callback_request *r, struct callback_event *out_event,
                                           const char **out_why);
