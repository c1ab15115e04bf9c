// SPDX-License-Identifier: Apache-2.0
// The secrets by which callbacks of one provider are verified, read from their files. Several are in force while they
// rotate. Owner: whoever loaded them; loop thread.
#pragma once

#include "common/signature.h"
#include "fulfiller/callback_profile.h"

struct callback_key {
  char *name;                 // wechatpay_v3: the serial
  struct signature_key *rsa;  // wechatpay_v3 and alipay
};
struct callback_keys {
  struct callback_key items[CALLBACK_SECRETS_MAX];
  struct signature_secret secrets[CALLBACK_SECRETS_MAX];  // the others; in the same order
  size_t count;
  uint8_t decrypt_key[SIGNATURE_AES_KEY_BYTES];  // wechatpay_v3
};

// RESULT_INVALID: out_fault has one line "callback.secrets: …" with the file, relative to the block; nothing is to be
// released then.
MUST_CHECK enum result callback_keys_load(const struct callback_conf *conf, struct callback_keys *out_keys,
                                          struct conf_fault *out_fault);
void callback_keys_release(struct callback_keys *keys);
// Compiles the callbacks of every provider of a configuration, reads their files, and forgets it all again. file may be
// NULL.
MUST_CHECK enum result callback_check_all(const struct fulfiller_conf *conf, const char *file, bool reads_files,
                                          struct conf_fault *out_fault);
