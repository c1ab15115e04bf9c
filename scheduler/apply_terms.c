// SPDX-License-Identifier: Apache-2.0
// The rewards and discount rules of an event file, put into the database.
// Owner: the command; blocking.
#include <stdlib.h>
#include <string.h>

#include "scheduler/activity_doc.h"
#include "scheduler/apply_run.h"
#include "sql_scheduler.inc"

bool apply_reward(struct apply_run *run, const struct event_reward *reward)
{
  struct reward_terms terms;
  char fault[JSONX_WHY_BYTES], path[EVENT_PATH_BYTES];
  const struct conf_texts *providers = &run->conf->providers;
  event_path(path, "rewards", reward->code);
  if (reward_doc_check(reward->body, reward->code, providers->items, providers->count, &terms, fault) != RESULT_OK) {
    apply_refuse_at(run, event_find(reward->node, fault)->line, path, fault);
    return true;
  }
  struct db_args args;
  struct db_rows *rows = NULL;
  char *params = terms.params != NULL ? json_dumps(terms.params, JSON_COMPACT) : NULL;
  db_args_init(&args);
  db_args_text(&args, terms.code);
  db_args_text(&args, terms.provider);
  if (terms.has_amount)
    db_args_i64(&args, terms.amount);
  else
    db_args_null(&args);
  db_args_text(&args, terms.has_amount ? terms.currency : NULL);
  db_args_text(&args, params);
  db_args_text(&args, run->command->actor);
  db_args_text(&args, APPLY_REASON);
  bool is_ok = cli_query(run->cli, &SQL_APPLY_REWARD, &args, &rows);
  if (is_ok) (void)apply_note(run, "reward", terms.code, db_rows_text(rows, 0, 0));
  db_rows_free(rows);
  db_args_release(&args);
  free(params);
  return is_ok;
}

// What sessions and rules of others use stays: a rule that the file no longer has is left alone.
bool apply_discount(struct apply_run *run, const struct event_discount *discount)
{
  struct db_args args;
  struct db_rows *rows = NULL;
  char path[EVENT_PATH_BYTES], *doc = json_dumps(discount->doc, JSON_COMPACT);
  event_path(path, "discountRules", discount->id);
  db_args_init(&args);
  db_args_text(&args, doc);
  db_args_text(&args, run->command->actor);
  db_args_text(&args, APPLY_REASON);
  bool is_ok = cli_query(run->cli, &SQL_APPLY_DISCOUNT, &args, &rows);
  if (is_ok && !db_rows_is_null(rows, 0, 1))
    apply_refuse_at(run, event_find(discount->node, db_rows_text(rows, 0, 1))->line, path, db_rows_text(rows, 0, 1));
  else if (is_ok)
    (void)apply_note(run, "discount", discount->id, db_rows_text(rows, 0, 0));
  db_rows_free(rows);
  db_args_release(&args);
  free(doc);
  return is_ok;
}
