// SPDX-License-Identifier: Apache-2.0
// Unit tests of the simulator's ledger: what counts as a hit, an effect, a duplicate; bounds; growth.
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "tests/simulator/sim_ledger.c"

static const struct wall_time noon = {INT64_C(1764417600000000)};

static struct sim_text text(const char *s) { return (struct sim_text){s, strlen(s)}; }

static struct sim_order order(const char *request_id, const char *user_id, int64_t amount)
{
  return (struct sim_order){text(request_id), text(user_id), text("voucher-100"), text("CNY"), amount, 1, {0}};
}

static struct sim_entry *hit(struct sim_ledger *l, enum sim_kind kind, const char *request_id)
{
  struct sim_order o = order(request_id, "42", 100);
  struct sim_entry *e = NULL;
  assert_int_equal(sim_ledger_hit(l, kind, &o, &e), RESULT_OK);
  return e;
}

static void a_request_id_is_one_entry_however_often_it_comes(void **state)
{
  (void)state;
  struct sim_ledger *l = sim_ledger_new(10);
  struct sim_entry *e = hit(l, SIM_CREDIT, "1-1");
  assert_ptr_equal(hit(l, SIM_CREDIT, "1-1"), e);
  assert_ptr_not_equal(hit(l, SIM_CREDIT, "1-2"), e);
  assert_ptr_not_equal(hit(l, SIM_PAYMENT, "1-1"), e);
  assert_int_equal(e->hits, 2);
  assert_int_equal(sim_ledger_count(l), 3);
  assert_int_equal(sim_ledger_totals(l).duplicates, 1);
  assert_string_equal(sim_entry_request(e), "1-1");
  assert_string_equal(sim_entry_user(e), "42");
  assert_string_equal(sim_entry_reward(e), "voucher-100");
  assert_string_equal(e->currency, "CNY");
  sim_ledger_free(l);
}

static void other_content_under_a_known_id_is_a_conflict(void **state)
{
  (void)state;
  struct sim_ledger *l = sim_ledger_new(10);
  struct sim_entry *e = hit(l, SIM_CREDIT, "1-1"), *none = NULL;
  struct sim_order changed[] = {order("1-1", "43", 100), order("1-1", "42", 101), order("1-1", "42", 100),
                                order("1-1", "42", 100), order("1-1", "42", 100)};
  changed[2].quantity = 2;
  changed[3].currency = text("JPY");
  changed[4].reward_code = text("voucher-10");
  for (size_t i = 0; i < ARRAY_LEN(changed); i++) {
    assert_int_equal(sim_ledger_hit(l, SIM_CREDIT, &changed[i], &none), RESULT_CONFLICT);
    assert_null(none);
  }
  assert_int_equal(e->hits, 6);
  assert_int_equal(e->amount, 100);
  sim_ledger_free(l);
}

static void dedupe_applies_once_and_without_it_every_time(void **state)
{
  (void)state;
  struct sim_ledger *l = sim_ledger_new(10);
  struct sim_entry *e = hit(l, SIM_CREDIT, "1-1");
  assert_int_equal(e->status, SIM_NONE);
  assert_true(sim_ledger_apply(l, e, true, noon));
  assert_false(sim_ledger_apply(l, e, true, noon));
  assert_int_equal(e->effects, 1);
  assert_int_equal(e->status, SIM_SUCCESS);
  assert_true(sim_ledger_apply(l, e, false, noon));
  assert_int_equal(e->effects, 2);
  assert_int_equal(sim_ledger_totals(l).effects, 2);
  assert_int_equal(sim_ledger_effect_count(l), 2);
  assert_int_equal(sim_ledger_effect(l, 1)->ordinal, 1);
  assert_int_equal(sim_ledger_effect(l, 2)->ordinal, 2);
  assert_int_equal(sim_ledger_effect(l, 2)->at.us, noon.us);
  sim_ledger_free(l);
}

static void a_payment_moves_money_when_it_is_paid(void **state)
{
  (void)state;
  struct sim_ledger *l = sim_ledger_new(10);
  struct sim_entry *e = hit(l, SIM_PAYMENT, "1-1-p");
  uint32_t ordinal = 0;
  assert_false(sim_ledger_settle(l, e, SIM_SUCCESS, noon));
  assert_true(sim_ledger_apply(l, e, true, noon));
  assert_int_equal(e->status, SIM_PENDING);
  assert_int_equal(sim_ledger_effect(l, 1)->at.us, 0);
  assert_int_equal(sim_ledger_reverse(l, e, "1-1-f", true, noon, &ordinal), RESULT_NOT_FOUND);
  assert_true(sim_ledger_settle(l, e, SIM_FAILED, noon));
  assert_true(sim_ledger_effect(l, 1)->failed);
  assert_true(sim_ledger_settle(l, e, SIM_SUCCESS, noon));
  assert_false(sim_ledger_settle(l, e, SIM_FAILED, noon));
  assert_int_equal(e->status, SIM_SUCCESS);
  assert_int_equal(sim_ledger_effect(l, 1)->at.us, noon.us);
  assert_false(sim_ledger_effect(l, 1)->failed);
  assert_int_equal(sim_ledger_reverse(l, e, "1-1-f", true, noon, &ordinal), RESULT_OK);
  assert_int_equal(sim_ledger_effect(l, 2)->type, SIM_EFFECT_REFUND);
  sim_ledger_free(l);
}

static void a_closed_order_is_never_paid_and_a_paid_one_never_closed(void **state)
{
  (void)state;
  struct sim_ledger *l = sim_ledger_new(10);
  struct sim_entry *open = hit(l, SIM_PAYMENT, "1-1-p"), *paid = hit(l, SIM_PAYMENT, "1-2-p");
  struct sim_entry *failed = hit(l, SIM_PAYMENT, "1-3-p");
  assert_int_equal(sim_ledger_close(open), RESULT_NOT_FOUND);
  assert_true(sim_ledger_apply(l, open, true, noon) && sim_ledger_apply(l, paid, true, noon));
  assert_int_equal(sim_ledger_close(open), RESULT_OK);
  assert_int_equal(sim_ledger_close(open), RESULT_OK);
  assert_false(sim_ledger_settle(l, open, SIM_SUCCESS, noon) || sim_ledger_settle(l, open, SIM_FAILED, noon));
  assert_int_equal(open->status, SIM_CLOSED);
  assert_int_equal(sim_ledger_effect(l, 1)->at.us, 0);
  assert_true(sim_ledger_settle(l, paid, SIM_SUCCESS, noon));
  assert_int_equal(sim_ledger_close(paid), RESULT_CONFLICT);
  assert_int_equal(paid->status, SIM_SUCCESS);
  assert_true(sim_ledger_apply(l, failed, true, noon) && sim_ledger_settle(l, failed, SIM_FAILED, noon));
  assert_int_equal(sim_ledger_close(failed), RESULT_OK);  // the person cannot try once more
  assert_false(sim_ledger_settle(l, failed, SIM_SUCCESS, noon));
  sim_ledger_free(l);
}

static void a_reversal_is_known_by_its_refund_id(void **state)
{
  (void)state;
  struct sim_ledger *l = sim_ledger_new(10);
  struct sim_entry *e = hit(l, SIM_CREDIT, "1-1");
  uint32_t ordinal = 7;
  assert_int_equal(sim_ledger_reverse(l, e, "1-1-r", true, noon, &ordinal), RESULT_NOT_FOUND);
  assert_int_equal(ordinal, 7);
  assert_true(sim_ledger_apply(l, e, true, noon));
  assert_int_equal(sim_ledger_reverse(l, e, "1-1-r", true, noon, &ordinal), RESULT_OK);
  assert_int_equal(ordinal, 1);
  assert_int_equal(sim_ledger_reverse(l, e, "1-1-r", true, noon, &ordinal), RESULT_OK);
  assert_int_equal(e->reversals, 1);
  assert_int_equal(sim_ledger_reverse(l, e, "1-1-r", false, noon, &ordinal), RESULT_OK);
  assert_int_equal(e->reversals, 2);
  assert_int_equal(sim_ledger_reverse(l, e, "other", true, noon, &ordinal), RESULT_OK);
  assert_int_equal(ordinal, 3);
  assert_int_equal(sim_ledger_totals(l).reversals, 3);
  assert_int_equal(sim_ledger_totals(l).effects, 1);
  sim_ledger_free(l);
}

static void a_full_ledger_refuses_new_ids_and_knows_the_old(void **state)
{
  (void)state;
  struct sim_ledger *l = sim_ledger_new(2);
  (void)hit(l, SIM_CREDIT, "a");
  struct sim_entry *b = hit(l, SIM_CREDIT, "b"), *none = NULL;
  struct sim_order c = order("c", "42", 100);
  assert_int_equal(sim_ledger_hit(l, SIM_CREDIT, &c, &none), RESULT_FULL);
  assert_null(none);
  assert_null(sim_ledger_find(l, SIM_CREDIT, "c", 1));
  assert_ptr_equal(hit(l, SIM_CREDIT, "b"), b);
  for (int i = 0; i < 8; i++) assert_true(sim_ledger_apply(l, b, false, noon));
  assert_false(sim_ledger_apply(l, b, false, noon));  // 2 entries * 4
  sim_ledger_reset(l);
  assert_int_equal(sim_ledger_count(l), 0);
  assert_int_equal(sim_ledger_effect_count(l), 0);
  assert_int_equal(sim_ledger_totals(l).effects, 0);
  assert_null(sim_ledger_find(l, SIM_CREDIT, "b", 1));
  (void)hit(l, SIM_CREDIT, "c");
  sim_ledger_free(l);
}

static void many_entries_are_all_found_again(void **state)
{
  (void)state;
  enum { COUNT = 300000 };
  struct sim_ledger *l = sim_ledger_new(COUNT);
  char id[32];
  for (int i = 0; i < COUNT; i++) {
    (void)snprintf(id, sizeof id, "%d-%d", i % 7, i);
    assert_true(sim_ledger_apply(l, hit(l, SIM_CREDIT, id), true, noon));
  }
  for (int i = 0; i < COUNT; i++) {
    (void)snprintf(id, sizeof id, "%d-%d", i % 7, i);
    const struct sim_entry *e = sim_ledger_find(l, SIM_CREDIT, id, strlen(id));
    assert_non_null(e);
    assert_string_equal(sim_entry_request(e), id);
    assert_int_equal(e->number, i + 1);
    assert_int_equal(e->effects, 1);
  }
  assert_int_equal(sim_ledger_totals(l).duplicates, 0);
  sim_ledger_free(l);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_request_id_is_one_entry_however_often_it_comes),
      cmocka_unit_test(other_content_under_a_known_id_is_a_conflict),
      cmocka_unit_test(dedupe_applies_once_and_without_it_every_time),
      cmocka_unit_test(a_payment_moves_money_when_it_is_paid),
      cmocka_unit_test(a_closed_order_is_never_paid_and_a_paid_one_never_closed),
      cmocka_unit_test(a_reversal_is_known_by_its_refund_id),
      cmocka_unit_test(a_full_ledger_refuses_new_ids_and_knows_the_old),
      cmocka_unit_test(many_entries_are_all_found_again),
  };
  return cmocka_run_group_tests_name("sim_ledger", tests, NULL, NULL);
}
