// SPDX-License-Identifier: Apache-2.0
// Strict JSON and the member-by-member reader (B81, B82, B83).
// One thread.
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/jsonx.h"
#include "common/limits.h"
#include "common/mem.h"

static json_t *parse_ok(const char *text)
{
  json_t *json = NULL;
  char why[JSONX_WHY_BYTES] = "";
  if (jsonx_parse(text, strlen(text), &json, why) != RESULT_OK) fail_msg("%s: %s", text, why);
  return json;
}

static void assert_refused(const char *text, size_t len, const char *reason)
{
  json_t untouched;
  json_t *json = &untouched;
  char why[JSONX_WHY_BYTES] = "";
  assert_int_equal(jsonx_parse(text, len, &json, why), RESULT_INVALID);
  assert_ptr_equal(json, &untouched);
  if (strstr(why, reason) == NULL) fail_msg("%s: %s", text, why);
  for (const char *c = why; *c != '\0'; c++) assert_in_range(*c, 0x20, 0x7E);
  assert_int_equal(jsonx_parse(text, len, &json, NULL), RESULT_INVALID);
}
#define ASSERT_REFUSED(text, reason) assert_refused((text), sizeof(text) - 1, (reason))

static void duplicate_keys_are_refused(void **state)
{
  (void)state;
  ASSERT_REFUSED("{\"quantity\":1,\"quantity\":-1}", "line 1 column ");
  ASSERT_REFUSED("{\"quantity\":1,\"quantity\":-1}", "duplicate object key");
  ASSERT_REFUSED("{\"a\":{\"bizId\":\"x\",\"bizId\":\"x\"}}", "duplicate object key");
  ASSERT_REFUSED("{\"a\":1,\"\\u0061\":1}", "duplicate object key");
}

static void malformed_documents_are_refused(void **state)
{
  (void)state;
  ASSERT_REFUSED("", "empty");
  ASSERT_REFUSED(" ", "line 1 column 1: ");
  ASSERT_REFUSED("{} x", "end of file expected");
  ASSERT_REFUSED("{}{}", "end of file expected");
  ASSERT_REFUSED("{}\0", "line 1 column");
  ASSERT_REFUSED("\xEF\xBB\xBF{}", "line 1 column");
  ASSERT_REFUSED("1", "expected");
  ASSERT_REFUSED("\"a\"", "expected");
  ASSERT_REFUSED("null", "expected");
  ASSERT_REFUSED("{\"a\":1,}", "line 1");
  ASSERT_REFUSED("[1,]", "line 1");
  ASSERT_REFUSED("{'a':1}", "line 1");
  ASSERT_REFUSED("{a:1}", "line 1");
  ASSERT_REFUSED("[01]", "line 1");
  ASSERT_REFUSED("[+1]", "line 1");
  ASSERT_REFUSED("[NaN]", "line 1");
  ASSERT_REFUSED("[1e999]", "line 1");
  ASSERT_REFUSED("[9223372036854775808]", "line 1");
  ASSERT_REFUSED("[-9223372036854775809]", "line 1");
  ASSERT_REFUSED("[true", "line 1");
  ASSERT_REFUSED("[\n\n  x]", "line 3 column 3");
  ASSERT_REFUSED("[// no\n1]", "line 1");
}

static void bad_text_is_refused(void **state)
{
  (void)state;
  ASSERT_REFUSED("{\"a\":\"x\\u0000y\"}", "line 1");
  ASSERT_REFUSED("{\"a\\u0000b\":1}", "line 1");
  ASSERT_REFUSED("{\"a\":\"x\0y\"}", "line 1");
  ASSERT_REFUSED("{\"a\":\"\xC0\xAF\"}", "line 1");
  ASSERT_REFUSED("{\"a\":\"\xED\xA0\x80\"}", "line 1");
  ASSERT_REFUSED("{\"a\":\"\\ud800\"}", "line 1");
  ASSERT_REFUSED("{\"a\":\"\\udc00\\ud800\"}", "line 1");
  ASSERT_REFUSED("{\"a\":\"\xFF\"}", "line 1");
  ASSERT_REFUSED("{\"a\":\"line\nbreak\"}", "line 1");
  ASSERT_REFUSED("{\"a\":\"cut", "line 1");
}

static void depth_is_limited_outside_strings(void **state)
{
  (void)state;
  char text[4001];
  memset(text, '[', 2000);
  memset(text + 2000, ']', 2000);
  assert_refused(text, 4000, "nested deeper than 32 levels");
  assert_refused(text, 2000, "nested deeper than 32 levels");
  json_t *json = NULL;
  assert_int_equal(jsonx_parse(text + 2000 - JSON_DEPTH_MAX, 2 * JSON_DEPTH_MAX, &json, NULL), RESULT_OK);
  json_decref(json);
  json_decref(parse_ok("[\"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[\\\"[[\"]"));
}

static void a_huge_document_is_too_big(void **state)
{
  (void)state;
  char *text = MEM_ARRAY(char, JSON_BYTES_MAX + 1);
  memset(text, ' ', JSON_BYTES_MAX + 1);
  json_t *json = NULL;
  assert_int_equal(jsonx_parse(text, JSON_BYTES_MAX + 1, &json, NULL), RESULT_TOO_BIG);
  assert_null(json);
  mem_free(text);
}

static void what_is_written_keeps_order_and_numbers(void **state)
{
  (void)state;
  static const char text[] =
      "{\"z\":9007199254740993,\"a\":[-9223372036854775808,true,null,\"\xE4\xB8\xAD\\n\"],\"m\":{},\"d\":[-33.3,0.1,12."
      "5,99.995]}";
  json_t *json = parse_ok(text);
  struct buf out;
  buf_init(&out, 1000);
  jsonx_write(json, &out);
  assert_string_equal(buf_text(&out), text);
  buf_clear(&out);
  jsonx_write(json_object_get(json, "z"), &out);
  assert_string_equal(buf_text(&out), "9007199254740993");
  json_decref(json);
  buf_release(&out);
}

// Reads one member `v` in all ways that a test asks for, and returns the fault.
enum way { WAY_I64, WAY_ID, WAY_BOOL, WAY_TEXT, WAY_TIME, WAY_SPAN, WAY_OBJECT, WAY_ARRAY };
struct values {
  int64_t number;
  bool flag;
  const char *text;
  struct wall_time time;
  struct span span;
  char fault[JSONX_WHY_BYTES];
};

static enum result read_v(const char *document, enum way way, bool required, struct values *out)
{
  json_t *json = parse_ok(document);
  struct jsonx_reader r;
  jsonx_reader_init(&r, json, "stock");
  *out = (struct values){.number = -7, .time = {-7}, .span = {-7}};
  switch (way) {
    case WAY_I64: jsonx_read_i64(&r, "v", required, 1, 2147483647, &out->number); break;
    case WAY_ID: jsonx_read_id(&r, "v", required, &out->number); break;
    case WAY_BOOL: jsonx_read_bool(&r, "v", required, &out->flag); break;
    case WAY_TEXT: out->text = jsonx_read_text(&r, "v", required, 3) != NULL ? "read" : NULL; break;
    case WAY_TIME: jsonx_read_time(&r, "v", required, &out->time); break;
    case WAY_SPAN: jsonx_read_span(&r, "v", required, &out->span); break;
    case WAY_OBJECT: out->flag = jsonx_read_object(&r, "v", required) != NULL; break;
    case WAY_ARRAY: out->flag = jsonx_read_array(&r, "v", required) != NULL; break;
  }
  enum result result = jsonx_reader_finish(&r);
  memcpy(out->fault, r.fault, sizeof(out->fault));
  json_decref(json);
  return result;
}

static void assert_fault(const char *document, enum way way, const char *expected)
{
  struct values v;
  assert_int_equal(read_v(document, way, true, &v), RESULT_INVALID);
  assert_string_equal(v.fault, expected);
  assert_true(v.number == -7 && v.time.us == -7 && v.span.us == -7 && v.text == NULL && !v.flag);
}

static void quantities_are_whole_and_in_range(void **state)
{
  (void)state;
  static const char *const wrong[] = {"-1000",
                                      "-1",
                                      "0",
                                      "1.5",
                                      "1.0",
                                      "1e2",
                                      "\"1\"",
                                      "null",
                                      "true",
                                      "[]",
                                      "{}",
                                      "2147483648",
                                      "9223372036854775807"};
  for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
    char document[64];
    snprintf(document, sizeof(document), "{\"v\":%s}", wrong[i]);
    assert_fault(document, WAY_I64, "stock.v: must be an integer from 1 to 2147483647");
  }
  struct values v;
  assert_int_equal(read_v("{\"v\":2147483647}", WAY_I64, true, &v), RESULT_OK);
  assert_true(v.number == 2147483647);
}

static void ids_come_as_number_or_text(void **state)
{
  (void)state;
  struct values v;
  assert_int_equal(read_v("{\"v\":9223372036854775807}", WAY_ID, true, &v), RESULT_OK);
  assert_true(v.number == INT64_MAX);
  assert_int_equal(read_v("{\"v\":\"9007199254740993\"}", WAY_ID, true, &v), RESULT_OK);
  assert_true(v.number == 9007199254740993);
  static const char *const wrong[] = {"0",      "-1",     "1.0",    "\"0\"", "\"-1\"",
                                      "\"01\"", "\" 1\"", "\"1 \"", "\"\"",  "\"9223372036854775808\"",
                                      "null",   "true",   "[1]"};
  for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
    char document[64];
    snprintf(document, sizeof(document), "{\"v\":%s}", wrong[i]);
    assert_fault(document, WAY_ID, "stock.v: must be an id from 1 to 9223372036854775807");
  }
}

static void other_types_are_checked(void **state)
{
  (void)state;
  assert_fault("{\"v\":\"true\"}", WAY_BOOL, "stock.v: must be true or false");
  assert_fault("{\"v\":0}", WAY_BOOL, "stock.v: must be true or false");
  assert_fault("{\"v\":null}", WAY_TEXT, "stock.v: must be a text");
  assert_fault("{\"v\":12}", WAY_TEXT, "stock.v: must be a text");
  assert_fault("{\"v\":\"\xE4\xB8\xAD\xE4\xB8\xAD\xE4\xB8\xAD\xE4\xB8\xAD\"}", WAY_TEXT,
               "stock.v: must have at most 3 characters");
  assert_fault("{\"v\":\"2027-02-29T00:00:00Z\"}", WAY_TIME,
               "stock.v: must be an existing time such as \"2026-11-29T12:00:00+08:00\"");
  assert_fault("{\"v\":0}", WAY_TIME, "stock.v: must be an existing time such as \"2026-11-29T12:00:00+08:00\"");
  assert_fault("{\"v\":\"15\"}", WAY_SPAN, "stock.v: must be a duration with its unit, such as \"15m\"");
  assert_fault("{\"v\":15}", WAY_SPAN, "stock.v: must be a duration with its unit, such as \"15m\"");
  assert_fault("{\"v\":[]}", WAY_OBJECT, "stock.v: must be an object");
  assert_fault("{\"v\":{}}", WAY_ARRAY, "stock.v: must be a list");
  struct values v;
  assert_int_equal(read_v("{\"v\":\"\xE4\xB8\xAD\xE4\xB8\xAD\xE4\xB8\xAD\"}", WAY_TEXT, true, &v), RESULT_OK);
  assert_non_null(v.text);
  assert_int_equal(read_v("{\"v\":\"15m\"}", WAY_SPAN, true, &v), RESULT_OK);
  assert_true(v.span.us == 900000000);
  assert_int_equal(read_v("{\"v\":\"1970-01-01T00:00:01Z\"}", WAY_TIME, true, &v), RESULT_OK);
  assert_true(v.time.us == 1000000);
  assert_int_equal(read_v("{\"v\":[]}", WAY_ARRAY, true, &v), RESULT_OK);
  assert_true(v.flag);
}

static void missing_members_are_faults_only_when_required(void **state)
{
  (void)state;
  struct values v;
  for (int way = WAY_I64; way <= WAY_ARRAY; way++) {
    assert_fault("{}", (enum way)way, "stock.v: is missing");
    assert_int_equal(read_v("{}", (enum way)way, false, &v), RESULT_OK);
    assert_true(v.number == -7 && v.time.us == -7 && v.span.us == -7 && v.text == NULL && !v.flag);
  }
}

static void unknown_members_are_faults(void **state)
{
  (void)state;
  assert_fault("{\"w\":1}", WAY_BOOL, "stock.v: is missing");
  struct values v;
  assert_int_equal(read_v("{\"v\":true,\"w\":1}", WAY_BOOL, true, &v), RESULT_INVALID);
  assert_string_equal(v.fault, "stock.w: is not known here");
  assert_int_equal(read_v("{\"v\":true,\"e\\nvil\\u2028\":1}", WAY_BOOL, true, &v), RESULT_INVALID);
  assert_string_equal(v.fault, "stock.e?vil???: is not known here");
  assert_int_equal(read_v("{\"v\":true,\"V\":1}", WAY_BOOL, true, &v), RESULT_INVALID);
}

static void the_first_fault_is_kept(void **state)
{
  (void)state;
  json_t *json = parse_ok("{\"a\":1,\"b\":2,\"c\":3}");
  struct jsonx_reader r;
  int64_t number = 5;
  jsonx_reader_init(&r, json, "");
  assert_true(jsonx_has(&r, "c"));
  assert_false(jsonx_has(&r, "d"));
  jsonx_read_i64(&r, "a", true, 0, INT64_MAX, &number);
  assert_true(number == 1);
  jsonx_reader_fail(&r, "a", "must differ from b");
  jsonx_read_i64(&r, "b", true, 0, 1, &number);
  jsonx_reader_fail(&r, "b", "later");
  assert_true(number == 1);
  assert_int_equal(jsonx_reader_finish(&r), RESULT_INVALID);
  assert_string_equal(r.fault, "a: must differ from b");
  jsonx_reader_init(&r, json_object_get(json, "a"), "");
  assert_int_equal(jsonx_reader_finish(&r), RESULT_INVALID);
  assert_string_equal(r.fault, "must be an object");
  jsonx_reader_init(&r, NULL, "x");
  assert_false(jsonx_has(&r, "c"));
  assert_string_equal(r.fault, "x: must be an object");
  json_decref(json);
}

static void pointers_follow_rfc_6901(void **state)
{
  (void)state;
  json_t *json =
      parse_ok("{\"foo\":[\"bar\",\"baz\"],\"\":0,\"a/b\":1,\"c%d\":2,\"m~n\":8,\"~1\":9,\"o\":{\"p\":null}}");
  assert_ptr_equal(jsonx_pointer(json, ""), json);
  assert_string_equal(json_string_value(jsonx_pointer(json, "/foo/1")), "baz");
  assert_int_equal(json_integer_value(jsonx_pointer(json, "/a~1b")), 1);
  assert_int_equal(json_integer_value(jsonx_pointer(json, "/c%d")), 2);
  assert_int_equal(json_integer_value(jsonx_pointer(json, "/m~0n")), 8);
  assert_int_equal(json_integer_value(jsonx_pointer(json, "/~01")), 9);
  assert_true(json_is_integer(jsonx_pointer(json, "/")));
  assert_true(json_is_null(jsonx_pointer(json, "/o/p")));
  static const char *const nowhere[] = {
      "foo",      "/foo/2", "/foo/-", "/foo/01", "/foo/+1", "/foo/18446744073709551616",
      "/foo/0/x", "/nope",  "/m~2n",  "/m~",     "/o/p/q",  "/foo/"};
  for (size_t i = 0; i < ARRAY_LEN(nowhere); i++) assert_null(jsonx_pointer(json, nowhere[i]));
  assert_null(jsonx_pointer(NULL, "/a"));
  json_decref(json);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(duplicate_keys_are_refused),
      cmocka_unit_test(malformed_documents_are_refused),
      cmocka_unit_test(bad_text_is_refused),
      cmocka_unit_test(depth_is_limited_outside_strings),
      cmocka_unit_test(a_huge_document_is_too_big),
      cmocka_unit_test(what_is_written_keeps_order_and_numbers),
      cmocka_unit_test(quantities_are_whole_and_in_range),
      cmocka_unit_test(ids_come_as_number_or_text),
      cmocka_unit_test(other_types_are_checked),
      cmocka_unit_test(missing_members_are_faults_only_when_required),
      cmocka_unit_test(unknown_members_are_faults),
      cmocka_unit_test(the_first_fault_is_kept),
      cmocka_unit_test(pointers_follow_rfc_6901),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
