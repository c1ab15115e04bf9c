// SPDX-License-Identifier: Apache-2.0
// Tests of the keys in memory: found by their hash, ended in time, bounded; and of what is a key at all.
// Owner: unit tests.
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "common/compiler.h"
#include "common/key_ring.h"

static struct key_entry entry(unsigned n)
{
  struct key_entry e = {.id = (int64_t)n, .scopes = n};
  // Many of them share their first bytes, which the search goes by.
  e.hash[7] = (uint8_t)(n % 5);
  e.hash[20] = (uint8_t)n;
  e.hash[21] = (uint8_t)(n >> 8);
  return e;
}

static void every_key_is_found_and_no_other(void **state)
{
  (void)state;
  struct key_ring *r = key_ring_new();
  struct mono_time now = {1000};
  for (unsigned n = 0; n < KEY_RING_MAX; n++) {
    struct key_entry e = entry(n * 7919 % KEY_RING_MAX);  // in no order
    assert_int_equal(key_ring_add(r, &e), RESULT_OK);
  }
  struct key_entry more = entry(KEY_RING_MAX);
  assert_int_equal(key_ring_add(r, &more), RESULT_FULL);
  key_ring_ready(r);
  assert_int_equal(key_ring_count(r), KEY_RING_MAX);
  for (unsigned n = 0; n < KEY_RING_MAX; n++) {
    struct key_entry e = entry(n);
    const struct key_entry *found = key_ring_find(r, e.hash, now);
    assert_non_null(found);
    assert_int_equal(found->id, n);
  }
  assert_null(key_ring_find(r, more.hash, now));
  key_ring_clear(r);
  assert_null(key_ring_find(r, entry(3).hash, now));
  key_ring_free(r);
}

static void a_key_ends_in_time(void **state)
{
  (void)state;
  struct key_ring *r = key_ring_new();
  struct key_entry e = entry(1);
  e.has_end = true;
  e.ends = (struct mono_time){1000};
  assert_int_equal(key_ring_add(r, &e), RESULT_OK);
  key_ring_ready(r);
  assert_non_null(key_ring_find(r, e.hash, (struct mono_time){999}));
  assert_null(key_ring_find(r, e.hash, (struct mono_time){1000}));
  key_ring_free(r);
}

static void used_keys_are_told_once(void **state)
{
  (void)state;
  struct key_ring *r = key_ring_new();
  int64_t id = 0;
  for (unsigned n = 1; n <= 3; n++) {
    struct key_entry e = entry(n);
    assert_int_equal(key_ring_add(r, &e), RESULT_OK);
  }
  key_ring_ready(r);
  assert_false(key_ring_take_used(r, &id));
  assert_non_null(key_ring_find(r, entry(2).hash, (struct mono_time){0}));
  assert_true(key_ring_take_used(r, &id));
  assert_int_equal(id, 2);
  assert_false(key_ring_take_used(r, &id));
  assert_false(key_ring_take_used(r, &id));
  key_ring_free(r);
}

static void strangers_are_remembered_for_a_while(void **state)
{
  (void)state;
  struct key_ring *r = key_ring_new();
  for (unsigned n = 0; n < KEY_REFUSED_MAX + 10; n++) key_ring_refuse(r, entry(n).hash);
  assert_false(key_ring_is_refused(r, entry(9).hash));  // the oldest have made room
  assert_true(key_ring_is_refused(r, entry(10).hash));
  assert_true(key_ring_is_refused(r, entry(KEY_REFUSED_MAX + 9).hash));
  key_ring_clear(r);
  assert_false(key_ring_is_refused(r, entry(10).hash));
  key_ring_free(r);
}

static void keys_have_a_shape(void **state)
{
  (void)state;
  static const char good[] = "lg_ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmno-_";
  assert_int_equal(strlen(good), KEY_CHARS);
  assert_true(key_has_shape(good, KEY_CHARS));
  assert_false(key_has_shape(good, KEY_CHARS - 1));
  assert_false(key_has_shape("lgxABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmno-_", KEY_CHARS));
  assert_false(key_has_shape("lg_ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmno+/", KEY_CHARS));
  char with_nul[KEY_CHARS + 1];
  memcpy(with_nul, good, sizeof good);
  with_nul[10] = '\0';
  assert_false(key_has_shape(with_nul, KEY_CHARS));
}

static void secrets_are_text(void **state)
{
  (void)state;
  uint8_t bytes[KEY_HASH_BYTES];
  char text[KEY_SECRET_CHARS + 1];
  memset(bytes, 0xff, sizeof bytes);
  key_secret_text(bytes, text);
  assert_string_equal(text, "__________________________________________8");
  memset(bytes, 0xfb, sizeof bytes);
  key_secret_text(bytes, text);
  assert_true(key_is_secret(text, strlen(text)));
  assert_memory_equal(text, "-_v7", 4);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_key_is_found_and_no_other),
      cmocka_unit_test(a_key_ends_in_time),
      cmocka_unit_test(used_keys_are_told_once),
      cmocka_unit_test(strangers_are_remembered_for_a_while),
      cmocka_unit_test(keys_have_a_shape),
      cmocka_unit_test(secrets_are_text),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
