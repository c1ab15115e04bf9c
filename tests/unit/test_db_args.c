// SPDX-License-Identifier: Apache-2.0
// The binary form of arguments, byte for byte as PostgreSQL's array_recv reads it.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "common/db_internal.h"
#include "common/mem.h"

static int set_up(void **state)
{
  struct db_args *a = MEM_NEW(struct db_args);
  db_args_init(a);
  *state = a;
  return 0;
}

static int tear_down(void **state)
{
  db_args_release(*state);
  mem_free(*state);
  return 0;
}

static void assert_arg(const struct db_args *a, size_t i, const char *bytes, size_t len)
{
  struct db_wire_args wire;
  db_args_to_wire(a, &wire);
  assert_true(i < (size_t)wire.count);
  assert_int_equal(wire.lengths[i], len);
  assert_memory_equal(wire.values[i], bytes, len);
}
#define ASSERT_BINARY(a, i, literal) \
  (assert_true((a)->items[i].is_binary), assert_arg((a), (i), (literal), sizeof(literal) - 1))

static void scalars_are_text(void **state)
{
  struct db_args *a = *state;
  db_args_i64(a, INT64_MIN);
  db_args_bool(a, false);
  db_args_text(a, "plain");
  db_args_bytes(a, "cut here", 3);
  db_args_text(a, NULL);
  db_args_time(a, (struct wall_time){1});
  struct db_wire_args wire;
  db_args_to_wire(a, &wire);
  assert_int_equal(wire.count, 6);
  assert_string_equal(wire.values[0], "-9223372036854775808");
  assert_string_equal(wire.values[1], "f");
  assert_string_equal(wire.values[2], "plain");
  assert_string_equal(wire.values[3], "cut");
  assert_null(wire.values[4]);
  assert_string_equal(wire.values[5], "1970-01-01T00:00:00.000001Z");
  for (int i = 0; i < wire.count; i++) assert_int_equal(wire.formats[i], 0);
}

static void bytes_are_binary_even_when_empty(void **state)
{
  struct db_args *a = *state;
  db_args_binary(a, "\0\1", 2);
  db_args_binary(a, "", 0);
  ASSERT_BINARY(a, 0, "\0\1");
  struct db_wire_args wire;
  db_args_to_wire(a, &wire);
  assert_non_null(wire.values[1]);  // NULL would be the null value
  assert_int_equal(wire.lengths[1], 0);
}

static void an_array_of_int8(void **state)
{
  struct db_args *a = *state;
  db_args_array(a, DB_ARRAY_INT8);
  db_args_array_i64(a, 0x0102030405060708);
  db_args_array_i64(a, -2);
  db_args_array_end(a);
  ASSERT_BINARY(a, 0,
                "\0\0\0\1"
                "\0\0\0\0"
                "\0\0\0\x14"
                "\0\0\0\2"
                "\0\0\0\1"
                "\0\0\0\x08"
                "\1\2\3\4\5\6\7\x08"
                "\0\0\0\x08"
                "\xff\xff\xff\xff\xff\xff\xff\xfe");
}

static void an_array_of_int4_with_a_null(void **state)
{
  struct db_args *a = *state;
  db_args_array(a, DB_ARRAY_INT4);
  db_args_array_i64(a, -1);
  db_args_array_null(a);
  db_args_array_end(a);
  ASSERT_BINARY(a, 0,
                "\0\0\0\1"
                "\0\0\0\1"
                "\0\0\0\x17"
                "\0\0\0\2"
                "\0\0\0\1"
                "\0\0\0\4"
                "\xff\xff\xff\xff"
                "\xff\xff\xff\xff");
}

static void arrays_of_bool_text_and_time(void **state)
{
  struct db_args *a = *state;
  db_args_array(a, DB_ARRAY_BOOL);
  db_args_array_i64(a, 1);
  db_args_array_end(a);
  db_args_array(a, DB_ARRAY_TEXT);
  db_args_array_text(a, "", 0);
  db_args_array_text(a, "\xe6\x8a\xa2", 3);
  db_args_array_end(a);
  db_args_array(a, DB_ARRAY_TIMESTAMPTZ);
  db_args_array_time(a, (struct wall_time){946684800000005});
  db_args_array_end(a);
  ASSERT_BINARY(a, 0,
                "\0\0\0\1"
                "\0\0\0\0"
                "\0\0\0\x10"
                "\0\0\0\1"
                "\0\0\0\1"
                "\0\0\0\1"
                "\1");
  ASSERT_BINARY(a, 1,
                "\0\0\0\1"
                "\0\0\0\0"
                "\0\0\0\x19"
                "\0\0\0\2"
                "\0\0\0\1"
                "\0\0\0\0"
                "\0\0\0\3"
                "\xe6\x8a\xa2");
  ASSERT_BINARY(a, 2,
                "\0\0\0\1"
                "\0\0\0\0"
                "\0\0\x04\xa0"
                "\0\0\0\1"
                "\0\0\0\1"
                "\0\0\0\x08"
                "\0\0\0\0\0\0\0\5");
}

static void an_empty_array_has_no_dimension(void **state)
{
  struct db_args *a = *state;
  db_args_array(a, DB_ARRAY_TEXT);
  db_args_array_end(a);
  ASSERT_BINARY(a, 0,
                "\0\0\0\0"
                "\0\0\0\0"
                "\0\0\0\x19");
}

static void clear_makes_room_for_the_next_request(void **state)
{
  struct db_args *a = *state;
  for (int round = 0; round < 3; round++) {
    db_args_array(a, DB_ARRAY_INT4);
    db_args_array_i64(a, round);
    db_args_array_end(a);
    db_args_i64(a, round);
    assert_int_equal(a->count, 2);
    assert_int_equal(a->items[0].at, 0);
    db_args_clear(a);
    assert_int_equal(a->count, 0);
  }
}

static void an_overflow_is_remembered_and_harmless(void **state)
{
  struct db_args *a = *state;
  size_t half = DB_ARGS_BYTES_MAX / 2;
  char *large = mem_zalloc(1, half);
  db_args_binary(a, large, half);
  db_args_array(a, DB_ARRAY_TEXT);
  db_args_array_text(a, large, half);
  db_args_array_text(a, large, half);
  db_args_array_end(a);
  assert_int_equal(buf_result(&a->bytes), RESULT_TOO_BIG);
  db_args_clear(a);
  assert_int_equal(buf_result(&a->bytes), RESULT_OK);
  mem_free(large);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
  const struct CMUnitTest tests[] = {
      CASE(scalars_are_text),
      CASE(bytes_are_binary_even_when_empty),
      CASE(an_array_of_int8),
      CASE(an_array_of_int4_with_a_null),
      CASE(arrays_of_bool_text_and_time),
      CASE(an_empty_array_has_no_dimension),
      CASE(clear_makes_room_for_the_next_request),
      CASE(an_overflow_is_remembered_and_harmless),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
