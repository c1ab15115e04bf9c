// SPDX-License-Identifier: Apache-2.0
// Checks the shape of discount rules and of orders to be discounted.
// Owner: nobody; pure.
#include "scheduler/discount_doc.h"

#include <stdio.h>
#include <string.h>

#include "common/limits.h"
#include "common/text.h"
#include "scheduler/claim_id.h"
#include "scheduler/doc_parts.h"

#define GROUP_CHARS_MAX   64
#define LINE_ID_CHARS_MAX 64
#define PRIORITY_MAX      1000000
#define USES_MAX          1000
#define LINES_MAX         500
#define COUPONS_MAX       100

static void put_number(json_t *doc, const char *name, int64_t value)
{
  (void)json_object_set_new(doc, name, json_integer(value));
}

// --- rules

static void read_discount(struct jsonx_reader *r, json_t *doc)
{
  const json_t *discount = jsonx_read_object(r, "discount", true);
  if (discount == NULL) return;
  struct jsonx_reader d;
  json_t *kept = json_object();
  int64_t value = 0;
  jsonx_reader_init(&d, discount, "discount");
  bool is_amount = jsonx_has(&d, "amount"), is_percent = jsonx_has(&d, "percent");
  if (is_amount == is_percent) {
    jsonx_reader_fail(r, "discount", "must have either amount or percent");
  } else if (is_amount) {
    jsonx_read_i64(&d, "amount", true, 1, INT64_MAX, &value);
    put_number(kept, "amount", value);
  } else {
    jsonx_read_i64(&d, "percent", true, 1, 100, &value);
    put_number(kept, "percent", value);
  }
  jsonx_reader_join(r, &d);
  (void)json_object_set_new(doc, "discount", kept);
}

static void read_window(struct jsonx_reader *r, json_t *doc)
{
  struct wall_time start = {0}, end = {0};
  char text[TEXT_TIME_BYTES];
  bool has_start = jsonx_has(r, "startAt"), has_end = jsonx_has(r, "endAt");
  jsonx_read_time(r, "startAt", false, &start);
  jsonx_read_time(r, "endAt", false, &end);
  if (r->fault[0] == '\0' && has_start && has_end && end.us <= start.us)
    jsonx_reader_fail(r, "endAt", "must be after startAt");
  if (has_start) {
    text_from_time(start, text);
    doc_parts_put_text(doc, "startAt", text);
  }
  if (has_end) {
    text_from_time(end, text);
    doc_parts_put_text(doc, "endAt", text);
  }
}

static void read_currency(struct jsonx_reader *r, json_t *doc)
{
  const char *currency = jsonx_read_text(r, "currency", false, 3);
  if (currency != NULL && (strlen(currency) != 3 || strspn(currency, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != 3))
    jsonx_reader_fail(r, "currency", "must be a three-letter ISO 4217 code");
  doc_parts_put_text(doc, "currency", currency);
}

static void read_group(struct jsonx_reader *r, json_t *doc)
{
  const char *group = jsonx_read_text(r, "exclusiveGroup", false, GROUP_CHARS_MAX);
  if (group != NULL && group[0] == '\0') jsonx_reader_fail(r, "exclusiveGroup", "must not be empty");
  doc_parts_put_text(doc, "exclusiveGroup", group);
}

static void read_max(struct jsonx_reader *r, json_t *doc)
{
  int64_t max = 0;
  jsonx_read_i64(r, "maxPerOrder", false, 1, USES_MAX, &max);
  if (max > 0) put_number(doc, "maxPerOrder", max);
}

enum result discount_doc_check(const json_t *body, const char *path_id, json_t **out_doc,
                               char out_fault[JSONX_WHY_BYTES])
{
  struct jsonx_reader r;
  json_t *doc = json_object();
  int64_t threshold = 0, priority = 0;
  jsonx_reader_init(&r, body, "");
  doc_parts_put_text(doc, "id", doc_parts_read_own_code(&r, "id", path_id));
  doc_parts_put_text(doc, "name", jsonx_read_text(&r, "name", true, NAME_CHARS_MAX));
  jsonx_read_i64(&r, "threshold", true, 0, INT64_MAX, &threshold);
  put_number(doc, "threshold", threshold);
  read_discount(&r, doc);
  read_max(&r, doc);
  read_group(&r, doc);
  jsonx_read_i64(&r, "priority", true, -PRIORITY_MAX, PRIORITY_MAX, &priority);
  put_number(doc, "priority", priority);
  doc_parts_put_text(doc, "rewardCode", doc_parts_read_code(&r, "rewardCode", false));
  read_currency(&r, doc);
  read_window(&r, doc);
  return doc_parts_finish(&r, doc, out_doc, out_fault);
}

// --- orders

struct line_sum {
  json_t *seen;  // ids so far
  int64_t total;
};

// False where it has been there before.
static bool note(json_t *seen, const char *key)
{
  if (json_object_get(seen, key) != NULL) return false;
  (void)json_object_set_new(seen, key, json_true());
  return true;
}

static void read_line(struct jsonx_reader *r, const json_t *item, size_t index, struct line_sum *sum, json_t *kept)
{
  char path[32];
  struct jsonx_reader l;
  int64_t amount = 0;
  (void)snprintf(path, sizeof path, "lines[%zu]", index);
  jsonx_reader_init(&l, item, path);
  const char *id = jsonx_read_text(&l, "lineId", true, LINE_ID_CHARS_MAX);
  if (id != NULL && id[0] == '\0') jsonx_reader_fail(&l, "lineId", "must not be empty");
  if (id != NULL && !note(sum->seen, id)) jsonx_reader_fail(&l, "lineId", "is the id of another line too");
  jsonx_read_i64(&l, "amount", true, 0, INT64_MAX, &amount);
  if (__builtin_add_overflow(sum->total, amount, &sum->total))
    jsonx_reader_fail(&l, "amount", "makes the total too large");
  jsonx_reader_join(r, &l);
  json_t *line = json_object();
  doc_parts_put_text(line, "lineId", id);
  put_number(line, "amount", amount);
  (void)json_array_append_new(kept, line);
}

static void read_lines(struct jsonx_reader *r, json_t *doc)
{
  const json_t *lines = jsonx_read_array(r, "lines", true);
  size_t count = json_array_size(lines);
  if (lines == NULL) return;
  if (count < 1 || count > LINES_MAX) {
    jsonx_reader_fail(r, "lines", "must have 1 to 500 items");
    return;
  }
  struct line_sum sum = {json_object(), 0};
  json_t *kept = json_array();
  for (size_t i = 0; r->fault[0] == '\0' && i < count; i++) read_line(r, json_array_get(lines, i), i, &sum, kept);
  json_decref(sum.seen);
  (void)json_object_set_new(doc, "lines", kept);
}

static void read_coupon(struct jsonx_reader *r, const json_t *item, size_t index, json_t *seen, json_t *kept)
{
  char path[32], text[48];
  struct claim_id id = {0, 0};
  (void)snprintf(path, sizeof path, "coupons[%zu]", index);
  if (!json_is_string(item) || claim_id_parse(json_string_value(item), &id) != RESULT_OK) {
    jsonx_reader_fail(r, path, "must be the id of a claim, such as 683000001-17");
    return;
  }
  (void)snprintf(text, sizeof text, "%lld-%lld", (long long)id.activity_id, (long long)id.number);
  if (!note(seen, text)) jsonx_reader_fail(r, path, "is there already");
  (void)json_array_append_new(kept, json_string(text));
}

static void read_coupons(struct jsonx_reader *r, json_t *doc)
{
  const json_t *coupons = jsonx_read_array(r, "coupons", false);
  json_t *kept = json_array(), *seen = json_object();
  if (json_array_size(coupons) > COUPONS_MAX) jsonx_reader_fail(r, "coupons", "must have at most 100 items");
  for (size_t i = 0; r->fault[0] == '\0' && i < json_array_size(coupons); i++)
    read_coupon(r, json_array_get(coupons, i), i, seen, kept);
  json_decref(seen);
  (void)json_object_set_new(doc, "coupons", kept);
}

static const char *read_order_id(struct jsonx_reader *r, const char *path_id)
{
  const char *id = jsonx_read_text(r, "orderId", path_id == NULL, BIZ_ID_BYTES_MAX);
  if (path_id == NULL) path_id = id;
  if (path_id != NULL && !text_is_biz_id(path_id, strlen(path_id)))
    jsonx_reader_fail(r, "orderId", "must be 1 to 64 characters of A-Z a-z 0-9 . _ : -");
  if (id != NULL && strcmp(id, path_id) != 0) jsonx_reader_fail(r, "orderId", "differs from the order in the path");
  return path_id;
}

enum result discount_order_check(const json_t *body, const char *path_id, json_t **out_doc,
                                 char out_fault[JSONX_WHY_BYTES])
{
  struct jsonx_reader r;
  json_t *doc = json_object();
  jsonx_reader_init(&r, body, "");
  doc_parts_put_text(doc, "orderId", read_order_id(&r, path_id));
  read_currency(&r, doc);
  read_lines(&r, doc);
  read_coupons(&r, doc);
  return doc_parts_finish(&r, doc, out_doc, out_fault);
}
