// SPDX-License-Identifier: Apache-2.0
// Tests of common/doc_text.c: documents as rows of a table and as lines.
// Owner: nobody; one thread.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <string.h>
#include <cmocka.h>

#include "common/doc_text.h"
#include "common/jsonx.h"

static json_t *parsed(const char *text)
{
  json_t *doc = NULL;
  assert_int_equal(jsonx_parse(text, strlen(text), &doc, NULL), RESULT_OK);
  return doc;
}

static const struct doc_column columns[] = {
    {"NAME", "name", 6}, {"LEFT", "stock.left", 5}, {"NOTE", "note", 0}, {NULL, NULL, 0}};

static void check_row(const char *doc, const char *row)
{
  struct buf out;
  json_t *json = parsed(doc);
  buf_init(&out, 4096);
  doc_put_row(columns, json, &out);
  assert_string_equal(buf_text(&out), row);
  buf_release(&out);
  json_decref(json);
}

static void rows_stand_below_their_titles(void **state)
{
  (void)state;
  struct buf out;
  buf_init(&out, 4096);
  doc_put_titles(columns, &out);
  assert_string_equal(buf_text(&out), "NAME    LEFT   NOTE\n");
  buf_release(&out);
  check_row("{\"name\":\"tea\",\"stock\":{\"left\":12},\"note\":\"hot\"}", "tea     12     hot\n");
  check_row("{\"name\":\"茶茶\",\"stock\":{\"left\":-1},\"note\":\"\"}", "茶茶      -1     -\n");
}

static void what_is_missing_is_a_dash(void **state)
{
  (void)state;
  check_row("{}", "-       -      -\n");
  check_row("{\"name\":null,\"stock\":{},\"note\":null}", "-       -      -\n");
  check_row("{\"name\":\"x\",\"stock\":7,\"note\":true}", "x       -      yes\n");
  check_row("{\"name\":\"a longer name\",\"stock\":{\"left\":123456}}", "a longer name  123456  -\n");
}

static void nothing_in_a_document_moves_the_cursor(void **state)
{
  (void)state;
  check_row("{\"name\":\"a\\u001b[2J\",\"note\":\"b\\nc\"}", "a?[2J   -      b?c\n");
}

static void a_document_is_shown_as_lines(void **state)
{
  (void)state;
  struct buf out;
  json_t *json =
      parsed("{\"name\":\"tea\",\"stock\":{\"left\":1},\"moves\":[{\"from\":\"a\",\"to\":\"b\"}],\"none\":[]}");
  buf_init(&out, 4096);
  doc_put_text(json, &out);
  assert_string_equal(buf_text(&out), "name: tea\nstock:\n  left: 1\nmoves:\n  -  from a  to b\nnone: none\n");
  buf_release(&out);
  json_decref(json);
}

static void texts_of_several_lines_stand_below_their_entry(void **state)
{
  (void)state;
  struct buf out;
  json_t *json = parsed(
      "{\"calls\":[{\"n\":1,\"request\":\"POST /a\\n\\n{\\u001b}\\n\",\"code\":\"E\"},{\"n\":2,\"answer\":\"\\n\"}]}");
  buf_init(&out, 4096);
  doc_put_text(json, &out);
  assert_string_equal(
      buf_text(&out),
      "calls:\n  -  n 1  code E\n      request:\n        POST /a\n\n        {?}\n  -  n 2\n      answer:\n\n");
  buf_release(&out);
  json_decref(json);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rows_stand_below_their_titles),
      cmocka_unit_test(what_is_missing_is_a_dash),
      cmocka_unit_test(nothing_in_a_document_moves_the_cursor),
      cmocka_unit_test(a_document_is_shown_as_lines),
      cmocka_unit_test(texts_of_several_lines_stand_below_their_entry),
  };
  return cmocka_run_group_tests_name("doc_text", tests, NULL, NULL);
}
