// SPDX-License-Identifier: Apache-2.0
// POST /v1/dead-letters/retry {ids | filter, reason?, dryRun?}: statement by statement until all that is meant was
// looked at. Owner: web routes; loop thread.
#include "reconciler/retry_api.h"

#include <string.h>

#include "common/jsonx.h"
#include "common/mem.h"
#include "common/text.h"
#include "reconciler/call.h"
#include "reconciler/dead_letter.h"

#define IDS_MAX          10000
#define FILTER_CHARS_MAX 200

struct retry_call {
  struct call call;
  json_t *body;  // the texts of page live in it
  int64_t *ids;  // letters; those named by their claims follow after the look-up
  struct claim_ref *claims;
  size_t id_count, claim_count;
  struct retry_page page;
  struct retry_result result;
};

static struct retry_call *of(struct call *c) { return CONTAINER_OF(c, struct retry_call, call); }

static void on_end(struct call *c)
{
  struct retry_call *r = of(c);
  json_decref(r->body);
  mem_free(r->ids);
  mem_free(r->claims);
  retry_result_release(&r->result);
}

// --- the request

static const char *text_of(const json_t *value, char out_number[24])
{
  if (json_is_string(value)) return json_string_value(value);
  if (!json_is_integer(value)) return "";
  struct buf b;
  buf_init(&b, 23);
  buf_put_i64(&b, (int64_t)json_integer_value(value));
  memcpy(out_number, buf_text(&b), b.len + 1);
  buf_release(&b);
  return out_number;
}

static void read_ids(struct retry_call *r, struct jsonx_reader *reader)
{
  const json_t *ids = jsonx_read_array(reader, "ids", false);
  if (ids == NULL) return;
  size_t count = json_array_size(ids);
  if (count == 0 || count > IDS_MAX) {
    jsonx_reader_fail(reader, "ids", "must have from 1 to 10000 entries");
    return;
  }
  r->ids = MEM_ARRAY(int64_t, count);
  r->claims = MEM_ARRAY(struct claim_ref, count);
  for (size_t i = 0; i < count; i++) {
    char number[24];
    int64_t letter;
    struct claim_ref claim;
    if (dead_letter_parse(text_of(json_array_get(ids, i), number), &letter, &claim) != RESULT_OK) {
      jsonx_reader_fail(reader, "ids", "an id is the number of a letter or of a claim such as 683000001-5");
      return;
    }
    if (letter != 0)
      r->ids[r->id_count++] = letter;
    else
      r->claims[r->claim_count++] = claim;
  }
}

static void read_filter(struct retry_call *r, struct jsonx_reader *reader)
{
  const json_t *filter = jsonx_read_object(reader, "filter", false);
  struct jsonx_reader f;
  if (filter == NULL) return;
  jsonx_reader_init(&f, filter, "filter");
  r->page.filter.provider = jsonx_read_text(&f, "provider", false, FILTER_CHARS_MAX);
  r->page.filter.cause = jsonx_read_text(&f, "cause", false, FILTER_CHARS_MAX);
  r->page.filter.activity_code = jsonx_read_text(&f, "activityCode", false, FILTER_CHARS_MAX);
  if (jsonx_reader_finish(&f) != RESULT_OK) jsonx_reader_fail(reader, "filter", f.fault);
}

// False after a 400.
static bool read_body(struct retry_call *r)
{
  size_t len;
  const char *bytes = web_body(r->call.web, &len);
  char why[JSONX_WHY_BYTES];
  if (jsonx_parse(bytes, len, &r->body, why) != RESULT_OK) {
    call_refuse(r->call.web, why);
    return false;
  }
  if (!json_is_object(r->body)) {
    call_refuse(r->call.web, "must be an object");
    return false;
  }
  struct jsonx_reader reader;
  jsonx_reader_init(&reader, r->body, "");
  read_ids(r, &reader);
  read_filter(r, &reader);
  r->page.reason = jsonx_read_text(&reader, "reason", false, REASON_CHARS_MAX);
  jsonx_read_bool(&reader, "dryRun", false, &r->page.is_dry_run);
  bool has_ids = jsonx_has(&reader, "ids");
  if (has_ids == jsonx_has(&reader, "filter"))
    jsonx_reader_fail(&reader, has_ids ? "filter" : "ids", has_ids ? "excludes ids" : "ids or filter is needed");
  if (jsonx_reader_finish(&reader) == RESULT_OK) return true;
  call_refuse(r->call.web, reader.fault);
  return false;
}

// --- statement by statement

static void send_page(struct retry_call *r)
{
  call_send(&r->call, store_dead_letter_retry(call_args(&r->call), &r->page));
}

static void answer(struct retry_call *r)
{
  struct app *app = r->call.app;
  struct buf *b = &app->scratch;
  buf_clear(b);
  retry_result_put_json(&r->result, b);
  for (size_t i = 0; i < RETRY_OUTCOME_COUNT && !r->page.is_dry_run; i++)
    metric_series_add(
        METRIC_SERIES(app->rt->metrics, M_DEAD_LETTERS_RETRIED, retry_outcome_name((enum retry_outcome)i)),
        (double)r->result.counts[i]);
  LOG(app->rt->log, EV_DEAD_LETTERS_RETRIED, F_STR("actor", r->page.actor), F_STR("reason", r->page.reason),
      F_BOOL("dry_run", r->page.is_dry_run), F_INT("retried", r->result.counts[RETRIED]),
      F_INT("already_done", r->result.counts[RETRY_ALREADY_DONE]));
  web_reply_json(r->call.web, 200, buf_text(b), b->len);
  call_end(&r->call);
}

static void on_retried(struct call *c, const struct db_rows *rows)
{
  struct retry_call *r = of(c);
  size_t count = db_rows_count(rows);
  for (size_t i = 0; i < count; i++) {
    struct retry_row row = store_retry_row(rows, i);
    if (retry_result_add(&r->result, &row) != RESULT_OK)
      LOG(c->app->rt->log, EV_QUERY_FAILED, F_STR("message", "unknown outcome of a retry"));
    r->page.after = row.letter_id;
  }
  if ((int64_t)count == r->page.limit)
    send_page(r);
  else
    answer(r);
}

// A claim without a letter is counted as not found.
static void on_letters(struct call *c, const struct db_rows *rows)
{
  struct retry_call *r = of(c);
  for (size_t i = 0; i < db_rows_count(rows); i++) {
    int64_t letter = store_letter_of_claim(rows, i);
    if (letter != 0)
      r->ids[r->id_count++] = letter;
    else
      retry_result_add_unknown(&r->result, r->claims[i]);
  }
  r->page.id_count = r->id_count;
  c->on_rows = on_retried;
  send_page(r);
}

void retry_api_dead_letters(struct web_request *web)
{
  struct retry_call *r = of(call_new(web, sizeof *r, on_retried));
  r->call.on_end = on_end;
  retry_result_init(&r->result, false);
  if (!read_body(r)) {
    call_end(&r->call);
    return;
  }
  r->result.is_dry_run = r->page.is_dry_run;
  r->page.actor = web_actor(web);
  r->page.limit = r->call.app->conf.retry_batch_rows;
  r->page.ids = r->ids;
  r->page.id_count = r->id_count;
  if (r->claim_count == 0) {
    send_page(r);
    return;
  }
  r->call.on_rows = on_letters;
  call_send(&r->call, store_dead_letters_of_claims(call_args(&r->call), r->claims, r->claim_count));
}
