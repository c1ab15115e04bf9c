// SPDX-License-Identifier: Apache-2.0
// Signing a rendered request. Pure but for the state of libcrypto; loop thread.
#pragma once

#include "common/http_client.h"
#include "common/signature.h"
#include "fulfiller/config.h"
#include "fulfiller/provider_keys.h"
#include "fulfiller/template.h"

#define SIGN_HEADERS_MAX 2
// Of this moment, the nonce from the system's random source.
struct render_moment render_moment_now(void);

// sign_conf with what is left out filled in.
struct sign_profile {
  enum sign_scheme scheme;
  const char *secret, *header, *timestamp_header, *mchid, *serial;
};
// RESULT_INVALID: a setting that the scheme needs is missing, or one that it has no use for is there.
MUST_CHECK enum result sign_profile_compile(const struct provider_conf *conf, struct sign_profile *out_profile,
                                            struct conf_fault *out_fault);

struct sign_request {
  const char *method;
  struct buf *url;   // whole; alipay_rsa2 without a body puts its fields there
  struct buf *body;  // alipay_rsa2 puts its fields there
  bool has_body;
};
// A header to add; values are appended to `text`, where they begin at value_at and end in a NUL.
struct sign_header {
  const char *name;
  size_t value_at;
};

// bearer: `header: Bearer SECRET` (any other header: the secret alone).
// hmac: `header: HEX` of HMAC-SHA256 with the secret over METHOD \n PATH?QUERY \n TIMESTAMP \n BODY (nothing behind the
//   body; the path is the one of the whole URL), and `timestamp_header: TIMESTAMP` in Unix seconds.
// wechatpay_v3: `Authorization: WECHATPAY2-SHA256-RSA2048
// mchid="…",nonce_str="…",signature="…",timestamp="…",serial_no="…"`. alipay_rsa2: the fields sign_type (unless it is
// there) and sign at the end of the form, over all fields that have a
//   value, decoded and sorted by name.
// RESULT_INVALID: no such secret, or a form that cannot be decoded; RESULT_TOO_BIG.
MUST_CHECK enum result provider_sign(struct signature *s, const struct sign_profile *profile,
                                     const struct provider_keys *keys, const struct render_moment *moment,
                                     const struct sign_request *request, struct buf *text,
                                     struct sign_header headers[SIGN_HEADERS_MAX], size_t *out_count);
