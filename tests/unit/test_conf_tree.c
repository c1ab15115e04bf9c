// SPDX-License-Identifier: Apache-2.0
// YAML as a strict tree: what is refused, lines, quotes (B92).
// One thread.
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/conf.h"
#include "common/limits.h"
#include "common/mem.h"

static void assert_fault_of(const char *yaml, size_t len, const char *expected)
{
  struct conf_node untouched;
  struct conf_node *root = &untouched;
  struct conf_fault fault = {.text = ""};
  assert_int_equal(conf_tree_parse("e.yaml", yaml, len, &root, &fault), RESULT_INVALID);
  assert_string_equal(fault.text, expected);
  assert_ptr_equal(root, &untouched);
}
#define ASSERT_FAULT(yaml, expected) assert_fault_of((yaml), sizeof(yaml) - 1, (expected))

static struct conf_node *parse_ok(const char *yaml)
{
  struct conf_node *root = NULL;
  struct conf_fault fault = {.text = ""};
  if (conf_tree_parse("e.yaml", yaml, strlen(yaml), &root, &fault) != RESULT_OK) fail_msg("%s", fault.text);
  return root;
}

static void a_tree_keeps_order_text_quotes_and_lines(void **state)
{
  (void)state;
  struct conf_node *root =
      parse_ok("# comment\nb: no\na:\n  - 'no'\n  - \"x\\ty\"\n  - {k: v, l: }\nt: |\n  two\n  lines\n");
  assert_int_equal(root->kind, CONF_MAPPING);
  assert_int_equal(root->count, 3);
  assert_string_equal(root->children[0].key, "b");
  const struct conf_node *b = conf_tree_get(root, "b");
  assert_string_equal(b->text, "no");
  assert_false(b->quoted);
  assert_int_equal(b->line, 2);
  const struct conf_node *a = conf_tree_get(root, "a");
  assert_int_equal(a->kind, CONF_SEQUENCE);
  assert_int_equal(a->line, 3);
  assert_true(a->children[0].quoted);
  assert_string_equal(a->children[1].text, "x\ty");
  assert_int_equal(a->children[1].line, 5);
  assert_string_equal(conf_tree_get(&a->children[2], "l")->text, "");
  assert_string_equal(conf_tree_get(root, "t")->text, "two\nlines\n");
  assert_true(conf_tree_get(root, "t")->quoted);
  assert_null(conf_tree_get(root, "c"));
  assert_null(conf_tree_get(b, "c"));
  assert_null(conf_tree_get(NULL, "c"));
  conf_tree_free(root);
  conf_tree_free(NULL);
}

static void duplicate_keys_are_refused_at_every_level(void **state)
{
  (void)state;
  ASSERT_FAULT("retry: 1\nother: 2\nretry: 3\n", "e.yaml:3: key retry is repeated (first on line 1)");
  ASSERT_FAULT("a:\n  b: 1\n  b: 1\n", "e.yaml:3: key b is repeated (first on line 2)");
  ASSERT_FAULT("a: {b: 1, 'b': 1}\n", "e.yaml:1: key b is repeated (first on line 1)");
  ASSERT_FAULT("- {x: 1}\n- {y: 1, y: 2}\n", "e.yaml:2: key y is repeated (first on line 2)");
  conf_tree_free(parse_ok("a: {x: 1}\nb: {x: 1}\n"));
}

static void tabs_as_indentation_are_refused(void **state)
{
  (void)state;
  ASSERT_FAULT("a:\n\tb: 1\n", "e.yaml:2: a tab is used as indentation; use spaces");
  ASSERT_FAULT("a:\n  \tb: 1\n", "e.yaml:2: a tab is used as indentation; use spaces");
  ASSERT_FAULT("\t", "e.yaml:1: a tab is used as indentation; use spaces");
  conf_tree_free(parse_ok("a: \"x\ty\" \t# comment\n"));
}

static void anchors_aliases_tags_and_merge_keys_are_refused(void **state)
{
  (void)state;
  ASSERT_FAULT("a: &x 1\n", "e.yaml:1: anchors are not allowed");
  ASSERT_FAULT("a: &x {b: 1}\n", "e.yaml:1: anchors are not allowed");
  ASSERT_FAULT("a: &x [1]\n", "e.yaml:1: anchors are not allowed");
  ASSERT_FAULT("&x a: 1\n", "e.yaml:1: anchors are not allowed");
  ASSERT_FAULT("a: *x\n", "e.yaml:1: aliases are not allowed");
  ASSERT_FAULT("*x : 1\n", "e.yaml:1: aliases are not allowed");
  ASSERT_FAULT("a: 1\nb: !!str 1\n", "e.yaml:2: tags are not allowed");
  ASSERT_FAULT("a: !x {b: 1}\n", "e.yaml:1: tags are not allowed");
  ASSERT_FAULT("a: !x [1]\n", "e.yaml:1: tags are not allowed");
  ASSERT_FAULT("!x a: 1\n", "e.yaml:1: tags are not allowed");
  ASSERT_FAULT("a:\n  <<: {b: 1}\n", "e.yaml:2: merge keys are not allowed");
  ASSERT_FAULT("lol: &lol [x]\nb: [*lol, *lol]\n", "e.yaml:1: anchors are not allowed");
}

static void one_document_without_directives(void **state)
{
  (void)state;
  ASSERT_FAULT("a: 1\n---\nb: 2\n", "e.yaml:2: only one document is allowed");
  ASSERT_FAULT("---\n---\n", "e.yaml:2: only one document is allowed");
  ASSERT_FAULT("%YAML 1.1\n---\na: 1\n", "e.yaml:1: directives are not allowed");
  ASSERT_FAULT("%TAG ! tag:x,2000:\n---\na: 1\n", "e.yaml:1: directives are not allowed");
  conf_tree_free(parse_ok("---\na: 1\n...\n"));
}

static void keys_are_plain_texts(void **state)
{
  (void)state;
  ASSERT_FAULT("? [a, b]\n: 1\n", "e.yaml:1: a key must be a plain text");
  ASSERT_FAULT("{a: 1}: 2\n", "e.yaml:1: a key must be a plain text");
  ASSERT_FAULT("?\n: 1\n", "e.yaml:1: a key is empty");
  ASSERT_FAULT("\"\": 1\n", "e.yaml:1: a key is empty");
  ASSERT_FAULT("\"a\\0b\": 1\n", "e.yaml:1: a key must not contain NUL");
}

static void nul_and_invalid_utf8_are_refused_with_their_line(void **state)
{
  (void)state;
  ASSERT_FAULT("a: 1\nb: x\0y\n", "e.yaml:2: not valid UTF-8");
  ASSERT_FAULT("a: 1\n\nb: \xC0\xAF\n", "e.yaml:3: not valid UTF-8");
  ASSERT_FAULT("a: \xED\xA0\x80\n", "e.yaml:1: not valid UTF-8");
  ASSERT_FAULT("a: \"x\\0\"\n", "e.yaml:1: a text must not contain NUL");
  ASSERT_FAULT("a: \"\\uD800\"\n",
               "e.yaml:1: found invalid Unicode character escape code while parsing a quoted scalar");
}

static void syntax_errors_have_a_line(void **state)
{
  (void)state;
  struct conf_node *root = NULL;
  struct conf_fault fault = {.text = ""};
  static const char *const broken[] = {"a: 1\nb: [1, 2\nc: 3\n", "a: 1\n  b: 2\n", "a: 1\nb: 'x\n", "a: 1\n@: 1\n",
                                       "a: 1\nb: {c: ]\n"};
  for (size_t i = 0; i < ARRAY_LEN(broken); i++) {
    assert_int_equal(conf_tree_parse("e.yaml", broken[i], strlen(broken[i]), &root, &fault), RESULT_INVALID);
    int line = 0;
    for (const char *c = fault.text + strlen("e.yaml:"); *c >= '0' && *c <= '9'; c++) line = line * 10 + (*c - '0');
    assert_in_range(line, 2, 4);
  }
}

static void depth_is_limited(void **state)
{
  (void)state;
  char yaml[2001];
  memset(yaml, '[', 1000);
  memset(yaml + 1000, ']', 1000);
  assert_fault_of(yaml, 2000, "e.yaml:1: nested deeper than 32 levels");
  struct conf_node *root = NULL;
  struct conf_fault fault;
  assert_int_equal(conf_tree_parse("e", yaml + 1000 - 32, 64, &root, &fault), RESULT_OK);
  conf_tree_free(root);
}

static void a_block_has_a_bounded_number_of_keys(void **state)
{
  (void)state;
  struct buf yaml;
  buf_init(&yaml, 65536);
  for (int i = 0; i < CONF_KEYS_MAX; i++) buf_printf(&yaml, "k%d: 1\n", i);
  conf_tree_free(parse_ok(buf_text(&yaml)));
  buf_puts(&yaml, "more: 1\n");
  assert_fault_of(buf_text(&yaml), yaml.len, "e.yaml:513: more than 512 keys in one block");
  buf_release(&yaml);
}

static void crlf_and_byte_order_mark_are_read(void **state)
{
  (void)state;
  struct conf_node *root = parse_ok(
      "\xEF\xBB\xBF"
      "a: x\r\nb: y\r\n");
  assert_string_equal(conf_tree_get(root, "a")->text, "x");
  assert_string_equal(conf_tree_get(root, "b")->text, "y");
  conf_tree_free(root);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_tree_keeps_order_text_quotes_and_lines),
      cmocka_unit_test(duplicate_keys_are_refused_at_every_level),
      cmocka_unit_test(tabs_as_indentation_are_refused),
      cmocka_unit_test(anchors_aliases_tags_and_merge_keys_are_refused),
      cmocka_unit_test(one_document_without_directives),
      cmocka_unit_test(keys_are_plain_texts),
      cmocka_unit_test(nul_and_invalid_utf8_are_refused_with_their_line),
      cmocka_unit_test(syntax_errors_have_a_line),
      cmocka_unit_test(depth_is_limited),
      cmocka_unit_test(a_block_has_a_bounded_number_of_keys),
      cmocka_unit_test(crlf_and_byte_order_mark_are_read),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
