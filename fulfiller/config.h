// SPDX-License-Identifier: Apache-2.0
// The fulfiller's configuration: what the daemons share, the HTTP server, and one block per provider.
// Plain data; owned by daemon_main.
#pragma once

#include "common/conf.h"
#include "common/daemon.h"
#include "common/web.h"
#include "fulfiller/action.h"

// One request of a profile. path NULL: the provider does not offer it.
struct request_conf {
  char *method;
  char *path;
  struct conf_pairs headers;
  char *body;
  struct conf_pairs answers;  // "STATUS [POINTER=VALUE]" -> outcome; the first match counts, built-in rules follow
};

// One thing the provider can do, the question what became of it, and (of charges) what ends an order nobody paid.
struct action_conf {
  struct request_conf call, inquire, close;
  bool repeat_is_safe;  // the provider takes each request id once; asked for only where there is no inquiry
};

// How the provider calls back. profile: enum callback_scheme of callback_profile.h.
#define CALLBACK_SECRETS_MAX 16
struct callback_conf {
  int profile;
  struct conf_pairs secrets;  // name -> file
  char *decrypt_key;          // file
  struct span tolerance;
  char *event_id_pointer, *request_id_pointer, *reference_pointer, *occurred_pointer, *amount_pointer;
  int64_t amount_decimals;
  struct conf_pairs require, answers;
};

// How our own requests are signed: see provider_sign.h.
enum sign_scheme { SIGN_NONE, SIGN_BEARER, SIGN_HMAC, SIGN_WECHATPAY_V3, SIGN_ALIPAY_RSA2 };
struct sign_conf {
  int scheme;    // enum sign_scheme
  char *secret;  // a name among provider_conf.secrets
  char *header, *timestamp_header;
  char *mchid, *serial;
};

struct provider_conf {
  char *base_url;
  struct conf_pairs secrets;  // name -> file
  struct sign_conf sign;
  struct conf_texts mask;
  struct action_conf actions[ACTION_COUNT];
  char *request_id_header, *request_id_field;
  int answer_format;  // enum answer_format of outcome.h
  char *reference_pointer, *request_id_pointer, *payment_url_pointer, *code_pointer, *message_pointer;
  struct span total_timeout, connect_timeout;
  int64_t concurrency, prefetch;
  char *rate;  // a number per second, checked by the profile
  int64_t burst;
  struct {
    struct span window;
    int64_t min_calls, failure_ratio;
    struct span open_for, open_max;
    int counts;  // enum breaker_counts of breaker.h
  } breaker;
  struct conf_spans ladder;
  int64_t attempts;
  struct span not_found_after;
  struct span pending_poll, pending_timeout;
  struct span retry_after_max;
  struct callback_conf callback;
};

struct fulfiller_conf {
  struct daemon_conf daemon;  // first: daemon_main reads it
  struct web_conf web;
  struct conf_map providers;
  struct conf_map webhooks;  // struct webhook_conf of webhook_config.h
  struct span webhook_retention;
  struct span figures_every;
};

const struct conf_table *fulfiller_conf_table(void);
const struct conf_table *fulfiller_provider_table(void);  // of one block of providers
const struct conf_table *fulfiller_webhook_table(void);   // of one endpoint of webhooks
