// SPDX-License-Identifier: Apache-2.0
// The credentials of one provider, read from their files: what templates put in and what signs our requests. They are
// never printed, logged or recorded. Owner: whoever loaded them; loop thread.
#pragma once

#include "common/conf.h"
#include "common/signature.h"
#include "fulfiller/config.h"
#include "fulfiller/redact.h"

#define PROVIDER_SECRETS_MAX 16

struct provider_secret {
  char *name;
  char *bytes;  // ends in a NUL
  size_t len;
};
struct provider_keys {
  struct provider_secret items[PROVIDER_SECRETS_MAX];
  size_t count;
  struct signature_key *rsa;  // the private key of schemes that have one
};

// Reads every file of `secrets`. Blocking; at start and on SIGHUP only. RESULT_INVALID: out_fault has one line
// "secrets: …" with the file, relative to the block; nothing is to be released then.
MUST_CHECK enum result provider_keys_load(const struct provider_conf *conf, struct provider_keys *out_keys,
                                          struct conf_fault *out_fault);
void provider_keys_release(struct provider_keys *keys);
const struct provider_secret *provider_keys_find(const struct provider_keys *keys, const char *name);  // NULL: none
// Texts that are short enough to stand in a request are masked wherever they are found; PEM is not sent anywhere.
void provider_keys_mask(const struct provider_keys *keys, struct redact *redact);
