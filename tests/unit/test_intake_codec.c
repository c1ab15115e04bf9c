// SPDX-License-Identifier: Apache-2.0
// Bodies of lane messages: what is written is read again, anything else is refused with one line; and the moves of a
// job. One thread.
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "fulfiller/intake_codec.h"
#include "fulfiller/job.h"

static void what_is_written_is_read_again(void **state)
{
  struct claim_key keys[MESSAGE_CLAIMS_MAX], read[MESSAGE_CLAIMS_MAX];
  size_t counts[] = {1, 2, MESSAGE_CLAIMS_MAX};
  char why[INTAKE_WHY_BYTES];
  (void)state;
  for (size_t i = 0; i < MESSAGE_CLAIMS_MAX; i++)
    keys[i] = (struct claim_key){INT64_MAX - (int64_t)i, (int64_t)i + 1, (int32_t)i, ""};
  for (size_t i = 0; i < MESSAGE_CLAIMS_MAX; i += 2)
    memcpy(keys[i].trace, "0af7651916cd43dd8448eb211c80319c", TRACE_ID_BYTES);
  for (size_t n = 0; n < ARRAY_LEN(counts); n++) {
    struct buf body;
    size_t count = 0;
    buf_init(&body, 65536);
    intake_encode(keys, counts[n], &body);
    assert_int_equal(intake_decode(buf_text(&body), body.len, read, &count, why), RESULT_OK);
    assert_int_equal(count, counts[n]);
    for (size_t i = 0; i < count; i++) {
      assert_int_equal(read[i].activity_id, keys[i].activity_id);
      assert_int_equal(read[i].claim_id, keys[i].claim_id);
      assert_int_equal(read[i].attempt, keys[i].attempt);
      assert_string_equal(read[i].trace, keys[i].trace);
    }
    buf_release(&body);
  }
}

static void assert_unreadable(const char *body, const char *reason)
{
  struct claim_key keys[MESSAGE_CLAIMS_MAX];
  char why[INTAKE_WHY_BYTES] = "";
  size_t count = 77;
  memset(keys, 0x5A, sizeof keys);
  if (intake_decode(body, strlen(body), keys, &count, why) != RESULT_INVALID) fail_msg("was read: %s", body);
  assert_int_equal(count, 77);
  assert_int_equal(((const unsigned char *)keys)[0], 0x5A);
  if (strstr(why, reason) == NULL) fail_msg("%s: %s", body, why);
}

#define ONE(id, rest) "{\"v\":1,\"claims\":[{\"id\":" id ",\"attempt\":" rest "}]}"

// B59: such a message ends as a dead letter, with the reason.
static void anything_else_is_refused(void **state)
{
  (void)state;
  assert_unreadable("", "");
  assert_unreadable("x", "");
  assert_unreadable("[]", "object");
  assert_unreadable("{}", "v");
  assert_unreadable("{\"v\":2,\"claims\":[{\"id\":\"1-2\",\"attempt\":0}]}", "v");
  assert_unreadable("{\"v\":1,\"claims\":[]}", "1 to 100");
  assert_unreadable("{\"v\":1,\"claims\":{}}", "claims");
  assert_unreadable("{\"v\":1,\"claims\":[7]}", "claims[0]");
  assert_unreadable("{\"v\":1,\"claims\":[{\"id\":\"1-2\",\"attempt\":0}],\"more\":1}", "more");
  assert_unreadable("{\"v\":1,\"v\":1,\"claims\":[{\"id\":\"1-2\",\"attempt\":0}]}", "duplicate");
  assert_unreadable("{\"v\":1,\"claims\":[{\"id\":\"1-2\",\"attempt\":0},{\"id\":\"1-2\"}]}", "claims[1].attempt");
  assert_unreadable("{\"v\":1,\"claims\":[{\"id\":\"1-2\",\"attempt\":0,\"x\":1}]}", "claims[0].x");
  assert_unreadable(ONE("12", "0"), "claims[0].id");
  assert_unreadable(ONE("\"12\"", "0"), "claims[0].id");
  assert_unreadable(ONE("\"0-1\"", "0"), "claims[0].id");
  assert_unreadable(ONE("\"1-0\"", "0"), "claims[0].id");
  assert_unreadable(ONE("\"-1-2\"", "0"), "claims[0].id");
  assert_unreadable(ONE("\"1-2-3\"", "0"), "claims[0].id");
  assert_unreadable(ONE("\"01-2\"", "0"), "claims[0].id");
  assert_unreadable(ONE("\"9223372036854775808-1\"", "0"), "claims[0].id");
  assert_unreadable(ONE("\"1-2\"", "-1"), "claims[0].attempt");
  assert_unreadable(ONE("\"1-2\"", "1.5"), "claims[0].attempt");
  assert_unreadable(ONE("\"1-2\"", "\"1\""), "claims[0].attempt");
  assert_unreadable(ONE("\"1-2\"", "2147483647"), "claims[0].attempt");
  assert_unreadable(ONE("\"1-2\"", "0,\"trace\":\"0af7651916cd43dd8448eb211c80319\""), "claims[0].trace");
  assert_unreadable(ONE("\"1-2\"", "0,\"trace\":\"0af7651916cd43dd8448eb211c80319cf\""), "claims[0].trace");
  assert_unreadable(ONE("\"1-2\"", "0,\"trace\":\"0AF7651916CD43DD8448EB211C80319C\""), "claims[0].trace");
  assert_unreadable(ONE("\"1-2\"", "0,\"trace\":\"00000000000000000000000000000000\""), "claims[0].trace");
  assert_unreadable(ONE("\"1-2\"", "0,\"trace\":\"\""), "claims[0].trace");
  assert_unreadable(ONE("\"1-2\"", "0,\"trace\":7"), "claims[0].trace");
}

static void more_than_a_hundred_claims_are_refused(void **state)
{
  struct claim_key keys[MESSAGE_CLAIMS_MAX + 1];
  char why[INTAKE_WHY_BYTES];
  struct buf body;
  size_t count = 0;
  (void)state;
  for (size_t i = 0; i <= MESSAGE_CLAIMS_MAX; i++) keys[i] = (struct claim_key){1, (int64_t)i + 1, 0, ""};
  buf_init(&body, 65536);
  intake_encode(keys, MESSAGE_CLAIMS_MAX + 1, &body);
  assert_int_equal(intake_decode(buf_text(&body), body.len, keys, &count, why), RESULT_INVALID);
  buf_release(&body);
}

static void jobs_move_only_forward(void **state)
{
  struct job job = {.state = JOB_TAKEN};
  (void)state;
  job_enter(&job, JOB_INQUIRING);
  job_enter(&job, JOB_ACTING);
  job_enter(&job, JOB_SETTLING);
  job_enter(&job, JOB_FOLLOWING);
  job_enter(&job, JOB_FINISHED);
  assert_string_equal(job_state_name(job.state), "finished");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_is_written_is_read_again),
      cmocka_unit_test(anything_else_is_refused),
      cmocka_unit_test(more_than_a_hundred_claims_are_refused),
      cmocka_unit_test(jobs_move_only_forward),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
