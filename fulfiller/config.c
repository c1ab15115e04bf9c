// SPDX-License-Identifier: Apache-2.0
// The table of the fulfiller's configuration keys.
// Pure; any thread.
#include "fulfiller/config.h"

#include "fulfiller/webhook_config.h"

#define SECOND 1000000LL
#define MINUTE (60 * SECOND)
#define DAY    (24 * 60 * MINUTE)

#define FIELD(member) offsetof(struct provider_conf, member)
#define REQUEST_KEYS(name, request, default_method, what)                                                           \
  {name ".method",                                                                                                  \
   CONF_TEXT,                                                                                                       \
   FIELD(request.method),                                                                                           \
   default_method,                                                                                                  \
   0,                                                                                                               \
   16,                                                                                                              \
   0,                                                                                                               \
   NULL,                                                                                                            \
   NULL,                                                                                                            \
   "HTTP method of the request that " what},                                                                        \
      {name ".path",                                                                                                \
       CONF_TEXT,                                                                                                   \
       FIELD(request.path),                                                                                         \
       NULL,                                                                                                        \
       0,                                                                                                           \
       1024,                                                                                                        \
       0,                                                                                                           \
       NULL,                                                                                                        \
       NULL,                                                                                                        \
       "path and query template, appended to base_url; left out: the provider has no such request"},                \
      {name ".headers", CONF_PAIRS, FIELD(request.headers), NULL, 0, 0, 0, NULL, NULL, "headers, each a template"}, \
      {name ".body",                                                                                                \
       CONF_TEXT,                                                                                                   \
       FIELD(request.body),                                                                                         \
       NULL,                                                                                                        \
       0,                                                                                                           \
       16384,                                                                                                       \
       0,                                                                                                           \
       NULL,                                                                                                        \
       NULL,                                                                                                        \
       "body template: JSON when it begins with { or [, else a form"},                                              \
  {                                                                                                                 \
    name ".answers", CONF_PAIRS, FIELD(request.answers), NULL, 0, 0, 0, NULL, NULL,                                 \
        "rules `STATUS [POINTER=VALUE]: outcome`, the first match counts; built-in rules follow"                    \
  }

// clang-format off
#define REPEAT_KEY(name, action) \
  {name, CONF_BOOL, FIELD(actions[action].repeat_is_safe), "false", 0, 0, 0, NULL, NULL, "the provider takes each request id once; asked for only where there is no inquiry"}

static const struct conf_key provider_keys[] = {
    {"base_url", CONF_TEXT, FIELD(base_url), NULL, 0, 1024, CONF_REQUIRED, NULL, NULL, "http or https address that paths are appended to"},
    REQUEST_KEYS("deliver", actions[ACTION_DELIVER].call, "POST", "delivers a reward"),
    REQUEST_KEYS("inquire", actions[ACTION_DELIVER].inquire, "GET", "asks what became of a delivery"),
    REQUEST_KEYS("charge", actions[ACTION_CHARGE].call, "POST", "takes the price from the user"),
    REQUEST_KEYS("inquire_charge", actions[ACTION_CHARGE].inquire, "GET", "asks what became of a charge"),
    REPEAT_KEY("charge.repeat_is_safe", ACTION_CHARGE),
    REQUEST_KEYS("close", actions[ACTION_CHARGE].close, "POST", "ends an order that was not paid, once what was kept for it has been given back"),
    REQUEST_KEYS("refund", actions[ACTION_REFUND].call, "POST", "gives the price back"),
    REQUEST_KEYS("inquire_refund", actions[ACTION_REFUND].inquire, "GET", "asks what became of a refund"),
    REPEAT_KEY("refund.repeat_is_safe", ACTION_REFUND),
    REQUEST_KEYS("reverse", actions[ACTION_REVERSE].call, "POST", "takes a delivered reward back"),
    REQUEST_KEYS("inquire_reverse", actions[ACTION_REVERSE].inquire, "GET", "asks what became of a reversal"),
    REPEAT_KEY("reverse.repeat_is_safe", ACTION_REVERSE),
    {"secrets", CONF_PAIRS, FIELD(secrets), NULL, 0, 0, CONF_RELOADABLE, NULL, NULL, "name: file of each credential, for ${secret.NAME} in headers and bodies and for sign.secret; read at start and on SIGHUP"},
    {"sign.scheme", CONF_CHOICE, FIELD(sign.scheme), "none", 0, 0, 0, "none|bearer|hmac|wechatpay_v3|alipay_rsa2", NULL, "how our requests are signed; the bytes are told in fulfiller/README.md"},
    {"sign.secret", CONF_TEXT, FIELD(sign.secret), NULL, 0, 128, 0, NULL, NULL, "name among secrets: the bearer key, the HMAC key, or the private RSA key in PEM"},
    {"sign.header", CONF_TEXT, FIELD(sign.header), NULL, 0, 128, 0, NULL, NULL, "header of the key (bearer: Authorization) or of the signature (hmac: X-Signature)"},
    {"sign.timestamp_header", CONF_TEXT, FIELD(sign.timestamp_header), NULL, 0, 128, 0, NULL, NULL, "hmac: header of the signed Unix time (X-Timestamp)"},
    {"sign.mchid", CONF_TEXT, FIELD(sign.mchid), NULL, 0, 64, 0, NULL, NULL, "wechatpay_v3: the merchant's number"},
    {"sign.serial", CONF_TEXT, FIELD(sign.serial), NULL, 0, 128, 0, NULL, NULL, "wechatpay_v3: serial number of the merchant's certificate"},
    {"mask", CONF_TEXTS, FIELD(mask), NULL, 0, 128, 0, NULL, NULL, "further members and fields to mask in recorded requests and answers"},
    {"request_id_header", CONF_TEXT, FIELD(request_id_header), "", 0, 128, 0, NULL, NULL, "header that carries the request id"},
    {"request_id_field", CONF_TEXT, FIELD(request_id_field), "", 0, 128, 0, NULL, NULL, "member of the JSON or form body that carries the request id, added in front"},
    {"answer_format", CONF_CHOICE, FIELD(answer_format), "json", 0, 0, 0, "json|any", NULL, "json: a successful answer that is not valid JSON counts as unknown; any: bodies are not judged"},
    {"reference_pointer", CONF_TEXT, FIELD(reference_pointer), "/ref", 0, 256, 0, NULL, NULL, "JSON pointer to the provider's reference in an answer"},
    {"payment_url_pointer", CONF_TEXT, FIELD(payment_url_pointer), "/url", 0, 256, 0, NULL, NULL, "JSON pointer to the address where the person pays, in an answer to a charge that is pending"},
    {"request_id_pointer", CONF_TEXT, FIELD(request_id_pointer), "", 0, 256, 0, NULL, NULL, "JSON pointer to our request id in an answer; an answer about another one proves nothing; empty: answers do not name it"},
    {"code_pointer", CONF_TEXT, FIELD(code_pointer), "/code", 0, 256, 0, NULL, NULL, "JSON pointer to the code of a failure"},
    {"message_pointer", CONF_TEXT, FIELD(message_pointer), "/message", 0, 256, 0, NULL, NULL, "JSON pointer to the text of a failure"},
    {"total_timeout", CONF_SPAN, FIELD(total_timeout), "10s", 100000, 10 * MINUTE, 0, NULL, NULL, "a call is given up after this; its outcome is then unknown"},
    {"connect_timeout", CONF_SPAN, FIELD(connect_timeout), "3s", 10000, MINUTE, 0, NULL, NULL, "no connection after this: the call was never sent"},
    {"concurrency", CONF_INT, FIELD(concurrency), "64", 1, 4096, 0, NULL, NULL, "claims being worked on at a time, over all fulfillers, which share it equally"},
    {"rate", CONF_TEXT, FIELD(rate), "0", 0, 32, 0, NULL, NULL, "claims begun per second, over all fulfillers, from 0.01 to 1000000; 0: as many as there are"},
    {"burst", CONF_INT, FIELD(burst), "0", 0, 1000000, 0, NULL, NULL, "with a rate: claims that may begin at once after a quiet time; 0: a tenth of a second's worth and one"},
    {"breaker.window", CONF_SPAN, FIELD(breaker.window), "10s", 100000, 10 * MINUTE, 0, NULL, NULL, "calls of this time are looked at"},
    {"breaker.counts", CONF_CHOICE, FIELD(breaker.counts), "5xx", 0, 0, 0, "5xx|gateway|no_answer", NULL, "failed are calls without an answer, and with 5xx; gateway: only 502, 503 and 504 of them; no_answer: no status at all"},
    {"breaker.min_calls", CONF_INT, FIELD(breaker.min_calls), "20", 1, 1000000, 0, NULL, NULL, "fewer calls than this within the window prove nothing"},
    {"breaker.failure_ratio", CONF_INT, FIELD(breaker.failure_ratio), "50", 0, 100, 0, NULL, NULL, "percentage of failed calls at which the breaker opens; 0: it never does"},
    {"breaker.open_for", CONF_SPAN, FIELD(breaker.open_for), "5s", 100000, 60 * MINUTE, 0, NULL, NULL, "claims wait this long before one of them is tried; doubled with each such probe that fails"},
    {"breaker.open_max", CONF_SPAN, FIELD(breaker.open_max), "1m", 100000, DAY, 0, NULL, NULL, "longest time that doubling leads to"},
    {"prefetch", CONF_INT, FIELD(prefetch), "64", 1, 65535, 0, NULL, NULL, "messages of the lane held at a time; a message carries up to 100 claims"},
    {"ladder", CONF_SPANS, FIELD(ladder), "[5s, 30s, 2m, 10m, 1h]", 100000, DAY, 0, NULL, NULL, "delays between attempts, each a queue; the last one repeats"},
    {"attempts", CONF_INT, FIELD(attempts), "8", 1, 1000, 0, NULL, NULL, "attempts before a person must look"},
    REPEAT_KEY("repeat_is_safe", ACTION_DELIVER),
    {"not_found_after", CONF_SPAN, FIELD(not_found_after), "30s", 0, DAY, 0, NULL, NULL, "an inquiry's 'not found' counts when the delivery is this old; at least total_timeout, at most the longest delay of the ladder"},
    {"retry_after_max", CONF_SPAN, FIELD(retry_after_max), "1h", 0, 7 * DAY, 0, NULL, NULL, "an answer's Retry-After counts up to this; 0s: it is not looked at"},
    {"pending_poll", CONF_SPAN, FIELD(pending_poll), "1m", 100000, DAY, 0, NULL, NULL, "pending deliveries are inquired again after this"},
    {"pending_timeout", CONF_SPAN, FIELD(pending_timeout), "1d", 1000000, 90 * DAY, 0, NULL, NULL, "claims of which the provider has been saying 'pending' for this long go to review; a retry begins anew"},
    {"callback.profile", CONF_CHOICE, FIELD(callback.profile), "none", 0, 0, 0, "none|standard_webhooks|stripe|wechatpay_v3|alipay", NULL, "how the provider signs its callbacks to POST /v1/callbacks/NAME; none: it sends none"},
    {"callback.secrets", CONF_PAIRS, FIELD(callback.secrets), NULL, 0, 0, CONF_RELOADABLE, NULL, NULL, "name: file of each secret (public key or certificate for wechatpay_v3, where the name is the serial, and for alipay); several while they rotate"},
    {"callback.decrypt_key", CONF_TEXT, FIELD(callback.decrypt_key), "", 0, 4096, CONF_RELOADABLE, NULL, NULL, "file with the 32 bytes that wechatpay_v3 encrypts with (the APIv3 key)"},
    {"callback.tolerance", CONF_SPAN, FIELD(callback.tolerance), "5m", 1000000, DAY, 0, NULL, NULL, "older or newer timestamps are refused; alipay signs none"},
    {"callback.event_id_pointer", CONF_TEXT, FIELD(callback.event_id_pointer), NULL, 0, 256, 0, NULL, NULL, "JSON pointer to the id that stays the same when a callback is sent again; for standard_webhooks the header webhook-id"},
    {"callback.request_id_pointer", CONF_TEXT, FIELD(callback.request_id_pointer), NULL, 0, 256, 0, NULL, NULL, "JSON pointer to our request id; what is left out is the profile's own; wechatpay_v3: the decrypted text stands at /resource"},
    {"callback.reference_pointer", CONF_TEXT, FIELD(callback.reference_pointer), NULL, 0, 256, 0, NULL, NULL, "JSON pointer to the provider's reference"},
    {"callback.occurred_pointer", CONF_TEXT, FIELD(callback.occurred_pointer), NULL, 0, 256, 0, NULL, NULL, "JSON pointer to the instant of the news (RFC 3339, Unix time, or Beijing time without a zone): older ones change nothing"},
    {"callback.amount_pointer", CONF_TEXT, FIELD(callback.amount_pointer), NULL, 0, 256, 0, NULL, NULL, "JSON pointer to the amount, which must then be there and be the claim's"},
    {"callback.amount_decimals", CONF_INT, FIELD(callback.amount_decimals), "-1", -1, 6, 0, NULL, NULL, "decimal places of the unit that amounts are written in, 0 for minor units; -1: the profile's own (alipay 2, else 0)"},
    {"callback.require", CONF_PAIRS, FIELD(callback.require), NULL, 0, 0, 0, NULL, NULL, "POINTER: VALUE, what must be so, such as our own id at the provider; else the callback is refused"},
    {"callback.answers", CONF_PAIRS, FIELD(callback.answers), NULL, 0, 0, 0, NULL, NULL, "rules `POINTER=VALUE: outcome` (done, refused, pending, ignored), the first match counts; the profile's own follow"},
};
// clang-format on

static const struct conf_table provider_table = {provider_keys, ARRAY_LEN(provider_keys), sizeof(struct provider_conf)};

#define WEBHOOK_AT(member) offsetof(struct webhook_conf, member)

// clang-format off
static const struct conf_key webhook_keys[] = {
    {"url", CONF_TEXT, WEBHOOK_AT(url), NULL, 0, 2048, CONF_REQUIRED | CONF_SENSITIVE, NULL, NULL, "http or https address that is posted to"},
    {"types", CONF_TEXTS, WEBHOOK_AT(types), "[\"claim.*\"]", 0, 0, 0, NULL, NULL, "event types that the endpoint is told, such as claim.succeeded, claim.* or *"},
    {"secrets", CONF_SECRETS, WEBHOOK_AT(secrets), NULL, 0, 0, CONF_RELOADABLE, NULL, NULL, "files with the secrets (whsec_…) that sign; with several, while they rotate, each one signs"},
    {"ladder", CONF_SPANS, WEBHOOK_AT(ladder), "[5s, 5m, 30m, 2h, 5h, 10h, 14h, 20h, 24h]", 10000, 30 * DAY, 0, NULL, NULL, "pauses between attempts, lengthened by up to a tenth; the last one repeats"},
    {"attempts", CONF_INT, WEBHOOK_AT(attempts), "10", 1, 1000, 0, NULL, NULL, "attempts before a delivery is given up; it can be replayed"},
    {"total_timeout", CONF_SPAN, WEBHOOK_AT(total_timeout), "20s", 100000, 10 * MINUTE, 0, NULL, NULL, "a call is given up after this"},
    {"connect_timeout", CONF_SPAN, WEBHOOK_AT(connect_timeout), "5s", 10000, MINUTE, 0, NULL, NULL, "and without a connection after this"},
    {"concurrency", CONF_INT, WEBHOOK_AT(concurrency), "16", 1, 1024, 0, NULL, NULL, "calls at a time, of each fulfiller"},
    {"retry_after_max", CONF_SPAN, WEBHOOK_AT(retry_after_max), "1d", 0, 7 * DAY, 0, NULL, NULL, "an answer's Retry-After counts up to this; 0s: it is not looked at"},
    {"disable_after", CONF_SPAN, WEBHOOK_AT(disable_after), "5d", 1000000, 365 * DAY, 0, NULL, NULL, "an endpoint without a success for so long is disabled"},
    {"allow", CONF_TEXTS, WEBHOOK_AT(allow), NULL, 0, 0, 0, NULL, NULL, "blocks of internal addresses that may be called, such as 10.1.0.0/16; all others are refused after resolution"},
};
// clang-format on
static const struct conf_table webhook_table = {webhook_keys, ARRAY_LEN(webhook_keys), sizeof(struct webhook_conf)};

// clang-format off
static const struct conf_key keys[] = {
    DAEMON_CONF_KEYS(struct fulfiller_conf),
    WEB_CONF_KEYS(struct fulfiller_conf, web, "fulfiller", "127.0.0.1:7402"),
    {"fulfiller.figures_every", CONF_SPAN, offsetof(struct fulfiller_conf, figures_every), "5s", 100000, 10 * MINUTE, CONF_RELOADABLE, NULL, NULL, "how often due claims and open dead letters are counted for the metrics"},
    {"fulfiller.providers", CONF_MAP, offsetof(struct fulfiller_conf, providers), NULL, 0, 0, 0, NULL, &provider_table, "one block per provider"},
    {"fulfiller.webhooks", CONF_MAP, offsetof(struct fulfiller_conf, webhooks), NULL, 0, 0, 0, NULL, &webhook_table, "one block per endpoint that is told by Standard Webhooks"},
    {"fulfiller.webhook_retention", CONF_SPAN, offsetof(struct fulfiller_conf, webhook_retention), "7d", MINUTE, 3650 * DAY, CONF_RELOADABLE, NULL, NULL, "webhook deliveries that ended can be replayed for so long, then they are thrown away"},
    {"scheduler", CONF_OTHER, 0, NULL, 0, 0, 0, NULL, NULL, "read by the scheduler"},
    {"reconciler", CONF_OTHER, 0, NULL, 0, 0, 0, NULL, NULL, "read by the reconciler"},
};
// clang-format on

static const struct conf_table table = {keys, ARRAY_LEN(keys), sizeof(struct fulfiller_conf)};

const struct conf_table *fulfiller_provider_table(void) { return &provider_table; }

const struct conf_table *fulfiller_webhook_table(void) { return &webhook_table; }

const struct conf_table *fulfiller_conf_table(void) { return &table; }
