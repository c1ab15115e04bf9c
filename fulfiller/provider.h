// SPDX-License-Identifier: Apache-2.0
// A provider as compiled from its block of the configuration: how to ask it, how to judge what it says, how patient to
// be with it. Pure; read-only after compilation; refers to texts of the configuration, which must outlive it.
#pragma once

#include "common/http_client.h"
#include "common/trace.h"
#include "fulfiller/config.h"
#include "fulfiller/outcome.h"
#include "fulfiller/provider_keys.h"
#include "fulfiller/provider_sign.h"
#include "fulfiller/redact.h"
#include "fulfiller/template.h"

#define PROVIDER_HEADERS_MAX 16

struct provider_header {
  const char *name;
  struct template value;
};

struct provider_request {
  bool exists;
  const char *method;
  struct template path, body;
  bool has_body;
  struct provider_header headers[PROVIDER_HEADERS_MAX];
  size_t header_count;
  struct answer_rules rules;
  bool has_request_id;  // deliveries without one never use a kept connection: it may die under them, and nobody could
                        // ask
};

// One thing the provider can do. call does not exist: it cannot.
struct provider_action_profile {
  struct provider_request call, inquire;
  struct provider_request close;  // of charges only: ends an order that nobody paid, under the charge's request id
  bool repeat_is_safe;            // the same request id may be sent again
};

struct provider {
  const char *name;
  const struct provider_conf *conf;
  struct provider_action_profile actions[ACTION_COUNT];
  struct sign_profile sign;
  struct provider_keys keys;    // empty until provider_load_keys
  struct signature *signature;  // NULL until then
  struct redact redact;         // for what is recorded of its requests and answers
  bool has_params;              // some template wants reward.params
  struct span lease;            // from take to the end of the last call that may begin under it, with a margin
  struct span second_call;      // this much of the lease must be left before a delivery that follows an inquiry
};

// RESULT_INVALID: out_fault has one line "deliver.body: unknown variable ${x}", relative to the block.
MUST_CHECK enum result provider_compile(const char *name, const struct provider_conf *conf,
                                        struct provider *out_provider, struct conf_fault *out_fault);
void provider_release(struct provider *p);
// Reads the files of `secrets` and takes the contents in place of those before. Blocking; at start and on SIGHUP.
// RESULT_INVALID: out_fault is relative to the block, and what was there before stays: also when one of the secrets
// that the running profile was compiled with is missing.
MUST_CHECK enum result provider_load_keys(struct provider *p, const struct conf_pairs *secrets,
                                          struct conf_fault *out_fault);
// "file:12: fulfiller.providers.NAME.deliver.body: …" from a fault that is relative to the block, with the line of the
// key at fault. Always RESULT_INVALID.
MUST_CHECK enum result provider_fault(const char *file, const struct conf_entry *entry, const struct conf_fault *inner,
                                      struct conf_fault *out_fault);
// Compiles every provider of a configuration, reads its files, and forgets it again: for `-t`. file may be NULL.
MUST_CHECK enum result provider_check_all(const struct fulfiller_conf *conf, const char *file, bool reads_files,
                                          struct conf_fault *out_fault);

// Storage that rendering fills; reused from call to call.
struct provider_call {
  struct buf url, body, header_text;
  struct http_header headers[PROVIDER_HEADERS_MAX + SIGN_HEADERS_MAX + 1];
  size_t header_at[PROVIDER_HEADERS_MAX];
  char traceparent[TRACE_PARENT_BYTES];
  struct http_request request;
};
void provider_call_init(struct provider_call *call);
void provider_call_release(struct provider_call *call);
const struct provider_request *provider_request_of(const struct provider *p, enum provider_action action,
                                                   enum call_kind kind);
// Fills call->request for a request that exists; it points into *call until the next rendering. traceparent "": none.
MUST_CHECK enum result provider_render(const struct provider *p, enum provider_action action, enum call_kind kind,
                                       const struct claim_facts *facts, const char *traceparent,
                                       struct provider_call *call);

// The same at a given moment: provider_render takes the present one and a random nonce.
MUST_CHECK enum result provider_render_at(const struct provider *p, enum provider_action action, enum call_kind kind,
                                          const struct claim_facts *facts, const char *traceparent,
                                          const struct render_moment *moment, struct provider_call *call);

// The rung that follows the given number of tries (from 1).
struct span provider_rung(const struct provider *p, int64_t tries);
// The shortest rung that is at least `wanted`; the longest if none is.
struct span provider_rung_at_least(const struct provider *p, struct span wanted);
