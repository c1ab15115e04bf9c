// SPDX-License-Identifier: Apache-2.0
// The member rateLimit of an activity, as the cache gets it from the database. Pure.
// Owner: nobody; any thread.
#include "scheduler/rate_limit.h"

#include <string.h>

#include "common/jsonx.h"

// A rate may have a fraction ("one in ten seconds"), so it is counted in millionths.
static enum result read_terms(const json_t *object, struct token_terms *out)
{
  if (object == NULL) return RESULT_OK;
  const json_t *rate = json_object_get(object, "rate"), *burst = json_object_get(object, "burst");
  if (!json_is_number(rate) || !json_is_integer(burst)) return RESULT_INVALID;
  double per_s = json_number_value(rate);
  int64_t most = json_integer_value(burst);
  if (!(per_s * 1e6 >= 1) || per_s > TOKEN_RATE_MAX || most < 1 || most > TOKEN_BURST_MAX) return RESULT_INVALID;
  *out = (struct token_terms){(int64_t)(per_s * 1e6 + 0.5), most};
  return RESULT_OK;
}

enum result rate_limit_parse(const char *json, struct rate_limit *out)
{
  struct rate_limit l = {{0, 0}, {0, 0}};
  json_t *doc = NULL;
  char why[JSONX_WHY_BYTES];
  enum result result = RESULT_OK;
  if (json[0] != '\0') {
    TRY(jsonx_parse(json, strlen(json), &doc, why));
    TRY(read_terms(json_object_get(doc, "perUser"), &l.per_user));
    TRY(read_terms(json_object_get(doc, "total"), &l.total));
  }
  *out = l;
cleanup:
  json_decref(doc);
  return result;
}
