// SPDX-License-Identifier: Apache-2.0
// The rules of an activity's document: see activity_rules.h.
// Pure; any thread.
#include "scheduler/activity_rules.h"

#include <stdio.h>
#include <string.h>

#include "common/limits.h"
#include "common/text.h"
#include "scheduler/doc_parts.h"

#define ELIGIBILITY_CHARS_MAX 2000
#define CHANNELS_MAX          64
#define WAITING_MAX           1000000
#define RATE_MAX              1000000
#define SPAN_MAX              span_s(INT64_C(366) * 86400)

// --- members of one kind of value

static void read_bool(struct jsonx_reader *r, json_t *doc, const char *name)
{
  bool value = false;
  if (!jsonx_has(r, name)) return;
  jsonx_read_bool(r, name, true, &value);
  (void)json_object_set_new(doc, name, json_boolean(value));
}

static void read_text(struct jsonx_reader *r, json_t *doc, const char *name, size_t chars_max)
{
  const char *text = jsonx_read_text(r, name, false, chars_max);
  if (text != NULL && text[0] == '\0') jsonx_reader_fail(r, name, "must not be empty");
  doc_parts_put_text(doc, name, text);
}

static void read_choice(struct jsonx_reader *r, json_t *doc, const char *name, const char *const *words,
                        const char *rule)
{
  const char *text = jsonx_read_text(r, name, false, 32);
  if (text == NULL) return;
  while (*words != NULL && strcmp(*words, text) != 0) words++;
  if (*words == NULL) jsonx_reader_fail(r, name, rule);
  doc_parts_put_text(doc, name, text);
}

// In its shortest form, as it will be shown.
static void read_span(struct jsonx_reader *r, json_t *doc, const char *name)
{
  struct span span = {0};
  if (!jsonx_has(r, name)) return;
  jsonx_read_span(r, name, true, &span);
  if (span.us <= 0 || span.us > SPAN_MAX.us) jsonx_reader_fail(r, name, "must be more than 0 and at most 366 days");
  struct buf text;
  buf_init(&text, 64);
  text_from_span(span, &text);
  doc_parts_put_text(doc, name, buf_text(&text));
  buf_release(&text);
}

static void read_count(struct jsonx_reader *r, json_t *doc, const char *name, bool required, int64_t max)
{
  int64_t count = 0;
  if (!required && !jsonx_has(r, name)) return;
  jsonx_read_i64(r, name, true, 1, max, &count);
  (void)json_object_set_new(doc, name, json_integer(count));
}

// --- members with a shape of their own

static bool is_listed(const json_t *list, const char *text)
{
  for (size_t i = 0; i < json_array_size(list); i++)
    if (strcmp(json_string_value(json_array_get(list, i)), text) == 0) return true;
  return false;
}

static const char *channel_fault(const json_t *kept, const json_t *item)
{
  const char *text = json_string_value(item);
  if (text == NULL) return "must be a text";
  size_t chars = text_utf8_length(text, json_string_length(item));
  if (chars == 0 || chars > CHANNEL_CHARS_MAX || strlen(text) != json_string_length(item))
    return "must be 1 to 64 characters";
  return is_listed(kept, text) ? "is named twice" : NULL;
}

static void read_channels(struct jsonx_reader *r, json_t *doc)
{
  const json_t *channels = jsonx_read_array(r, "channels", false);
  if (channels == NULL) return;
  size_t count = json_array_size(channels);
  if (count == 0 || count > CHANNELS_MAX) jsonx_reader_fail(r, "channels", "must name 1 to 64 channels");
  json_t *kept = json_array();
  for (size_t i = 0; i < count && r->fault[0] == '\0'; i++) {
    char path[32];
    (void)snprintf(path, sizeof path, "channels[%zu]", i);
    const char *fault = channel_fault(kept, json_array_get(channels, i));
    if (fault != NULL)
      jsonx_reader_fail(r, path, fault);
    else
      (void)json_array_append(kept, json_array_get(channels, i));
  }
  (void)json_object_set_new(doc, "channels", kept);
}

bool activity_money_read(struct jsonx_reader *r, const json_t *money, const char *path, int64_t least,
                         int64_t *out_amount, const char **out_currency)
{
  struct jsonx_reader m;
  jsonx_reader_init(&m, money, path);
  int64_t amount = 0;
  jsonx_read_i64(&m, "amount", true, least, INT64_MAX, &amount);
  const char *currency = jsonx_read_text(&m, "currency", true, 3);
  if (currency != NULL && (strlen(currency) != 3 || strspn(currency, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != 3))
    jsonx_reader_fail(&m, "currency", "must be a three-letter ISO 4217 code");
  jsonx_reader_join(r, &m);
  if (r->fault[0] != '\0') return false;
  *out_amount = amount;
  *out_currency = currency;
  return true;
}

// One unit's; what a claim pays is at most this times the largest quantity.
static void read_price(struct jsonx_reader *r, json_t *doc)
{
  int64_t amount = 0;
  const char *currency = NULL;
  const json_t *price = jsonx_read_object(r, "price", false);
  if (price == NULL || !activity_money_read(r, price, "price", 1, &amount, &currency)) return;
  if (amount > PRICE_MAX) jsonx_reader_fail(r, "price", "is more than 1000000000000");
  json_t *kept = json_object();
  (void)json_object_set_new(kept, "amount", json_integer(amount));
  doc_parts_put_text(kept, "currency", currency);
  (void)json_object_set_new(doc, "price", kept);
}

static void read_waiting_list(struct jsonx_reader *r, json_t *doc)
{
  const json_t *list = jsonx_read_object(r, "waitingList", false);
  if (list == NULL) return;
  struct jsonx_reader w;
  json_t *kept = json_object();
  jsonx_reader_init(&w, list, "waitingList");
  read_count(&w, kept, "max", true, WAITING_MAX);
  read_span(&w, kept, "acceptWithin");
  jsonx_reader_join(r, &w);
  (void)json_object_set_new(doc, "waitingList", kept);
}

static void read_bucket(struct jsonx_reader *r, json_t *kept, const char *name, const char *path)
{
  const json_t *bucket = jsonx_read_object(r, name, false);
  if (bucket == NULL) return;
  struct jsonx_reader b;
  json_t *terms = json_object();
  jsonx_reader_init(&b, bucket, path);
  read_count(&b, terms, "rate", true, RATE_MAX);
  read_count(&b, terms, "burst", true, RATE_MAX);
  jsonx_reader_join(r, &b);
  (void)json_object_set_new(kept, name, terms);
}

static void read_rate_limit(struct jsonx_reader *r, json_t *doc)
{
  const json_t *limit = jsonx_read_object(r, "rateLimit", false);
  if (limit == NULL) return;
  struct jsonx_reader l;
  json_t *kept = json_object();
  jsonx_reader_init(&l, limit, "rateLimit");
  read_bucket(&l, kept, "perUser", "rateLimit.perUser");
  read_bucket(&l, kept, "total", "rateLimit.total");
  jsonx_reader_join(r, &l);
  if (json_object_size(kept) == 0) jsonx_reader_fail(r, "rateLimit", "must have perUser, total or both");
  (void)json_object_set_new(doc, "rateLimit", kept);
}

void activity_rules_read(struct jsonx_reader *r, json_t *doc)
{
  static const char *const late[] = {"reallocate", "refund", "review", NULL};
  static const char *const refused[] = {"fail", "review", NULL};
  static const char *const intake[] = {"direct", "queued", NULL};
  read_bool(r, doc, "needsQualification");
  read_text(r, doc, "eligibility", ELIGIBILITY_CHARS_MAX);
  read_channels(r, doc);
  read_text(r, doc, "exclusiveGroup", NAME_CHARS_MAX);
  read_count(r, doc, "pointsCost", false, POINTS_MAX);
  read_price(r, doc);
  read_text(r, doc, "paymentProvider", NAME_CHARS_MAX);
  read_span(r, doc, "holdFor");
  read_choice(r, doc, "latePayment", late, "must be reallocate, refund or review");
  read_choice(r, doc, "onRefused", refused, "must be fail or review");
  read_bool(r, doc, "signUpAgain");
  read_waiting_list(r, doc);
  read_rate_limit(r, doc);
  read_choice(r, doc, "intake", intake, "must be direct or queued");
}

// --- what goes together

static void check_kind(struct jsonx_reader *r, const json_t *doc, const char *kind)
{
  static const struct {
    const char *member, *kind, *rule;
  } only[] = {
      {"pointsCost", "exchange", "goes with kind exchange only"},
      {"price", "number", "goes with kind number only"},
      {"paymentProvider", "number", "goes with kind number only"},
      {"holdFor", "number", "goes with kind number only"},
      {"latePayment", "number", "goes with kind number only"},
      {"signUpAgain", "registration", "goes with kind registration only"},
      {"waitingList", "registration", "goes with kind registration only"},
  };
  for (size_t i = 0; i < ARRAY_LEN(only); i++)
    if (json_object_get(doc, only[i].member) != NULL && strcmp(kind, only[i].kind) != 0)
      jsonx_reader_fail(r, only[i].member, only[i].rule);
  static const struct {
    const char *kind, *member;
  } needed[] = {{"reward", "rewardCode"}, {"exchange", "rewardCode"}, {"exchange", "pointsCost"}};
  for (size_t i = 0; i < ARRAY_LEN(needed); i++)
    if (strcmp(kind, needed[i].kind) == 0 && json_object_get(doc, needed[i].member) == NULL)
      jsonx_reader_fail(r, needed[i].member, "is missing");
}

static void check_stock(struct jsonx_reader *r, const json_t *doc, const char *kind)
{
  const json_t *stock = json_object_get(doc, "stock"), *list = json_object_get(doc, "waitingList");
  bool is_split = json_object_get(stock, "segments") != NULL;
  if (stock == NULL && strcmp(kind, "number") != 0) jsonx_reader_fail(r, "stock", "is missing");
  if (is_split && strcmp(kind, "number") == 0) jsonx_reader_fail(r, "stock.segments", "must be 1 for numbers");
  if (is_split && list != NULL) jsonx_reader_fail(r, "stock.segments", "must be 1 where there is a waiting list");
  if (list != NULL && json_is_null(json_object_get(stock, "total")))
    jsonx_reader_fail(r, "waitingList", "goes with limited stock only");
}

static void check_event_limit(struct jsonx_reader *r, const json_t *doc)
{
  const json_t *limits = json_object_get(doc, "limits");
  for (size_t i = 0; i < json_array_size(limits); i++) {
    char path[48];
    const char *period = json_string_value(json_object_get(json_array_get(limits, i), "period"));
    if (period == NULL || strcmp(period, "event") != 0 || json_object_get(doc, "eventCode") != NULL) continue;
    (void)snprintf(path, sizeof path, "limits[%zu].period", i);
    jsonx_reader_fail(r, path, "event needs eventCode");
  }
}

void activity_rules_check(struct jsonx_reader *r, const json_t *doc)
{
  const char *kind = json_string_value(json_object_get(doc, "kind"));
  if (kind == NULL) return;
  bool is_priced = json_object_get(doc, "price") != NULL, is_paid = json_object_get(doc, "paymentProvider") != NULL;
  check_kind(r, doc, kind);
  if (is_priced && !is_paid) jsonx_reader_fail(r, "paymentProvider", "is missing: a price has to be paid somewhere");
  if (is_paid && !is_priced) jsonx_reader_fail(r, "price", "is missing: there is nothing to be paid");
  check_stock(r, doc, kind);
  check_event_limit(r, doc);
}
