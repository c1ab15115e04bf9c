// SPDX-License-Identifier: Apache-2.0
// Retrying dead letters: which ones are meant, what became of each, and how that is told.
// Pure; any thread.
#include "reconciler/dead_letter.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/text.h"

#define ITEMS_BYTES_MAX (8u * 1024u * 1024u)

static const char *const outcome_names[RETRY_OUTCOME_COUNT] = {"retried", "already_done", "not_retryable", "not_found"};

const char *retry_outcome_name(enum retry_outcome outcome) { return outcome_names[outcome]; }

enum result dead_letter_parse(const char *text, int64_t *out_letter, struct claim_ref *out_claim)
{
  size_t len = strlen(text), first = strcspn(text, "-");
  int64_t number = 0;
  struct claim_ref claim = {0, 0};
  if (text_to_i64(text, first, &number) != RESULT_OK || number < 1) return RESULT_INVALID;
  if (first < len) {
    claim.activity_id = number;
    number = 0;
    if (text_to_i64(text + first + 1, len - first - 1, &claim.number) != RESULT_OK || claim.number < 1)
      return RESULT_INVALID;
  }
  *out_letter = number;
  *out_claim = claim;
  return RESULT_OK;
}

void retry_result_init(struct retry_result *r, bool is_dry_run)
{
  *r = (struct retry_result){.is_dry_run = is_dry_run};
  buf_init(&r->items, ITEMS_BYTES_MAX);
}

void retry_result_release(struct retry_result *r) { buf_release(&r->items); }

static void put_item(struct buf *b, const struct retry_row *row)
{
  if (b->len > 0) buf_putc(b, ',');
  buf_putc(b, '{');
  if (row->letter_id != 0) {
    buf_puts(b, "\"id\":\"");
    buf_put_i64(b, row->letter_id);
    buf_puts(b, "\",");
  }
  if (row->claim_ref[0] != '\0') {
    buf_puts(b, "\"claimId\":");
    buf_put_json(b, row->claim_ref, strlen(row->claim_ref));
    buf_putc(b, ',');
  }
  buf_puts(b, "\"outcome\":");
  buf_put_json(b, row->outcome, strlen(row->outcome));
  buf_putc(b, '}');
}

static void count(struct retry_result *r, enum retry_outcome outcome, const struct retry_row *row)
{
  r->counts[outcome]++;
  if (r->total++ < RETRY_ITEMS_LISTED_MAX) put_item(&r->items, row);
}

enum result retry_result_add(struct retry_result *r, const struct retry_row *row)
{
  for (size_t i = 0; i < RETRY_OUTCOME_COUNT; i++) {
    if (strcmp(row->outcome, outcome_names[i]) != 0) continue;
    count(r, (enum retry_outcome)i, row);
    return RESULT_OK;
  }
  return RESULT_UNEXPECTED;
}

void retry_result_add_unknown(struct retry_result *r, struct claim_ref claim)
{
  char ref[48];
  (void)snprintf(ref, sizeof ref, "%" PRId64 "-%" PRId64, claim.activity_id, claim.number);
  count(r, RETRY_NOT_FOUND, &(struct retry_row){0, ref, outcome_names[RETRY_NOT_FOUND]});
}

static void put_count(struct buf *out, const char *opening, int64_t count)
{
  buf_puts(out, opening);
  buf_put_i64(out, count);
}

void retry_result_put_json(const struct retry_result *r, struct buf *out)
{
  buf_puts(out, r->is_dry_run ? "{\"dryRun\":true" : "{\"dryRun\":false");
  put_count(out, ",\"total\":", r->total);
  put_count(out, ",\"retried\":", r->counts[RETRIED]);
  put_count(out, ",\"alreadyDone\":", r->counts[RETRY_ALREADY_DONE]);
  put_count(out, ",\"notRetryable\":", r->counts[RETRY_NOT_RETRYABLE]);
  put_count(out, ",\"notFound\":", r->counts[RETRY_NOT_FOUND]);
  buf_puts(out, ",\"items\":[");
  buf_append(out, buf_text(&r->items), r->items.len);
  buf_puts(out, "]}");
}

void retry_result_put_text(const struct retry_result *r, struct buf *out)
{
  if (r->total == 0) {
    buf_puts(out, "no open dead letter is meant");
    return;
  }
  put_count(out, r->is_dry_run ? "would retry " : "retried ", r->counts[RETRIED]);
  if (r->counts[RETRY_ALREADY_DONE] > 0) put_count(out, "; already done and skipped: ", r->counts[RETRY_ALREADY_DONE]);
  if (r->counts[RETRY_NOT_RETRYABLE] > 0)
    put_count(out, "; cannot be retried (no claim): ", r->counts[RETRY_NOT_RETRYABLE]);
  if (r->counts[RETRY_NOT_FOUND] > 0) put_count(out, "; not found: ", r->counts[RETRY_NOT_FOUND]);
}
