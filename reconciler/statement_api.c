// SPDX-License-Identifier: Apache-2.0
// Statements of providers over HTTP. A file is imported by the worker's thread, which answers.
// Owner: web routes; loop thread.
#include "reconciler/statement_api.h"

#include <string.h>

#include "common/cmdline.h"
#include "common/text.h"
#include "reconciler/call_list.h"
#include "reconciler/statement_worker.h"
#include "reconciler/store_statement.h"

void statement_api_import(struct web_request *web)
{
  struct app *app = web_context(web);
  const char *date = NULL, *file = NULL, *reason = NULL;
  if (!call_text(web, "date", &date) || !call_text(web, "file", &file) || !web_read_reason(web, &reason)) return;
  if (date != NULL && !statement_is_date(date)) {
    call_refuse(web, "date: must be a date such as 2026-11-29");
    return;
  }
  enum result result = statement_worker_import(app->statements, web, web_param(web, "provider"), date,
                                               file != NULL ? file : "upload", reason);
  if (result == RESULT_NOT_FOUND)
    call_not_found(web, "there is no profile for statements of this provider");
  else if (result != RESULT_OK)
    web_reply_problem(
        web,
        &(struct web_problem){
            .code = "OVERLOADED", .status = 503, .detail = "other statements wait to be imported", .retry_after_s = 5});
}

void statement_api_list(struct web_request *web)
{
  const char *provider = NULL;
  int64_t limit, after = 0;
  if (!call_list_limit(web, &limit) || !call_number(web, "after", 1, INT64_MAX, &after) ||
      !call_text(web, "provider", &provider))
    return;
  struct call *c = call_list_new(web, limit, CALL_PLACE_NUMBER);
  call_send(c, store_statement_list(call_args(c), provider, after, limit + 1));
}

static bool read_id(struct web_request *web, int64_t *out_id)
{
  const char *text = web_param(web, "id");
  if (text_to_i64(text, strlen(text), out_id) == RESULT_OK && *out_id > 0) return true;
  call_not_found(web, "a statement's id is a number");
  return false;
}

static void on_statement(struct call *c, const struct db_rows *rows)
{
  if (db_rows_count(rows) == 0)
    call_not_found(c->web, "there is nothing with this id");
  else
    web_reply_json(c->web, 200, db_rows_text(rows, 0, 0), db_rows_text_len(rows, 0, 0));
  call_end(c);
}

void statement_api_show(struct web_request *web)
{
  int64_t id;
  if (!read_id(web, &id)) return;
  struct call *c = call_new(web, sizeof *c, on_statement);
  call_send(c, store_statement_show(call_args(c), id));
}

void statement_api_lines(struct web_request *web)
{
  static const char *const members[] = {"expected", "actual", NULL};
  static const struct web_told told = {.at = "", .members = members};
  const char *outcome = NULL;
  int64_t id, limit, after = 0;
  int index;
  if (!read_id(web, &id) || !call_list_limit(web, &limit) || !call_number(web, "after", 0, INT64_MAX, &after) ||
      !call_text(web, "outcome", &outcome))
    return;
  if (outcome != NULL && !cmdline_choice(outcome, STATEMENT_OUTCOMES, &index)) {
    call_refuse(web, "outcome: is none that lines have");
    return;
  }
  struct call *c = call_list_new(web, limit, CALL_PLACE_NUMBER);
  c->call.told = &told;
  call_send(c, store_statement_lines(call_args(c), id, outcome, after, limit + 1));
}
