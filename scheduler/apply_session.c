// SPDX-License-Identifier: Apache-2.0
// One session of an event file: its activity is created or changed, and published where the file asks for it.
// Owner: the command; blocking.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/text.h"
#include "scheduler/activity_doc.h"
#include "scheduler/apply_run.h"
#include "sql_scheduler.inc"
#include "sql_shared.inc"

// The activity before the file touches it.
struct before {
  bool exists, is_draft, is_limited;
  int64_t total;
};

// What was done to it.
struct done {
  const char *outcome, *changed;  // of activity_put
  int64_t numbers;                // added
  bool is_published;
};

static bool look_before(struct apply_run *run, const struct event_session *s, struct before *out_before)
{
  struct db_args args;
  struct db_rows *rows = NULL;
  struct before b = {0};
  db_args_init(&args);
  db_args_text(&args, s->code);
  bool is_ok = cli_query(run->cli, &SQL_APPLY_PRESENT, &args, &rows);
  if (is_ok && db_rows_count(rows) > 0) {
    b = (struct before){true, strcmp(db_rows_text(rows, 0, 0), "draft") == 0, !db_rows_is_null(rows, 0, 3),
                        db_rows_i64(rows, 0, 3)};
  }
  if (is_ok) *out_before = b;
  db_rows_free(rows);
  db_args_release(&args);
  return is_ok;
}

static void note_changed(json_t *item, const char *changed)
{
  json_t *list = json_array();
  while (*changed != '\0') {
    size_t len = strcspn(changed, ",");
    (void)json_array_append_new(list, json_stringn(changed, len));
    changed += len + (changed[len] == ',');
  }
  (void)json_object_set_new(item, "changed", list);
}

// A changed total of something published is an adjustment, on record with its reason.
static void note_adjustment(json_t *item, const struct before *b, const struct event_session *s)
{
  const json_t *total = json_object_get(json_object_get(s->doc, "stock"), "total");
  if (b->is_draft || !b->is_limited || !json_is_integer(total) || json_integer_value(total) == b->total) return;
  (void)json_object_set_new(item, "adjustment",
                            json_pack("{s:I, s:I}", "from", (json_int_t)b->total, "to", json_integer_value(total)));
}

static void note_session(struct apply_run *run, const struct event_session *s, const struct before *b,
                         const struct done *d)
{
  bool is_grown = d->numbers > 0 && strcmp(d->outcome, "unchanged") == 0;
  json_t *item = apply_note(run, "activity", s->code, is_grown ? "updated" : d->outcome);
  (void)json_object_set(item, "startAt", json_object_get(s->doc, "startAt"));
  (void)json_object_set(item, "endAt", json_object_get(s->doc, "endAt"));
  (void)json_object_set_new(item, "published", json_boolean(d->is_published));
  if (d->numbers > 0) (void)json_object_set_new(item, "numbersAdded", json_integer(d->numbers));
  bool is_late = s->publish && !d->is_published && (!b->exists || b->is_draft);
  if (is_late) (void)json_object_set_new(item, "notPublished", json_string("it has ended"));
  if (strcmp(d->outcome, "updated") != 0) return;
  note_changed(item, d->changed);
  note_adjustment(item, b, s);
}

// An event of several days may be applied when some of its sessions are over: those stay drafts and are said to.
static bool has_ended(const struct apply_run *run, const struct event_session *s)
{
  struct wall_time end = {0};
  const json_t *text = json_object_get(s->doc, "endAt");
  return text_to_time(json_string_value(text), json_string_length(text), &end) == RESULT_OK && end.us <= run->now.us;
}

static bool publish(struct apply_run *run, const struct event_session *s, bool *out_is_published)
{
  if (has_ended(run, s)) return true;
  struct db_args args;
  struct db_rows *rows = NULL;
  db_args_init(&args);
  db_args_text(&args, s->code);
  db_args_text(&args, "publish");
  db_args_text(&args, run->command->actor);
  db_args_text(&args, APPLY_REASON);
  db_args_null(&args);
  bool is_ok = cli_query(run->cli, &SQL_ACTIVITY_ACTION, &args, &rows);
  if (is_ok && strcmp(db_rows_text(rows, 0, 0), "ok") == 0) {
    *out_is_published = true;
  } else if (is_ok) {
    char fault[300];
    (void)snprintf(fault, sizeof fault, "publish: %s", db_rows_text(rows, 0, 1));
    apply_refuse(run, s, fault);
  }
  db_rows_free(rows);
  db_args_release(&args);
  return is_ok;
}

static bool put(struct apply_run *run, const struct event_session *s, struct db_rows **out_rows)
{
  struct db_args args;
  char *doc = json_dumps(s->doc, JSON_COMPACT);
  db_args_init(&args);
  db_args_text(&args, doc);
  db_args_text(&args, run->command->actor);
  db_args_null(&args);
  db_args_text(&args, APPLY_REASON);
  bool is_ok = cli_query(run->cli, &SQL_APPLY_ACTIVITY, &args, out_rows);
  db_args_release(&args);
  free(doc);
  return is_ok;
}

// The numbers that have to be there; *out_added: how many were not.
static bool put_numbers(struct apply_run *run, const struct event_session *s, int64_t *out_added)
{
  struct db_args args;
  struct db_rows *rows = NULL;
  if (!s->numbers.is_given) return true;
  db_args_init(&args);
  db_args_text(&args, s->code);
  db_args_i64(&args, s->numbers.from);
  db_args_i64(&args, s->numbers.to);
  db_args_text(&args, run->command->actor);
  db_args_text(&args, APPLY_REASON);
  bool is_ok = cli_query(run->cli, &SQL_APPLY_NUMBERS, &args, &rows);
  if (is_ok && strcmp(db_rows_text(rows, 0, 0), "ok") == 0) {
    *out_added = db_rows_i64(rows, 0, 2);
  } else if (is_ok) {
    char fault[300];
    (void)snprintf(fault, sizeof fault, "numbers: %s", db_rows_text(rows, 0, 1));
    apply_refuse(run, s, fault);
  }
  db_rows_free(rows);
  db_args_release(&args);
  return is_ok;
}

static bool is_done(const char *outcome)
{
  return strcmp(outcome, "created") == 0 || strcmp(outcome, "updated") == 0 || strcmp(outcome, "unchanged") == 0;
}

bool apply_session(struct apply_run *run, struct event_session *s)
{
  struct before before = {0};
  struct db_rows *rows = NULL;
  bool is_refused = false;
  char fault[JSONX_WHY_BYTES];
  const struct scheduler_conf *conf = run->conf;
  if (activity_doc_check_provider(s->doc, &conf->providers, &conf->charging_providers, fault) != RESULT_OK) {
    apply_refuse(run, s, fault);
    return true;
  }
  bool is_ok = apply_find_start(run, s, &is_refused);
  if (!is_ok || is_refused) return is_ok;
  is_ok = look_before(run, s, &before) && put(run, s, &rows);
  if (is_ok && is_done(db_rows_text(rows, 0, 0))) {
    struct done done = {.outcome = db_rows_text(rows, 0, 0), .changed = db_rows_text(rows, 0, 2)};
    is_ok = put_numbers(run, s, &done.numbers);
    if (is_ok && s->publish && (!before.exists || before.is_draft)) is_ok = publish(run, s, &done.is_published);
    if (is_ok) note_session(run, s, &before, &done);
  } else if (is_ok) {
    apply_refuse(run, s, db_rows_text(rows, 0, 1));
  }
  db_rows_free(rows);
  return is_ok;
}
