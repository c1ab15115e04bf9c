// SPDX-License-Identifier: Apache-2.0
// Tests of scheduler/claim_lane.c and key_set.c: what leaves together, and that nobody overtakes himself.
// Owner: nobody; one thread.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "common/compiler.h"
#include "common/mem.h"
#include "common/text.h"
#include "scheduler/claim_lane.h"

enum { REQUESTS_MAX = 4000 };

struct scene {
  struct activity activity;
  struct claim_lane lane;
  struct claim_request *requests;
  size_t count;
  uint64_t seq;
};

static int set_up(void **state)
{
  struct scene *s = MEM_NEW(struct scene);
  s->requests = MEM_ARRAY(struct claim_request, REQUESTS_MAX);
  claim_lane_init(&s->lane, &s->activity, 1024);
  *state = s;
  return 0;
}

static int tear_down(void **state)
{
  struct scene *s = *state;
  mem_free(s->requests);
  mem_free(s);
  return 0;
}

static struct claim_request *arrive(struct scene *s, int64_t user_id, const char *biz_id, bool ask)
{
  assert_true(s->count < REQUESTS_MAX);
  struct claim_request *r = &s->requests[s->count++];
  r->user_id = user_id;
  r->biz_id_len = (uint8_t)snprintf(r->biz_id, sizeof r->biz_id, "%s", biz_id);
  r->seq = ++s->seq;
  claim_lane_add(&s->lane, r, ask);
  return r;
}

static void arrive_many(struct scene *s, size_t count)
{
  for (size_t i = 0; i < count; i++) {
    char biz_id[32];
    (void)snprintf(biz_id, sizeof biz_id, "many-%zu", s->count);
    (void)arrive(s, (int64_t)(1000000 + s->count), biz_id, true);
  }
}

static void all_that_waits_leaves_up_to_the_cap(void **state)
{
  struct scene *s = *state;
  struct lane_batch b;
  lane_batch_init(&b, 256);
  arrive_many(s, 300);
  assert_true(claim_lane_take_submits(&s->lane, &b, 1));
  assert_int_equal(b.count, 256);
  for (size_t i = 0; i < b.count; i++) assert_ptr_equal(b.rows[i], &s->requests[i]);
  assert_false(claim_lane_is_idle(&s->lane));
  claim_lane_returned(&s->lane, &b);
  assert_true(claim_lane_take_submits(&s->lane, &b, 1));
  assert_int_equal(b.count, 44);
  claim_lane_returned(&s->lane, &b);
  assert_false(claim_lane_take_submits(&s->lane, &b, 1));
  assert_true(claim_lane_is_idle(&s->lane));
  lane_batch_release(&b);
}

static void one_batch_at_a_time(void **state)
{
  struct scene *s = *state;
  struct lane_batch a, b;
  lane_batch_init(&a, 16);
  lane_batch_init(&b, 16);
  arrive_many(s, 40);
  assert_true(claim_lane_take_submits(&s->lane, &a, 1));
  assert_false(claim_lane_take_submits(&s->lane, &b, 1));
  assert_true(claim_lane_take_submits(&s->lane, &b, 2));
  assert_ptr_equal(b.rows[0], &s->requests[16]);
  claim_lane_returned(&s->lane, &a);
  claim_lane_returned(&s->lane, &b);
  lane_batch_release(&a);
  lane_batch_release(&b);
}

// u1 u2 u1' u3 u1'': the repeats wait, in their order; the others go.
static void repeats_wait_in_order(void **state)
{
  struct scene *s = *state;
  struct lane_batch b;
  lane_batch_init(&b, 256);
  struct claim_request *first = arrive(s, 1, "a", true), *other = arrive(s, 2, "b", true);
  struct claim_request *again = arrive(s, 1, "c", true), *third = arrive(s, 3, "d", true),
                       *last = arrive(s, 1, "e", true);
  arrive_many(s, 10);
  assert_true(claim_lane_take_submits(&s->lane, &b, 1));
  assert_int_equal(b.count, 13);
  assert_ptr_equal(b.rows[0], first);
  assert_ptr_equal(b.rows[1], other);
  assert_ptr_equal(b.rows[2], third);
  claim_lane_returned(&s->lane, &b);
  assert_true(claim_lane_take_submits(&s->lane, &b, 1));
  assert_int_equal(b.count, 1);
  assert_ptr_equal(b.rows[0], again);
  claim_lane_returned(&s->lane, &b);
  assert_true(claim_lane_take_submits(&s->lane, &b, 1));
  assert_ptr_equal(b.rows[0], last);
  claim_lane_returned(&s->lane, &b);
  lane_batch_release(&b);
}

// User 2 repeats user 1's bizId and must wait; what user 2 sends later waits behind it.
static void who_waits_holds_back_his_later_requests(void **state)
{
  struct scene *s = *state;
  struct lane_batch b;
  lane_batch_init(&b, 256);
  (void)arrive(s, 1, "same", true);
  struct claim_request *waits = arrive(s, 2, "same", true), *behind = arrive(s, 2, "other", true);
  arrive_many(s, 10);
  assert_true(claim_lane_take_submits(&s->lane, &b, 1));
  assert_int_equal(b.count, 11);
  for (size_t i = 0; i < b.count; i++) assert_true(b.rows[i] != waits && b.rows[i] != behind);
  claim_lane_returned(&s->lane, &b);
  assert_true(claim_lane_take_submits(&s->lane, &b, 1));
  assert_int_equal(b.count, 1);
  assert_ptr_equal(b.rows[0], waits);
  claim_lane_returned(&s->lane, &b);
  lane_batch_release(&b);
}

static void no_user_is_in_two_batches_under_way(void **state)
{
  struct scene *s = *state;
  struct lane_batch a, b;
  lane_batch_init(&a, 2);
  lane_batch_init(&b, 2);
  (void)arrive(s, 1, "a", true);
  (void)arrive(s, 2, "b", true);
  struct claim_request *again = arrive(s, 1, "c", true), *other = arrive(s, 3, "d", true),
                       *same_click = arrive(s, 4, "b", true);
  assert_true(claim_lane_take_submits(&s->lane, &a, 2));
  assert_int_equal(a.count, 2);
  assert_true(claim_lane_take_submits(&s->lane, &b, 2));
  assert_int_equal(b.count, 1);
  assert_ptr_equal(b.rows[0], other);
  claim_lane_returned(&s->lane, &a);
  assert_true(claim_lane_take_submits(&s->lane, &a, 2));
  assert_int_equal(a.count, 2);
  assert_ptr_equal(a.rows[0], again);
  assert_ptr_equal(a.rows[1], same_click);
  lane_batch_release(&a);
  lane_batch_release(&b);
}

// 200 clicks of one user at once must not become 200 batches: they go together, for the database's ordered way.
static void a_line_of_repeats_goes_in_order(void **state)
{
  struct scene *s = *state;
  struct lane_batch b;
  lane_batch_init(&b, 256);
  for (int i = 0; i < 200; i++) {
    char biz_id[32];
    (void)snprintf(biz_id, sizeof biz_id, "click-%d", i);
    (void)arrive(s, 7, biz_id, true);
  }
  size_t seen = 0, batches = 0;
  while (claim_lane_take_submits(&s->lane, &b, 1)) {
    batches++;
    for (size_t i = 0; i < b.count; i++) assert_ptr_equal(b.rows[i], &s->requests[seen++]);
    claim_lane_returned(&s->lane, &b);
  }
  assert_int_equal(seen, 200);
  assert_true(batches <= 5);
  lane_batch_release(&b);
}

// Whatever mix arrives, each user's and each click's requests leave in the order in which they came.
static void order_holds_for_any_mix(void **state)
{
  struct scene *s = *state;
  struct lane_batch b;
  lane_batch_init(&b, 32);
  uint64_t random = 42;
  for (int i = 0; i < 3000; i++) {
    char biz_id[32];
    random = random * 6364136223846793005u + 1442695040888963407u;
    (void)snprintf(biz_id, sizeof biz_id, "click-%u", (unsigned)(random >> 33) % 200);
    (void)arrive(s, (int64_t)((random >> 20) % 97 + 1), biz_id, true);
  }
  uint64_t last_of_user[98] = {0}, last_of_click[200] = {0};
  size_t seen = 0;
  while (claim_lane_take_submits(&s->lane, &b, 1)) {
    for (size_t i = 0; i < b.count; i++, seen++) {
      const struct claim_request *r = b.rows[i];
      int64_t click = -1;
      assert_int_equal(text_to_i64(r->biz_id + 6, r->biz_id_len - 6u, &click), RESULT_OK);
      assert_true(r->seq > last_of_user[r->user_id]);
      assert_true(r->seq > last_of_click[click]);
      last_of_user[r->user_id] = last_of_click[click] = r->seq;
    }
    claim_lane_returned(&s->lane, &b);
  }
  assert_int_equal(seen, 3000);
  lane_batch_release(&b);
}

static void lookups_wait_for_earlier_submits(void **state)
{
  struct scene *s = *state;
  struct lane_batch submit, lookup;
  lane_batch_init(&submit, 8);
  lane_batch_init(&lookup, 8);
  struct claim_request *early = arrive(s, 1, "z", false);
  (void)arrive(s, 2, "a", true);
  struct claim_request *late = arrive(s, 2, "a", false);
  assert_true(claim_lane_take_lookups(&s->lane, &lookup));
  assert_int_equal(lookup.count, 1);
  assert_ptr_equal(lookup.rows[0], early);
  assert_false(claim_lane_take_lookups(&s->lane, &submit));  // one at a time
  claim_lane_returned(&s->lane, &lookup);
  assert_false(claim_lane_take_lookups(&s->lane, &lookup));  // the submit before it waits
  assert_true(claim_lane_take_submits(&s->lane, &submit, 1));
  assert_false(claim_lane_take_lookups(&s->lane, &lookup));  // … or is under way
  claim_lane_returned(&s->lane, &submit);
  assert_true(claim_lane_take_lookups(&s->lane, &lookup));
  assert_ptr_equal(lookup.rows[0], late);
  assert_false(claim_lane_is_idle(&s->lane));
  claim_lane_returned(&s->lane, &lookup);
  assert_true(claim_lane_is_idle(&s->lane));
  lane_batch_release(&submit);
  lane_batch_release(&lookup);
}

static void put_back_goes_first(void **state)
{
  struct scene *s = *state;
  struct lane_batch b;
  lane_batch_init(&b, 8);
  arrive_many(s, 4);
  assert_true(claim_lane_take_submits(&s->lane, &b, 1));
  arrive_many(s, 2);
  claim_lane_returned(&s->lane, &b);
  while (b.count > 0) claim_lane_put_back(&s->lane, b.rows[--b.count]);
  s->lane.row_cap = 3;  // what a spoiled batch does
  assert_true(claim_lane_take_submits(&s->lane, &b, 1));
  assert_int_equal(b.count, 3);
  for (size_t i = 0; i < 3; i++) assert_ptr_equal(b.rows[i], &s->requests[i]);
  claim_lane_returned(&s->lane, &b);
  assert_true(claim_lane_take_submits(&s->lane, &b, 1));
  for (size_t i = 0; i < 3; i++) assert_ptr_equal(b.rows[i], &s->requests[3 + i]);
  claim_lane_returned(&s->lane, &b);
  lane_batch_release(&b);
}

static void key_set_remembers_and_forgets(void **state)
{
  (void)state;
  struct key_set k;
  key_set_init(&k, 100);
  for (int64_t i = 0; i < 100; i++) assert_true(key_set_add(&k, key_of_user(i)));
  for (int64_t i = 0; i < 100; i++) assert_true(key_set_has(&k, key_of_user(i)));
  for (int64_t i = 0; i < 100; i++) assert_false(key_set_add(&k, key_of_user(i)));
  assert_false(key_set_has(&k, key_of_user(100)));
  assert_false(key_set_has(&k, key_of_biz_id("1", 1)));
  key_set_clear(&k);
  for (int64_t i = 0; i < 100; i++) assert_false(key_set_has(&k, key_of_user(i)));
  key_set_release(&k);
}

// One number is bought by one batch at a time, and requests with many numbers each do not overfill what is remembered.
static void no_number_is_in_two_batches_under_way(void **state)
{
  struct scene *s = *state;
  int64_t one[] = {7}, many[REQUESTS_MAX / 20][CLAIM_NUMBERS_MAX];
  struct lane_batch a, b;
  lane_batch_init(&a, 16);
  lane_batch_init(&b, 16);
  for (int i = 0; i < 2; i++) {
    struct claim_request *r = arrive(s, 1 + i, i == 0 ? "n1" : "n2", true);
    r->numbers = one;
    r->number_count = 1;
  }
  assert_true(claim_lane_take_submits(&s->lane, &a, 2));
  assert_int_equal(a.count, 1);
  assert_false(claim_lane_take_submits(&s->lane, &b, 2));
  claim_lane_returned(&s->lane, &a);
  assert_true(claim_lane_take_submits(&s->lane, &a, 2));
  claim_lane_returned(&s->lane, &a);
  for (size_t i = 0; i < ARRAY_LEN(many); i++) {
    for (size_t k = 0; k < CLAIM_NUMBERS_MAX; k++) many[i][k] = (int64_t)(i * CLAIM_NUMBERS_MAX + k);
    char biz_id[32];
    (void)snprintf(biz_id, sizeof biz_id, "m%zu", i);
    struct claim_request *r = arrive(s, 100 + (int64_t)i, biz_id, true);
    r->numbers = many[i];
    r->number_count = CLAIM_NUMBERS_MAX;
  }
  size_t taken = 0;
  while (claim_lane_take_submits(&s->lane, &a, 1)) {
    taken += a.count;
    claim_lane_returned(&s->lane, &a);
  }
  assert_int_equal(taken, ARRAY_LEN(many));
  lane_batch_release(&a);
  lane_batch_release(&b);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(all_that_waits_leaves_up_to_the_cap, set_up, tear_down),
      cmocka_unit_test_setup_teardown(one_batch_at_a_time, set_up, tear_down),
      cmocka_unit_test_setup_teardown(repeats_wait_in_order, set_up, tear_down),
      cmocka_unit_test_setup_teardown(who_waits_holds_back_his_later_requests, set_up, tear_down),
      cmocka_unit_test_setup_teardown(no_user_is_in_two_batches_under_way, set_up, tear_down),
      cmocka_unit_test_setup_teardown(a_line_of_repeats_goes_in_order, set_up, tear_down),
      cmocka_unit_test_setup_teardown(order_holds_for_any_mix, set_up, tear_down),
      cmocka_unit_test_setup_teardown(lookups_wait_for_earlier_submits, set_up, tear_down),
      cmocka_unit_test_setup_teardown(no_number_is_in_two_batches_under_way, set_up, tear_down),
      cmocka_unit_test_setup_teardown(put_back_goes_first, set_up, tear_down),
      cmocka_unit_test(key_set_remembers_and_forgets),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
