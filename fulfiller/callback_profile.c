// SPDX-License-Identifier: Apache-2.0
// Compiling what the configuration says about a provider's callbacks; what it leaves out, the profile knows.
// Pure; any thread.
#include "fulfiller/callback_profile.h"

#include <stdio.h>
#include <string.h>

#include "common/contract.h"

#define FAIL(fault, ...) (snprintf((fault)->text, sizeof(fault)->text, __VA_ARGS__), RESULT_INVALID)

struct built_in_rule {
  const char *when, *outcome;
};
struct scheme {
  struct callback_pointers event_id, request_id, reference, occurred, amount;
  int amount_decimals;
  const struct built_in_rule *rules;
  size_t rule_count;
};

#define POINTERS(...)                                                                              \
  {                                                                                                \
    .items = {__VA_ARGS__}, .count = sizeof((const char *[]){__VA_ARGS__}) / sizeof(const char *), \
  }
#define RULES(list) .rules = (list), .rule_count = ARRAY_LEN(list)

static const struct built_in_rule standard_rules[] = {
    {"/status=SUCCESS", "done"}, {"/status=FAILED", "refused"}, {"/status=PENDING", "pending"}};
// A failed attempt to pay is not the end of a payment intent: the person may try again.
static const struct built_in_rule stripe_rules[] = {{"/type=payment_intent.succeeded", "done"},
                                                    {"/type=payment_intent.canceled", "refused"},
                                                    {"/type=payment_intent.processing", "pending"},
                                                    {"/type=payout.paid", "done"},
                                                    {"/type=payout.failed", "refused"},
                                                    {"/type=payout.canceled", "refused"}};
static const struct built_in_rule wechat_rules[] = {
    {"/resource/refund_status=SUCCESS", "done"},     {"/resource/refund_status=CLOSED", "refused"},
    {"/resource/refund_status=ABNORMAL", "refused"}, {"/resource/trade_state=SUCCESS", "done"},
    {"/resource/trade_state=CLOSED", "refused"},     {"/resource/trade_state=REVOKED", "refused"},
    {"/resource/trade_state=PAYERROR", "refused"},   {"/resource/trade_state=NOTPAY", "pending"},
    {"/resource/trade_state=USERPAYING", "pending"}};
static const struct built_in_rule alipay_rules[] = {{"/trade_status=TRADE_SUCCESS", "done"},
                                                    {"/trade_status=TRADE_FINISHED", "done"},
                                                    {"/trade_status=TRADE_CLOSED", "refused"},
                                                    {"/trade_status=WAIT_BUYER_PAY", "pending"}};

// The id of a Standard Webhook is its signed header.
static const struct scheme schemes[] = {
    [CALLBACK_NONE] = {.amount_decimals = 0},
    [CALLBACK_STANDARD_WEBHOOKS] = {.request_id = POINTERS("/requestId"),
                                    .reference = POINTERS("/ref"),
                                    .occurred = POINTERS("/occurredAt"),
                                    RULES(standard_rules)},
    [CALLBACK_STRIPE] = {.event_id = POINTERS("/id"),
                         .request_id = POINTERS("/data/object/metadata/request_id"),
                         .reference = POINTERS("/data/object/id"),
                         .occurred = POINTERS("/created"),
                         .amount = POINTERS("/data/object/amount"),
                         RULES(stripe_rules)},
    // News of a refund names the payment too: its own number goes first.
    [CALLBACK_WECHATPAY_V3] = {.event_id = POINTERS("/id"),
                               .request_id = POINTERS("/resource/out_refund_no", "/resource/out_trade_no"),
                               .reference = POINTERS("/resource/refund_id", "/resource/transaction_id"),
                               .occurred = POINTERS("/create_time"),
                               .amount = POINTERS("/resource/amount/refund", "/resource/amount/total"),
                               RULES(wechat_rules)},
    // notify_time is that of the sending: an old notice sent again would look new.
    [CALLBACK_ALIPAY] = {.event_id = POINTERS("/notify_id"),
                         .request_id = POINTERS("/out_trade_no"),
                         .reference = POINTERS("/trade_no"),
                         .occurred = POINTERS("/gmt_close", "/gmt_payment", "/notify_time"),
                         .amount = POINTERS("/total_amount"),
                         .amount_decimals = 2,
                         RULES(alipay_rules)},
};

const char *callback_outcome_name(enum callback_outcome o)
{
  static const char *const names[] = {
#define X(name, text) [name] = (text),
      CALLBACK_OUTCOME_LIST(X)
#undef X
  };
  REQUIRE((size_t)o < ARRAY_LEN(names));
  return names[o];
}

static bool outcome_from(const char *text, enum callback_outcome *out)
{
  for (int i = 0; i < CALLBACK_OUTCOME_COUNT; i++) {
    if (strcmp(text, callback_outcome_name((enum callback_outcome)i)) != 0) continue;
    *out = (enum callback_outcome)i;
    return true;
  }
  return false;
}

// "POINTER=VALUE"
static enum result add_rule(struct callback_profile *p, const char *when, const char *outcome, struct conf_fault *fault)
{
  const char *equals = strchr(when, '=');
  if (when[0] != '/' || equals == NULL)
    return FAIL(fault, "callback.answers: '%.80s' must be POINTER=VALUE, the pointer beginning with /", when);
  if (p->rule_count == CALLBACK_RULES_MAX)
    return FAIL(fault, "callback.answers: more than %d rules with the built-in ones", CALLBACK_RULES_MAX);
  struct callback_rule rule = {.pointer = when, .pointer_len = (size_t)(equals - when), .value = equals + 1};
  if (!outcome_from(outcome, &rule.outcome))
    return FAIL(fault, "callback.answers: '%.40s' must be done, refused, pending or ignored", outcome);
  for (size_t i = 0; i < p->rule_count; i++) {
    const struct callback_rule *earlier = &p->rules[i];
    if (earlier->pointer_len == rule.pointer_len && strcmp(earlier->value, rule.value) == 0 &&
        memcmp(earlier->pointer, rule.pointer, rule.pointer_len) == 0)
      return FAIL(fault, "callback.answers: '%.80s' stands there twice", when);
  }
  p->rules[p->rule_count++] = rule;
  return RESULT_OK;
}

// A built-in rule that the configuration has replaced is left out.
static enum result add_rules(const struct callback_conf *conf, const struct scheme *scheme, struct callback_profile *p,
                             struct conf_fault *fault)
{
  enum result result = RESULT_OK;
  for (size_t i = 0; result == RESULT_OK && i < conf->answers.count; i++) {
    result = add_rule(p, conf->answers.items[i].name, conf->answers.items[i].value, fault);
    if (result != RESULT_OK) fault->line = conf_pair_line(&conf->answers, i);
  }
  for (size_t i = 0; result == RESULT_OK && i < scheme->rule_count; i++) {
    struct conf_fault replaced;
    if (p->rule_count == CALLBACK_RULES_MAX) break;
    if (add_rule(p, scheme->rules[i].when, scheme->rules[i].outcome, &replaced) != RESULT_OK) continue;
  }
  return result;
}

// NULL: what the profile knows; "": none.
static enum result set_pointers(const char *key, const char *own, const struct callback_pointers *built_in,
                                struct callback_pointers *out, struct conf_fault *fault)
{
  *out = own == NULL ? *built_in : (struct callback_pointers){.items = {own}, .count = own[0] == '\0' ? 0 : 1};
  if (own != NULL && own[0] != '\0' && own[0] != '/')
    return FAIL(fault, "callback.%s: a JSON pointer begins with /", key);
  return RESULT_OK;
}

static enum result check_secrets(const struct callback_conf *conf, struct conf_fault *fault)
{
  if (conf->secrets.count == 0) return FAIL(fault, "callback.secrets: is missing: unsigned callbacks are not taken");
  if (conf->secrets.count > CALLBACK_SECRETS_MAX)
    return FAIL(fault, "callback.secrets: more than %d", CALLBACK_SECRETS_MAX);
  for (size_t i = 0; i < conf->require.count; i++) {
    if (conf->require.items[i].name[0] == '/') continue;
    fault->line = conf_pair_line(&conf->require, i);
    return FAIL(fault, "callback.require: '%.80s': a JSON pointer begins with /", conf->require.items[i].name);
  }
  if (conf->profile == CALLBACK_WECHATPAY_V3 && conf->decrypt_key[0] == '\0')
    return FAIL(fault, "callback.decrypt_key: is missing");
  if (conf->profile != CALLBACK_WECHATPAY_V3 && conf->decrypt_key[0] != '\0')
    return FAIL(fault, "callback.decrypt_key: only callbacks of wechatpay_v3 are encrypted");
  return RESULT_OK;
}

static enum result set_all_pointers(const struct callback_conf *conf, const struct scheme *scheme,
                                    struct callback_profile *p, struct conf_fault *fault)
{
  enum result result;
  TRY(set_pointers("event_id_pointer", conf->event_id_pointer, &scheme->event_id, &p->event_id, fault));
  TRY(set_pointers("request_id_pointer", conf->request_id_pointer, &scheme->request_id, &p->request_id, fault));
  TRY(set_pointers("reference_pointer", conf->reference_pointer, &scheme->reference, &p->reference, fault));
  TRY(set_pointers("occurred_pointer", conf->occurred_pointer, &scheme->occurred, &p->occurred, fault));
  TRY(set_pointers("amount_pointer", conf->amount_pointer, &scheme->amount, &p->amount, fault));
  if (p->request_id.count == 0) result = FAIL(fault, "callback.request_id_pointer: is missing");
cleanup:
  return result;
}

enum result callback_profile_compile(const struct provider_conf *conf, struct callback_profile *out_profile,
                                     struct conf_fault *out_fault)
{
  enum result result;
  const struct callback_conf *c = &conf->callback;
  const struct scheme *scheme = &schemes[c->profile];
  struct callback_profile p = {
      .scheme = (enum callback_scheme)c->profile,
      .tolerance = c->tolerance,
      .code_pointer = conf->code_pointer,
      .message_pointer = conf->message_pointer,
      .mask = &conf->mask,
      .amount_decimals = c->amount_decimals < 0 ? scheme->amount_decimals : (int)c->amount_decimals,
      .needs_amount = c->amount_pointer != NULL && c->amount_pointer[0] != '\0',
      .require = &c->require};
  result = RESULT_OK;
  if (p.scheme != CALLBACK_NONE) {
    TRY(check_secrets(c, out_fault));
    TRY(set_all_pointers(c, scheme, &p, out_fault));
    TRY(add_rules(c, scheme, &p, out_fault));
  }
  *out_profile = p;
cleanup:
  return result;
}
