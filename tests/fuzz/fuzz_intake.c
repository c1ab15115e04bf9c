// SPDX-License-Identifier: Apache-2.0
// Fuzzes the bodies of lane messages: no input crashes, every refusal has a reason, what is accepted is written and
// read again equal. libFuzzer entry; one thread.
#include <stdlib.h>
#include <string.h>

#include "fulfiller/intake_codec.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CHECK(condition)       \
  do {                         \
    if (!(condition)) abort(); \
  } while (0)

static void write_and_read_again(const struct claim_key *keys, size_t count)
{
  struct claim_key again[MESSAGE_CLAIMS_MAX];
  char why[INTAKE_WHY_BYTES];
  size_t again_count = 0;
  struct buf body;
  buf_init(&body, 65536);
  intake_encode(keys, count, &body);
  CHECK(buf_result(&body) == RESULT_OK);
  CHECK(intake_decode(buf_text(&body), body.len, again, &again_count, why) == RESULT_OK);
  CHECK(again_count == count);
  for (size_t i = 0; i < count; i++) {
    CHECK(again[i].activity_id == keys[i].activity_id && again[i].claim_id == keys[i].claim_id &&
          again[i].attempt == keys[i].attempt && strcmp(again[i].trace, keys[i].trace) == 0);
  }
  buf_release(&body);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  struct claim_key keys[MESSAGE_CLAIMS_MAX];
  char why[INTAKE_WHY_BYTES] = "";
  size_t count = 0;
  if (intake_decode((const char *)data, size, keys, &count, why) != RESULT_OK) {
    CHECK(why[0] != '\0' && strchr(why, '\n') == NULL);
    return 0;
  }
  CHECK(count >= 1 && count <= MESSAGE_CLAIMS_MAX);
  for (size_t i = 0; i < count; i++) {
    CHECK(keys[i].activity_id > 0 && keys[i].claim_id > 0 && keys[i].attempt >= 0);
    CHECK(keys[i].trace[0] == '\0' || trace_id_is_valid(keys[i].trace, strlen(keys[i].trace)));
  }
  write_and_read_again(keys, count);
  return 0;
}
