// SPDX-License-Identifier: Apache-2.0
// Tests of the chain of the operator log: each way of damaging it is found at the first row that shows it.
// Owner: unit tests.
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "common/compiler.h"
#include "reconciler/log_chain.h"

#define ROWS 6

struct book {
  struct log_row rows[ROWS];
  size_t count;
  struct log_anchor head;
};

static void seal(struct log_row *row)
{
  struct signature *s = signature_new();
  assert_int_equal(log_chain_hash(s, row, row->hash), RESULT_OK);
  signature_free(s);
}

static struct book write_book(void)
{
  struct book b = {.count = ROWS};
  struct signature *s = signature_new();
  uint8_t before[LOG_HASH_BYTES];
  signature_sha256(s, "largesse operator log", 21, before);
  signature_free(s);
  for (int i = 0; i < ROWS; i++) {
    b.rows[i] = (struct log_row){.seq = i + 1,
                                 .at_us = 1000 + i,
                                 .actor = "ann",
                                 .action = "a.b",
                                 .target = "t",
                                 .reason = i % 2 == 0 ? "why" : NULL,
                                 .detail = "{}"};
    memcpy(b.rows[i].before, before, sizeof before);
    seal(&b.rows[i]);
    memcpy(before, b.rows[i].hash, sizeof before);
  }
  b.head.seq = ROWS;
  memcpy(b.head.hash, before, sizeof before);
  return b;
}

// What is found, "" for nothing, and at which row.
static void assert_found(const struct book *b, int64_t from, const struct log_anchor *anchor, int64_t seq,
                         const char *fault)
{
  struct log_chain c;
  bool is_well = true;
  log_chain_init(&c, from, anchor != NULL ? anchor : &(struct log_anchor){.seq = 0});
  for (size_t i = 0; is_well && i < b->count; i++)
    if (b->rows[i].seq >= from) is_well = log_chain_put(&c, &b->rows[i]);
  if (is_well) is_well = log_chain_end(&c, &b->head, b->count > 0 ? b->rows[b->count - 1].seq : 0);
  assert_string_equal(c.fault, fault);
  assert_int_equal(is_well, fault[0] == '\0');
  if (!is_well) assert_int_equal(c.fault_seq, seq);
  log_chain_release(&c);
}

static void remove_row(struct book *b, size_t at)
{
  memmove(&b->rows[at], &b->rows[at + 1], (b->count - at - 1) * sizeof *b->rows);
  b->count--;
}

static void a_whole_chain_is_whole(void **state)
{
  (void)state;
  struct book b = write_book();
  struct log_anchor middle = {.seq = 3};
  memcpy(middle.hash, b.rows[2].hash, sizeof middle.hash);
  assert_found(&b, 1, NULL, 0, "");
  assert_found(&b, 1, &middle, 0, "");
  assert_found(&b, 4, NULL, 0, "");
  assert_found(&b, 1, &b.head, 0, "");
}

static void every_member_of_a_row_is_sealed(void **state)
{
  (void)state;
  for (int member = 0; member < 7; member++) {
    struct book b = write_book();
    struct log_row *row = &b.rows[2];
    switch (member) {
      case 0: row->at_us++; break;
      case 1: row->actor = "bob"; break;
      case 2: row->action = "a.c"; break;
      case 3: row->target = "u"; break;
      case 4: row->reason = NULL; break;
      case 5: row->detail = "{ }"; break;
      default: row->hash[31] ^= 1; break;
    }
    assert_found(&b, 1, NULL, 3, "its content was changed");
  }
  struct book b = write_book();  // an empty reason is not none
  b.rows[1].reason = "";
  assert_found(&b, 1, NULL, 2, "its content was changed");
  b = write_book();  // nor does a text slip from one member into the next
  b.rows[0].actor = "ann\", \"a.b";
  assert_found(&b, 1, NULL, 1, "its content was changed");
}

static void what_is_missing_or_put_in_is_named(void **state)
{
  (void)state;
  struct book b = write_book();
  remove_row(&b, 2);
  assert_found(&b, 1, NULL, 3, "this row is missing");
  remove_row(&b, 2);
  assert_found(&b, 1, NULL, 3, "this row and those up to 4 are missing");
  b = write_book();  // changed together with its own hash
  b.rows[2].actor = "bob";
  seal(&b.rows[2]);
  assert_found(&b, 1, NULL, 4, "it does not follow row 3: a row was put in between, or that one was replaced");
  b = write_book();
  remove_row(&b, 0);
  assert_found(&b, 1, NULL, 1, "this row is missing");
}

static void ends_are_told_from_the_head_and_from_anchors(void **state)
{
  (void)state;
  struct book b = write_book();
  struct log_anchor anchor = b.head;
  b.count = 4;
  assert_found(&b, 1, NULL, 5, "this row and those up to 6 are missing: the end of the log was cut off, its head says");
  b.head.seq = 4;
  memcpy(b.head.hash, b.rows[3].hash, sizeof b.head.hash);
  assert_found(&b, 1, NULL, 0, "");
  assert_found(&b, 1, &anchor, 5,
               "this row and those up to 6 are missing: the end of the log was cut off, the anchor says");
  b = write_book();
  b.head.hash[0] ^= 1;
  assert_found(&b, 1, NULL, 6, "the head of the log names another row");
  b = write_book();
  b.head.seq = 5;
  b.count = 5;
  memcpy(b.head.hash, b.rows[4].hash, sizeof b.head.hash);
  b.rows[4].actor = "bob";  // the whole log written anew, head and all
  seal(&b.rows[4]);
  memcpy(b.head.hash, b.rows[4].hash, sizeof b.head.hash);
  anchor.seq = 5;
  assert_found(&b, 1, NULL, 0, "");
  assert_found(&b, 1, &anchor, 5, "it is not the row that the anchor was taken of: the log was written anew");
}

static void anchors_are_read_strictly(void **state)
{
  (void)state;
  static const char *const bad[] = {"", "1", ":", "1:", "0:00", "-1:00", "1:00", "1 :00", "x:y"};
  struct log_anchor a = {.seq = 7};
  for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
    assert_int_equal(log_anchor_read(bad[i], &a), RESULT_INVALID);
    assert_int_equal(a.seq, 7);
  }
  assert_int_equal(log_anchor_read("12:00ff000000000000000000000000000000000000000000000000000000000001", &a),
                   RESULT_OK);
  assert_int_equal(a.seq, 12);
  assert_int_equal(a.hash[1], 0xff);
  assert_int_equal(a.hash[31], 1);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_whole_chain_is_whole),
      cmocka_unit_test(every_member_of_a_row_is_sealed),
      cmocka_unit_test(what_is_missing_or_put_in_is_named),
      cmocka_unit_test(ends_are_told_from_the_head_and_from_anchors),
      cmocka_unit_test(anchors_are_read_strictly),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
