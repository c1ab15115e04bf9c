// SPDX-License-Identifier: Apache-2.0
// Reading over HTTP: dead letters, operations, findings, runs of the audit. Lists are {items, next}.
// Owner: web routes; loop thread.
#include "reconciler/review_api.h"

#include <string.h>

#include "common/cmdline.h"
#include "common/text.h"
#include "reconciler/call_list.h"
#include "reconciler/operation.h"
#include "reconciler/store_operation.h"

// Which letters. False after a 400.
static bool read_letters(struct web_request *web, const char **out_state, struct dead_letter_filter *f, int64_t *limit)
{
  const char *state = NULL;
  int index;
  if (!call_list_limit(web, limit) || !call_text(web, "state", &state) || !call_text(web, "provider", &f->provider) ||
      !call_text(web, "cause", &f->cause) || !call_text(web, "activityCode", &f->activity_code) ||
      !call_text(web, "fingerprint", &f->fingerprint))
    return false;
  *out_state = state != NULL ? state : "open";
  if (cmdline_choice(*out_state, "open|closed|all", &index)) return true;
  call_refuse(web, "state: must be open, closed or all");
  return false;
}

// A place as an earlier page gave it: an id, or attempts and id with a point between.
static bool is_place(const char *after, bool is_by_attempts)
{
  size_t attempts = strspn(after, "0123456789");
  if (!is_by_attempts) return attempts >= 1 && attempts <= 18 && after[attempts] == '\0';
  if (attempts < 1 || attempts > 9 || after[attempts] != '.') return false;
  return is_place(after + attempts + 1, false);
}

void review_api_dead_letters(struct web_request *web)
{
  struct dead_letter_filter f;
  const char *state, *sort = NULL, *after = NULL;
  int64_t limit;
  int index = 0;
  if (!read_letters(web, &state, &f, &limit) || !call_text(web, "sort", &sort) || !call_text(web, "after", &after))
    return;
  if (sort == NULL) sort = "openedAt";
  if (!cmdline_choice(sort, "openedAt|-openedAt|attempts|-attempts", &index)) {
    call_refuse(web, "sort: must be openedAt, -openedAt, attempts or -attempts");
    return;
  }
  if (after != NULL && !is_place(after, index >= 2)) {
    call_refuse(web, "after: must be the next of an earlier page with the same sort");
    return;
  }
  struct call *c = call_list_new(web, limit, CALL_PLACE_TEXT);
  call_send(c, store_dead_letter_sorted(call_args(c), sort, state, &f, after != NULL ? after : "", limit + 1));
}

void review_api_dead_letter_groups(struct web_request *web)
{
  struct dead_letter_filter f;
  const char *state;
  int64_t limit, after = 0;
  if (!read_letters(web, &state, &f, &limit) || !call_number(web, "after", 0, INT64_MAX, &after)) return;
  struct call *c = call_list_new(web, limit, CALL_PLACE_NUMBER);
  call_send(c, store_dead_letter_groups(call_args(c), state, &f, after, limit + 1));
}

// What findings, and the definitions of audits, say in words.
static const char *const words_of_finding[] = {"explanation", "cause",  "nextStep", "repair.text",
                                               "expected",    "actual", NULL};
static const struct web_told told_of_finding = {.at = "", .members = words_of_finding};

void review_api_findings(struct web_request *web)
{
  struct finding_filter f;
  const char *after = NULL, *sort = NULL;
  int64_t limit;
  int index;
  if (!call_list_limit(web, &limit) || !call_text(web, "after", &after) || !call_text(web, "sort", &sort) ||
      !call_text(web, "state", &f.state) || !call_text(web, "kind", &f.kind) ||
      !call_text(web, "severity", &f.severity) || !call_text(web, "activityCode", &f.activity_code) ||
      !call_text(web, "provider", &f.provider) || !call_text(web, "source", &f.source))
    return;
  const char *fault = finding_filter_fault(&f);
  if (fault == NULL && sort != NULL && !cmdline_choice(sort, FINDING_SORTS, &index))
    fault = "sort: must be key, severity, openedAt or -openedAt";
  if (fault != NULL) {
    call_refuse(web, fault);
    return;
  }
  struct call *c = call_list_new(web, limit, CALL_PLACE_TEXT);
  c->call.told = &told_of_finding;
  call_send(c,
            store_finding_list(call_args(c), &f, sort != NULL ? sort : "key", after != NULL ? after : "", limit + 1));
}

void review_api_audits(struct web_request *web)
{
  int64_t limit, after = 0;
  if (!call_list_limit(web, &limit) || !call_number(web, "after", 1, INT64_MAX, &after)) return;
  struct call *c = call_list_new(web, limit, CALL_PLACE_NUMBER);
  call_send(c, store_audit_runs(call_args(c), after, limit + 1));
}

void review_api_audit_definitions(struct web_request *web)
{
  const char *source = NULL, *after = NULL;
  int64_t limit;
  int index;
  if (!call_list_limit(web, &limit) || !call_text(web, "after", &after) || !call_text(web, "source", &source)) return;
  if (source != NULL && !cmdline_choice(source, "audit|statement", &index)) {
    call_refuse(web, "source: must be audit or statement");
    return;
  }
  struct call *c = call_list_new(web, limit, CALL_PLACE_TEXT);
  c->call.told = &told_of_finding;
  call_send(c, store_audit_definition_list(call_args(c), source, after != NULL ? after : "", limit + 1));
}

void review_api_operations(struct web_request *web)
{
  const char *state = NULL, *kind = NULL;
  int64_t limit, after = 0;
  int index;
  if (!call_list_limit(web, &limit) || !call_number(web, "after", 1, INT64_MAX, &after) ||
      !call_text(web, "state", &state) || !call_text(web, "kind", &kind))
    return;
  if (state != NULL && !cmdline_choice(state, "running|done|cancelled|all", &index)) {
    call_refuse(web, "state: must be running, done, cancelled or all");
    return;
  }
  if (kind != NULL && !cmdline_choice(kind, OPERATION_KINDS, &index)) {
    call_refuse(web, "kind: must be retry, refund, resolve, roll_back, repair or explain");
    return;
  }
  struct call *c = call_list_new(web, limit, CALL_PLACE_NUMBER);
  call_send(c, store_operation_list(call_args(c), state, kind, after, limit + 1));
}

// The number in the path. False after a 404.
static bool read_id(struct web_request *web, const char *what, int64_t *out_id)
{
  const char *text = web_param(web, "id");
  if (text_to_i64(text, strlen(text), out_id) == RESULT_OK && *out_id > 0) return true;
  call_not_found(web, what);
  return false;
}

void review_api_operation_items(struct web_request *web)
{
  static const char *const members[] = {"before", "after", NULL};
  static const struct web_told told = {.at = "", .members = members};
  int64_t id, limit, after = 0;
  if (!read_id(web, "an operation's id is a number", &id) || !call_list_limit(web, &limit) ||
      !call_number(web, "after", 0, INT64_MAX, &after))
    return;
  struct call *c = call_list_new(web, limit, CALL_PLACE_NUMBER);
  c->call.told = &told;
  call_send(c, store_operation_items(call_args(c), id, after, limit + 1));
}

// --- one item

static void on_item(struct call *c, const struct db_rows *rows)
{
  if (db_rows_count(rows) == 0)
    call_not_found(c->web, "there is nothing with this id");
  else
    web_reply_json(c->web, 200, db_rows_text(rows, 0, 0), db_rows_text_len(rows, 0, 0));
  call_end(c);
}

void review_api_dead_letter(struct web_request *web)
{
  int64_t id;
  if (!read_id(web, "a dead letter's id is a number", &id)) return;
  struct call *c = call_new(web, sizeof *c, on_item);
  call_send(c, store_dead_letter_show(call_args(c), id));
}

void review_api_operation(struct web_request *web)
{
  int64_t id;
  if (!read_id(web, "an operation's id is a number", &id)) return;
  struct call *c = call_new(web, sizeof *c, on_item);
  call_send(c, store_operation_show(call_args(c), id, false));
}

static void on_finding(struct call *c, const struct db_rows *rows)
{
  if (db_rows_count(rows) == 0)
    call_not_found(c->web, "there is nothing with this id");
  else
    web_reply_told(c->web, 200, db_rows_text(rows, 0, 0), db_rows_text_len(rows, 0, 0), &told_of_finding);
  call_end(c);
}

void review_api_finding(struct web_request *web)
{
  const char *key = web_param(web, "key");
  if (!text_is_utf8(key, strlen(key))) {
    call_refuse(web, "key: must be UTF-8");
    return;
  }
  struct call *c = call_new(web, sizeof *c, on_finding);
  call_send(c, store_finding_show(call_args(c), key));
}
