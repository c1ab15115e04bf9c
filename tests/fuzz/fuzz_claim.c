// SPDX-License-Identifier: Apache-2.0
// Fuzzes the body of a claim: what the quick way takes, the thorough one takes too and reads the same; every refusal
// has a reason. libFuzzer entry; one thread.
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "common/text.h"
#include "scheduler/claim_decode.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CHECK(condition)       \
  do {                         \
    if (!(condition)) abort(); \
  } while (0)

static void check_request(const struct claim_request *r)
{
  CHECK(text_is_code(r->search.code, strlen(r->search.code)));
  CHECK(text_is_biz_id(r->biz_id, r->biz_id_len) && strlen(r->biz_id) == r->biz_id_len);
  CHECK(r->user_id >= 1 && r->quantity >= 1);
  CHECK(r->has_channel == (r->channel_len > 0) && strlen(r->channel) == r->channel_len);
  CHECK(text_is_utf8(r->channel, r->channel_len));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  struct claim_request quick = {0}, any = {0};
  char why[CLAIM_WHY_BYTES] = "";
  bool is_taken = claim_decode_quickly((const char *)data, size, &quick);
  enum result result = claim_decode_any((const char *)data, size, &any, why);
  CHECK(result == RESULT_OK || (why[0] != '\0' && strlen(why) < sizeof why));
  CHECK(!is_taken || result == RESULT_OK);
  if (result == RESULT_OK) check_request(&any);
  CHECK((any.numbers != NULL) == (any.number_count > 0) && (!any.numbers || any.quantity == any.number_count));
  for (size_t i = 1; i < any.number_count; i++) CHECK(any.numbers[i - 1] < any.numbers[i]);
  mem_free(any.numbers);
  if (is_taken) CHECK(memcmp(&quick, &any, sizeof quick) == 0);
  return 0;
}
