// SPDX-License-Identifier: Apache-2.0
// What the tests of operations share: a stack, claims under review, and the reconciler's calls and commands.
// Owner: the including test program.
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <jansson.h>

#include "common/compiler.h"
#include "common/mem.h"
#include "tests/support/claims.h"
#include "tests/support/delivery.h"
#include "tests/support/http.h"
#include "tests/support/simulator.h"
#include "tests/support/support.h"

UNUSED static int set_up(void **state)
{
  struct server *server = server_start();
  *state = delivery_stack(
      server, &(struct stack_options){.env = (const char *const[]){"LARGESSE_RECONCILER__OPERATIONS__EVERY=50ms",
                                                                   "LARGESSE_RECONCILER__FIGURES_EVERY=100ms",
                                                                   "LARGESSE_SCHEDULER__SWEEP__RATE=2000", NULL}});
  return 0;
}

// --- claims and letters

// Claims of users 1 … count, accepted and at once under review with a letter each; step says what is known of them.
UNUSED static void review_all(struct stack *s, const char *code, int count, const char *step)
{
  activity_make(s->sql, &(struct activity_terms){.code = code, .stock = count});
  sql_exec(
      s->sql,
      "select largesse.claim_submit(a.id, array(select 'b' || n from generate_series(1, %d) n), array(select "
      "n::bigint from generate_series(1, %d) n), array_fill(1, array[%d]), array_fill(null::text, array[%d]), '1 h')"
      "  from largesse.activity a where a.code = '%s';"
      "update largesse.claim c set review_since = now(), review_cause = '%s', next_attempt_at = null, attempts = 4, "
      "step = '%s' from largesse.activity a where a.id = c.activity_id and a.code = '%s';"
      "select largesse.dead_letter_open(array_agg(c.activity_id), array_agg(c.id), array_agg('simulator'::text), "
      "array_agg('%s'::text), array_agg(null::text), array_agg('no answer'::text))"
      "  from largesse.claim c join largesse.activity a on a.id = c.activity_id where a.code = '%s'",
      count, count, count, count, code, code, step, code, code, code);
}

UNUSED static char *claim_of(struct stack *s, const char *code, int user)
{
  char *id = sql_text(s->sql,
                      "select c.activity_id || '-' || c.id from largesse.claim c join largesse.activity a on a.id = "
                      "c.activity_id where a.code = '%s' and c.user_id = %d",
                      code, user);
  assert_non_null(id);
  return id;
}

UNUSED static int64_t count_claims(struct stack *s, const char *code, const char *status)
{
  return sql_int(
      s->sql,
      "select count(*) from largesse.claim c join largesse.activity a on a.id = c.activity_id where a.code = "
      "'%s' and c.status = '%s'",
      code, status);
}

// --- calls

UNUSED static int64_t number(const json_t *doc, const char *name)
{
  return json_integer_value(json_object_get(doc, name));
}
UNUSED static const char *text(const json_t *doc, const char *name)
{
  const char *value = json_string_value(json_object_get(doc, name));
  return value != NULL ? value : "";
}

UNUSED static json_t *call(struct stack *s, const char *method, const char *path, const char *body, int status)
{
  json_t *json = NULL;
  int got = http_json(s->reconciler_port, method, path, body, &json);
  if (got != status) {
    char *shown = json != NULL ? json_dumps(json, 0) : NULL;
    fail_msg("%s %s %s: %d instead of %d: %s", method, path, body, got, status, shown != NULL ? shown : "");
  }
  return json;
}

UNUSED static json_t *operation(struct stack *s, const char *id)
{
  char *path = support_format("/v1/operations/%s", id);
  json_t *doc = call(s, "GET", path, NULL, 200);
  mem_free(path);
  return doc;
}

UNUSED static bool is_finished(struct stack *s, const char *id)
{
  json_t *doc = operation(s, id);
  bool is_done = strcmp(text(doc, "state"), "done") == 0;
  assert_true(number(doc, "done") <= number(doc, "total"));
  json_decref(doc);
  return is_done;
}

UNUSED static int command(struct stack *s, struct buf *out, const char *const *args)
{
  buf_clear(out);
  return stack_command(s, "reconciler", args, out);
}
#define COMMAND(s, out, ...) command((s), (out), (const char *const[]){__VA_ARGS__, NULL})

UNUSED static void assert_told(const struct buf *out, const char *what)
{
  if (strstr(buf_text(out), what) == NULL) fail_msg("not told: %s\n%s", what, buf_text(out));
}

UNUSED static void the_books_agree(void **state)
{
  struct stack *s = *state;
  assert_int_equal(sql_int(s->sql,
                           "select count(*) from largesse.activity a, largesse.audit_definition d, lateral "
                           "largesse.audit_run(d.name, a.id) r where d.name in ('stock_not_matching_claims', "
                           "'usage_not_matching_claims', 'claim_under_review_without_dead_letter')"),
                   0);
}
