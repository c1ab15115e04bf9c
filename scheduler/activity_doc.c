// SPDX-License-Identifier: Apache-2.0
// Checks the shape of activities and rewards, wherever they come from.
// Owner: nobody; pure.
#include "scheduler/activity_doc.h"

#include <stdio.h>
#include <string.h>

#include "common/limits.h"
#include "common/text.h"
#include "scheduler/activity_rules.h"
#include "scheduler/doc_parts.h"

#define VENUE_CHARS_MAX 256
#define ZONE_CHARS_MAX  64
#define LIMITS_MAX      5
#define SEGMENTS_MAX    64

static bool is_one_of(const char *text, const char *const *words, size_t count)
{
  for (size_t i = 0; i < count; i++) {
    if (strcmp(text, words[i]) == 0) return true;
  }
  return false;
}

static void read_kind(struct jsonx_reader *r, json_t *doc)
{
  const char *kind = jsonx_read_text(r, "kind", true, 32);
  if (kind == NULL) return;
  static const char *const kinds[] = {"reward", "registration", "number", "exchange"};
  if (!is_one_of(kind, kinds, ARRAY_LEN(kinds)))
    jsonx_reader_fail(r, "kind", "must be reward, registration, number or exchange");
  doc_parts_put_text(doc, "kind", kind);
}

static void read_window(struct jsonx_reader *r, json_t *doc)
{
  struct wall_time start = {0}, end = {0};
  char text[TEXT_TIME_BYTES];
  jsonx_read_time(r, "startAt", true, &start);
  jsonx_read_time(r, "endAt", true, &end);
  if (r->fault[0] == '\0' && end.us <= start.us) jsonx_reader_fail(r, "endAt", "must be after startAt");
  text_from_time(start, text);
  doc_parts_put_text(doc, "startAt", text);
  text_from_time(end, text);
  doc_parts_put_text(doc, "endAt", text);
}

static void read_total(struct jsonx_reader *s, const json_t *stock, json_t *kept)
{
  int64_t units = 0;
  if (json_is_null(json_object_get(stock, "total"))) {
    (void)jsonx_has(s, "total");
    (void)json_object_set_new(kept, "total", json_null());
    return;
  }
  jsonx_read_i64(s, "total", true, 0, STOCK_UNITS_MAX, &units);
  (void)json_object_set_new(kept, "total", json_integer(units));
}

// Numbers without a total are their own stock: there both may be left out.
static void read_stock(struct jsonx_reader *r, json_t *doc, bool is_of_numbers)
{
  const json_t *stock = jsonx_read_object(r, "stock", false);
  if (stock == NULL) return;
  struct jsonx_reader s;
  jsonx_reader_init(&s, stock, "stock");
  json_t *kept = json_object();
  int64_t segments = 1;
  if (is_of_numbers && json_object_get(stock, "total") == NULL)
    (void)json_object_set_new(kept, "total", json_null());
  else
    read_total(&s, stock, kept);
  jsonx_read_i64(&s, "segments", false, 1, SEGMENTS_MAX, &segments);
  if (segments > 1) (void)json_object_set_new(kept, "segments", json_integer(segments));
  jsonx_reader_join(r, &s);
  (void)json_object_set_new(doc, "stock", kept);
}

static void read_limit(struct jsonx_reader *r, const json_t *item, size_t index, json_t *kept)
{
  char path[32];
  (void)snprintf(path, sizeof path, "limits[%zu]", index);
  if (!json_is_object(item)) {
    jsonx_reader_fail(r, path, "must be an object");
    return;
  }
  struct jsonx_reader l;
  jsonx_reader_init(&l, item, path);
  int64_t count = 0;
  jsonx_read_i64(&l, "count", true, 1, INT32_MAX, &count);
  const char *period = jsonx_read_text(&l, "period", true, 16);
  static const char *const periods[] = {"total", "day", "week", "month", "event"};
  if (period != NULL && !is_one_of(period, periods, ARRAY_LEN(periods)))
    jsonx_reader_fail(&l, "period", "must be total, day, week, month or event");
  jsonx_reader_join(r, &l);
  json_t *limit = json_object();
  (void)json_object_set_new(limit, "count", json_integer(count));
  doc_parts_put_text(limit, "period", period);
  (void)json_array_append_new(kept, limit);
}

static void read_limits(struct jsonx_reader *r, json_t *doc)
{
  const json_t *limits = jsonx_read_array(r, "limits", false);
  if (limits == NULL) return;
  if (json_array_size(limits) > LIMITS_MAX) {
    jsonx_reader_fail(r, "limits", "at most one of each period");
    return;
  }
  json_t *kept = json_array();
  for (size_t i = 0; i < json_array_size(limits); i++) read_limit(r, json_array_get(limits, i), i, kept);
  (void)json_object_set_new(doc, "limits", kept);
}

// What GET shows beside the configuration may be put back with it. The status only as it is, which activity_put sees
// to: nobody shall think that putting it moves anything.
static void read_shown(struct jsonx_reader *r, json_t *doc)
{
  static const char *const statuses[] = {"draft", "published", "ongoing", "paused", "finished", "archived"};
  const char *status = jsonx_read_text(r, "status", false, 16);
  if (status != NULL && !is_one_of(status, statuses, ARRAY_LEN(statuses)))
    jsonx_reader_fail(r, "status", "must be draft, published, ongoing, paused, finished or archived");
  doc_parts_put_text(doc, "status", status);
  (void)jsonx_has(r, "serverTime");
  (void)jsonx_has(r, "availability");
}

enum result activity_doc_check(const json_t *body, const char *path_code, json_t **out_doc,
                               char out_fault[JSONX_WHY_BYTES])
{
  struct jsonx_reader r;
  json_t *doc = json_object();
  jsonx_reader_init(&r, body, "");
  doc_parts_put_text(doc, "code", doc_parts_read_own_code(&r, "code", path_code));
  doc_parts_put_text(doc, "name", jsonx_read_text(&r, "name", true, NAME_CHARS_MAX));
  read_kind(&r, doc);
  read_window(&r, doc);
  doc_parts_put_text(doc, "timeZone", jsonx_read_text(&r, "timeZone", true, ZONE_CHARS_MAX));
  doc_parts_put_text(doc, "eventCode", doc_parts_read_code(&r, "eventCode", false));
  doc_parts_put_text(doc, "venue", jsonx_read_text(&r, "venue", false, VENUE_CHARS_MAX));
  const json_t *attributes = jsonx_read_object(&r, "attributes", false);
  if (attributes != NULL) (void)json_object_set_new(doc, "attributes", json_deep_copy(attributes));
  doc_parts_put_text(doc, "rewardCode", doc_parts_read_code(&r, "rewardCode", false));
  const char *kind = json_string_value(json_object_get(doc, "kind"));
  read_stock(&r, doc, kind != NULL && strcmp(kind, "number") == 0);
  read_limits(&r, doc);
  activity_rules_read(&r, doc);
  read_shown(&r, doc);
  activity_rules_check(&r, doc);
  return doc_parts_finish(&r, doc, out_doc, out_fault);
}

static bool is_named(const char *name, const struct conf_texts *names)
{
  return is_one_of(name, (const char *const *)names->items, names->count);
}

enum result activity_doc_check_provider(const json_t *doc, const struct conf_texts *known,
                                        const struct conf_texts *charging, char out_fault[JSONX_WHY_BYTES])
{
  const char *provider = json_string_value(json_object_get(doc, "paymentProvider"));
  if (provider == NULL || known->count == 0 || is_named(provider, charging)) return RESULT_OK;
  (void)snprintf(out_fault, JSONX_WHY_BYTES, "paymentProvider: %s",
                 is_named(provider, known) ? "takes no payments: it has no charge under fulfiller.providers"
                                           : "is not configured under fulfiller.providers");
  return RESULT_INVALID;
}

enum result reward_doc_check(const json_t *body, const char *path_code, char *const *providers, size_t provider_count,
                             struct reward_terms *out_terms, char out_fault[JSONX_WHY_BYTES])
{
  struct jsonx_reader r;
  struct reward_terms terms = {0};
  jsonx_reader_init(&r, body, "");
  terms.code = doc_parts_read_own_code(&r, "code", path_code);
  terms.provider = jsonx_read_text(&r, "provider", true, CODE_BYTES_MAX);
  if (terms.provider != NULL && provider_count > 0 &&
      !is_one_of(terms.provider, (const char *const *)providers, provider_count)) {
    jsonx_reader_fail(&r, "provider", "is not configured under fulfiller.providers");
  }
  const json_t *money = jsonx_read_object(&r, "amount", false);
  terms.has_amount = money != NULL && activity_money_read(&r, money, "amount", 0, &terms.amount, &terms.currency);
  terms.params = jsonx_read_object(&r, "params", false);
  enum result result = jsonx_reader_finish(&r);
  if (result == RESULT_OK) {
    *out_terms = terms;
  } else {
    memcpy(out_fault, r.fault, JSONX_WHY_BYTES);
  }
  return result;
}
