// SPDX-License-Identifier: Apache-2.0
// How a callback looks: plain with Standard Webhooks headers, or as Stripe, WeChat Pay v3 and Alipay send theirs. Pure
// but for the simulator's keys. Loop thread.
#pragma once

#include "common/buf.h"
#include "common/clk.h"
#include "common/http_client.h"
#include "common/signature.h"
#include "tests/simulator/sim_script.h"

enum sim_profile { SIM_PLAIN, SIM_STRIPE, SIM_WECHATPAY, SIM_ALIPAY, SIM_PROFILE_COUNT };
const char *sim_profile_name(enum sim_profile profile);
bool sim_profile_from(const char *name, enum sim_profile *out_profile);

#define SIM_SERIAL_BYTES 65
// What callbacks are signed with. Without its key a profile sends unsigned ones.
struct sim_keys {
  char *secret;  // plain and stripe
  size_t secret_len;
  struct signature_key *rsa;  // wechatpay and alipay: a private key
  char serial[SIM_SERIAL_BYTES];
  char decrypt_key[SIGNATURE_AES_KEY_BYTES + 1];
};
void sim_keys_release(struct sim_keys *keys);

// What has happened. Texts are borrowed.
struct sim_notice {
  const char *event_id, *request_id;
  const char *order_id;  // of a refund: the request that it takes back; else NULL
  const char *ref, *currency;
  bool failed;
  int64_t amount;  // minor units
  struct wall_time occurred;
};

#define SIM_NOTICE_HEADERS_MAX 5
struct sim_message {
  struct buf body, signature;
  char timestamp[24];
  struct http_header headers[SIM_NOTICE_HEADERS_MAX];
  size_t header_count;
};
void sim_message_init(struct sim_message *m);
void sim_message_release(struct sim_message *m);
// The same notice gives the same body each time but for what says when it is sent.
void sim_message_write(struct sim_message *m, enum sim_profile profile, const struct sim_keys *keys,
                       struct signature *signature, const struct sim_notice *notice, enum sim_sign sign,
                       struct wall_time now);
