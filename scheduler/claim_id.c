// SPDX-License-Identifier: Apache-2.0
// The id of a claim as people see it: <activityId>-<n>.
// Pure; any thread.
#include "scheduler/claim_id.h"

#include "common/text.h"

enum result claim_id_parse(const char *text, struct claim_id *out_id)
{
  return text_to_pair(text, &out_id->activity_id, &out_id->number);
}
