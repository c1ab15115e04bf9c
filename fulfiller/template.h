// SPDX-License-Identifier: Apache-2.0
// Texts with ${claim.…} and ${reward.…} in them: compiled once, rendered per call with the escaping of the place where
// each value lands. Pure; any thread.
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/buf.h"
#include "common/clk.h"
#include "common/conf.h"
#include "common/result.h"

#define REQUEST_ID_BYTES 48
// What a request can say about a claim. Texts are the owner's.
struct claim_facts {
  int64_t activity_id, claim_id, user_id, quantity;
  const char *request_id;    // of the action at hand; fixed for the claim's whole life
  const char *provider_ref;  // the provider's reference of the delivery, or of the payment; NULL if none
  const char *biz_id, *activity_code, *channel, *reward_code, *currency;  // channel, currency: NULL if none
  bool has_amount, has_hold;
  struct wall_time hold_until;  // until when the person may pay
  int64_t amount;               // minor units
  const json_t *params;         // NULL unless a template asks for one
};

// What differs from rendering to rendering of the same request. A repeat has new ones; its request id stays.
#define NONCE_BYTES 33
struct render_moment {
  struct wall_time now;
  char nonce[NONCE_BYTES];  // 32 hexadecimal digits
};
struct provider_keys;
struct template_means {
  struct render_moment moment;
  const struct provider_keys *keys;  // NULL: secrets are empty
};

enum template_place {
  TEMPLATE_PATH,    // values are percent-encoded; secrets may not stand here
  TEMPLATE_HEADER,  // values without control characters
  TEMPLATE_JSON,    // in quotes: escaped; outside: a complete JSON value, null if there is none
  TEMPLATE_FORM,    // values are percent-encoded; line breaks around fields are left out; a field that begins with { is
                    // written as JSON and encoded as a whole
};

struct template_part;
struct template
{
  struct template_part *parts;
  size_t count;
  bool has_params, has_request_id, has_provider_ref;
};
// RESULT_INVALID: an unknown variable, an open brace, or a body that would not be JSON; out_fault has one line without
// the place.
MUST_CHECK enum result template_compile(const char *text, enum template_place place, struct template *out_template,
                                        struct conf_fault *out_fault);
void template_release(struct template *t);
// The first secret that the template wants and that is not among these; NULL: none.
const char *template_missing_secret(const struct template *t, const struct conf_pairs *secrets);
// Appends. RESULT_INVALID: a value that cannot stand in its place (a control character in a header, an object in a
// path), an amount that does not fit or has no currency to be written in.
MUST_CHECK enum result template_render(const struct template *t, const struct claim_facts *facts,
                                       const struct template_means *means, struct buf *out);
