// SPDX-License-Identifier: Apache-2.0
// What people do about dead letters, delivered claims and findings: what an order says, and how its result is told.
// Pure; any thread.
#include "reconciler/operation.h"

#include <string.h>

#include "common/cmdline.h"
#include "common/compiler.h"
#include "common/mem.h"
#include "common/text.h"

const char *operation_kind_name(enum operation_kind kind)
{
  static const char *const names[] = {"retry", "refund", "resolve", "roll_back", "repair", "explain"};
  return names[kind];
}

bool operation_is_about_findings(enum operation_kind kind)
{
  return kind == OPERATION_REPAIR || kind == OPERATION_EXPLAIN;
}

const char *finding_filter_fault(const struct finding_filter *f)
{
  int index = 0;
  if (f->state != NULL && !cmdline_choice(f->state, FINDING_STATES, &index))
    return "state: must be opened, open, gone or all";
  if (f->severity != NULL && !cmdline_choice(f->severity, SEVERITIES, &index))
    return "severity: must be critical, high or medium";
  if (f->source != NULL && !cmdline_choice(f->source, FINDING_SOURCES, &index))
    return "source: must be audit or statement";
  return NULL;
}

const char *finding_order_fault(const struct finding_filter *f)
{
  if (f->state != NULL && strcmp(f->state, "opened") != 0 && strcmp(f->state, "open") != 0)
    return "state: must be opened or open";
  return finding_filter_fault(f);
}

// --- what is meant

enum result operation_target_parse(const char *text, int64_t *out_letter, struct claim_ref *out_claim)
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

void operation_order_init(struct operation_order *o, enum operation_kind kind)
{
  *o = (struct operation_order){.kind = kind, .preview_items = OPERATION_PREVIEW_ITEMS_MAX};
}

void operation_order_make_room(struct operation_order *o, size_t count)
{
  if (operation_is_about_findings(o->kind)) {
    o->keys = MEM_ARRAY(const char *, count);
  } else {
    o->letters = MEM_ARRAY(int64_t, count);
    o->claims = MEM_ARRAY(struct claim_ref, count);
  }
  o->room = count;
}

static enum result add_key(struct operation_order *o, const char *text)
{
  size_t len = strlen(text);
  if (o->key_count == o->room) return RESULT_FULL;
  if (len == 0 || len > FINDING_KEY_BYTES_MAX || !text_is_utf8(text, len)) return RESULT_INVALID;
  o->keys[o->key_count++] = text;
  return RESULT_OK;
}

enum result operation_order_add(struct operation_order *o, const char *text)
{
  int64_t letter;
  struct claim_ref claim;
  if (operation_is_about_findings(o->kind)) return add_key(o, text);
  if (o->letter_count + o->claim_count == o->room) return RESULT_FULL;
  if (operation_target_parse(text, &letter, &claim) != RESULT_OK) return RESULT_INVALID;
  if (letter == 0)
    o->claims[o->claim_count++] = claim;
  else if (o->kind != OPERATION_ROLL_BACK)
    o->letters[o->letter_count++] = letter;
  else
    return RESULT_INVALID;
  return RESULT_OK;
}

void operation_order_release(struct operation_order *o)
{
  mem_free(o->letters);
  mem_free(o->claims);
  mem_free(o->keys);
}

enum result operation_order_put_as(struct operation_order *o, const char *text)
{
  bool is_delivered = strcmp(text, "delivered") == 0;
  if (!is_delivered && strcmp(text, "not-delivered") != 0) return RESULT_INVALID;
  o->is_not_delivered = !is_delivered;
  return RESULT_OK;
}

// --- how it is told

struct outcome_text {
  const char *member, *done, *preview;  // the same words where the preview has none of its own
  bool is_failure;
};

static const struct outcome_text outcomes[] = {
    {"retried", "retried ", "would retry ", false},
    {"refunded", "refunded ", "would refund ", false},
    {"resolved", "resolved ", "would resolve ", false},
    {"rolledBack", "rolled back ", "would roll back ", false},
    {"repaired", "repaired ", "would repair ", false},
    {"explained", "explained ", "would explain ", false},
    {"reversing", "first reversed at the provider: ", NULL, false},
    {"alreadyDone", "already done and skipped: ", NULL, false},
    {"alreadyRight", "right already: ", NULL, false},
    {"gone", "gone already: ", NULL, false},
    {"notRepairable", "for a person to repair, left as they are: ", NULL, true},
    {"notRetryable", "cannot be retried (no claim): ", NULL, false},
    {"notRefundable", "cannot be refunded (no claim): ", NULL, true},
    {"notReversible", "cannot be reversed at their provider, left as they are: ", NULL, true},
    {"notDelivered", "not delivered, nothing to roll back: ", NULL, true},
    {"proofNeeded", "need a proof of delivery, left as they are: ", NULL, true},
    {"notFound", "not found: ", NULL, true},
};
#define WITH_OWN_VERB 6  // these are told even when there was none

static int64_t number_of(const json_t *result, const char *member)
{
  return (int64_t)json_integer_value(json_object_get(result, member));
}

static void put_outcome(const json_t *result, const struct outcome_text *o, bool is_first, struct buf *out)
{
  const char *words = json_is_true(json_object_get(result, "dryRun")) && o->preview != NULL ? o->preview : o->done;
  if (!is_first) buf_puts(out, "; ");
  buf_puts(out, words);
  buf_put_i64(out, number_of(result, o->member));
}

void operation_put_summary(const json_t *result, struct buf *out)
{
  bool is_first = true;
  if (number_of(result, "total") == 0) {
    bool is_of_findings = json_object_get(result, "repaired") != NULL || json_object_get(result, "explained") != NULL;
    buf_puts(out, is_of_findings ? "no finding is meant" : "no open dead letter is meant");
    return;
  }
  for (size_t i = 0; i < ARRAY_LEN(outcomes); i++) {
    bool is_told = i < WITH_OWN_VERB && json_object_get(result, outcomes[i].member) != NULL;
    if (!is_told && number_of(result, outcomes[i].member) == 0) continue;
    put_outcome(result, &outcomes[i], is_first, out);
    is_first = false;
  }
  if (json_object_get(result, "previewed") == NULL) return;
  buf_puts(out, "; of ");
  buf_put_i64(out, number_of(result, "total"));
  buf_puts(out, " the first ");
  buf_put_i64(out, number_of(result, "previewed"));
  buf_puts(out, " were looked at");
}

int64_t operation_failures(const json_t *result)
{
  int64_t failures = 0;
  for (size_t i = 0; i < ARRAY_LEN(outcomes); i++) {
    if (outcomes[i].is_failure) failures += number_of(result, outcomes[i].member);
  }
  return failures;
}
