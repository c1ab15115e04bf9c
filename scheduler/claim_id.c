// SPDX-License-Identifier: Apache-2.0
// The id of a claim as people see it: <activityId>-<n>.
// Pure; any thread.
#include "scheduler/claim_id.h"

#include <string.h>

#include "common/text.h"

enum result claim_id_parse(const char *text, struct claim_id *out_id)
{
  struct claim_id id = {0, 0};
  const char *dash = strchr(text, '-');
  size_t len = dash != NULL ? (size_t)(dash - text) : strlen(text);
  if (text_to_i64(text, len, &id.activity_id) != RESULT_OK || id.activity_id < 0) return RESULT_INVALID;
  if (dash == NULL) return RESULT_NOT_FOUND;
  if (text_to_i64(dash + 1, strlen(dash + 1), &id.number) != RESULT_OK || id.number < 0) return RESULT_INVALID;
  *out_id = id;
  return RESULT_OK;
}
