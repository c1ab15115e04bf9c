// SPDX-License-Identifier: Apache-2.0
// When a session of an event file starts: the instant of a local time, or soon, for demonstrations.
// Owner: the command; blocking.
#include <stdio.h>
#include <string.h>

#include "common/text.h"
#include "scheduler/apply_run.h"
#include "sql_scheduler.inc"

static bool set_window(struct event_session *s, struct wall_time start, struct wall_time end)
{
  char text[TEXT_TIME_BYTES];
  text_from_time(start, text);
  (void)json_object_set_new(s->doc, "startAt", json_string(text));
  text_from_time(end, text);
  (void)json_object_set_new(s->doc, "endAt", json_string(text));
  return true;
}

static bool find_local(struct apply_run *run, struct event_session *s, bool *out_is_refused)
{
  struct db_args args;
  struct db_rows *rows = NULL;
  db_args_init(&args);
  db_args_text(&args, s->local);
  db_args_text(&args, run->event->time_zone);
  db_args_text(&args, s->offset);
  bool is_ok = cli_query(run->cli, &SQL_APPLY_INSTANT, &args, &rows);
  if (is_ok && db_rows_is_null(rows, 0, 0)) {
    char fault[256];
    (void)snprintf(fault, sizeof fault, "startAt: there is no %s%s in %s", s->local, s->offset, run->event->time_zone);
    apply_refuse(run, s, fault);
    *out_is_refused = true;
  } else if (is_ok) {
    struct wall_time start = db_rows_time(rows, 0, 0);
    (void)set_window(s, start, wall_after(start, s->duration));
  }
  db_rows_free(rows);
  db_args_release(&args);
  return is_ok;
}

// --- demonstrations

// What codes made from this pattern look like, as a regular expression.
static void pattern_to_regex(const char *pattern, char *out, size_t size)
{
  static const struct {
    const char *word, *regex;
  } words[] = {{"{date}", "[0-9]{8}"}, {"{time}", "[0-9]{6}"}, {"{n}", "[0-9]+"}, {".", "[.]"}};
  size_t len = (size_t)snprintf(out, size, "^");
  for (const char *p = pattern; *p != '\0' && len + 12 < size;) {
    const char *piece = NULL;
    size_t taken = 1;
    for (size_t i = 0; i < ARRAY_LEN(words) && piece == NULL; i++) {
      if (strncmp(p, words[i].word, strlen(words[i].word)) != 0) continue;
      piece = words[i].regex;
      taken = strlen(words[i].word);
    }
    if (piece != NULL)
      len += (size_t)snprintf(out + len, size - len, "%s", piece);
    else
      len += (size_t)snprintf(out + len, size - len, "%c", *p);
    p += taken;
  }
  (void)snprintf(out + len, size - len, "$");
}

static bool is_named_by_start(const struct event_session *s)
{
  return event_session_is_demonstration(s) &&
         (strstr(s->pattern, "{date}") != NULL || strstr(s->pattern, "{time}") != NULL);
}

static const struct event_session *last_named_by_start(const struct event_file *event)
{
  const struct event_session *last = NULL;
  for (size_t i = 0; i < event->session_count; i++) {
    const struct event_session *s = &event->sessions[i];
    if (is_named_by_start(s) && (last == NULL || s->after.us > last->after.us)) last = s;
  }
  return last;
}

// What the file made before is kept while its last session has not begun; then it makes new ones.
static bool find_begin(struct apply_run *run)
{
  struct db_args args;
  struct db_rows *rows = NULL;
  char regex[1024];
  const struct event_session *last = last_named_by_start(run->event);
  pattern_to_regex(last->pattern, regex, sizeof regex);
  db_args_init(&args);
  db_args_text(&args, run->event->code);
  db_args_text(&args, regex);
  bool is_ok = cli_query(run->cli, &SQL_APPLY_LATEST_START, &args, &rows);
  if (is_ok) {
    struct wall_time latest = db_rows_time(rows, 0, 0);
    run->begin = latest.us > run->now.us ? wall_after(latest, span_us(-last->after.us)) : run->now;
    run->begin.us = (run->begin.us + 999999) / 1000000 * 1000000;  // codes tell whole seconds
  }
  db_rows_free(rows);
  db_args_release(&args);
  return is_ok;
}

static bool name_by_start(struct apply_run *run, struct event_session *s, struct wall_time start)
{
  struct db_args args;
  struct db_rows *rows = NULL;
  struct conf_fault fault;
  db_args_init(&args);
  db_args_time(&args, start);
  db_args_text(&args, run->event->time_zone);
  bool is_ok = cli_query(run->cli, &SQL_APPLY_LOCAL_NAME, &args, &rows);
  if (is_ok &&
      event_session_name(run->event, s, db_rows_text(rows, 0, 0), db_rows_text(rows, 0, 1), &fault) != RESULT_OK) {
    (void)fprintf(stderr, "%s\n", fault.text);
    run->cli->exit_code = EXIT_DATA;
    is_ok = false;
  }
  db_rows_free(rows);
  db_args_release(&args);
  return is_ok;
}

// A session that exists keeps its times, so that applying the file again changes nothing.
static bool find_named(struct apply_run *run, struct event_session *s)
{
  struct db_args args;
  struct db_rows *rows = NULL;
  db_args_init(&args);
  db_args_text(&args, s->code);
  bool is_ok = cli_query(run->cli, &SQL_APPLY_PRESENT, &args, &rows);
  if (is_ok && db_rows_count(rows) > 0) {
    (void)set_window(s, db_rows_time(rows, 0, 1), db_rows_time(rows, 0, 2));
  } else if (is_ok) {
    struct wall_time start = wall_after(run->now, s->after);
    (void)set_window(s, start, wall_after(start, s->duration));
  }
  db_rows_free(rows);
  db_args_release(&args);
  return is_ok;
}

bool apply_find_start(struct apply_run *run, struct event_session *s, bool *out_is_refused)
{
  *out_is_refused = false;
  if (!event_session_is_demonstration(s)) return find_local(run, s, out_is_refused);
  if (!is_named_by_start(s)) return find_named(run, s);
  if (run->begin.us == 0 && !find_begin(run)) return false;
  struct wall_time start = wall_after(run->begin, s->after);
  return name_by_start(run, s, start) && set_window(s, start, wall_after(start, s->duration));
}
