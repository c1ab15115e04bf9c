// SPDX-License-Identifier: Apache-2.0
// POST /v1/claims: from the body to a struct claim_request.
// Owner: the batcher holds a request from here to claim_reply.
#include "scheduler/claim_api.h"

#include <stdio.h>
#include <string.h>

#include "common/jsonx.h"
#include "common/text.h"
#include "scheduler/app.h"
#include "scheduler/claim_batch.h"

static bool read_code(struct jsonx_reader *r, char out[CODE_BYTES_MAX + 1])
{
  const char *code = jsonx_read_text(r, "activityCode", true, CODE_BYTES_MAX);
  if (!code) return false;
  size_t len = strlen(code);
  if (!text_is_code(code, len)) {
    jsonx_reader_fail(r, "activityCode",
                      "must be 1 to 64 characters of A-Z a-z 0-9 . _ - that begin with a letter or digit");
    return false;
  }
  memcpy(out, code, len + 1);
  return true;
}

static void read_biz_id(struct jsonx_reader *r, struct claim_request *out)
{
  const char *biz_id = jsonx_read_text(r, "bizId", true, BIZ_ID_BYTES_MAX);
  if (!biz_id) return;
  size_t len = strlen(biz_id);
  if (!text_is_biz_id(biz_id, len)) {
    jsonx_reader_fail(r, "bizId", "must be 1 to 64 characters of A-Z a-z 0-9 . _ : -");
    return;
  }
  memcpy(out->biz_id, biz_id, len + 1);
  out->biz_id_len = (uint8_t)len;
}

static void read_channel(struct jsonx_reader *r, struct claim_request *out)
{
  const char *channel = jsonx_read_text(r, "channel", false, CHANNEL_CHARS_MAX);
  if (!channel) return;
  size_t len = strlen(channel);
  if (len == 0 || len >= sizeof out->channel) {
    jsonx_reader_fail(r, "channel", "must be 1 to 64 characters");
    return;
  }
  memcpy(out->channel, channel, len + 1);
  out->channel_len = (uint16_t)len;
  out->has_channel = true;
}

enum result claim_api_decode(const char *body, size_t len, struct claim_request *out, char out_why[CLAIM_WHY_BYTES])
{
  json_t *json = NULL;
  char why[JSONX_WHY_BYTES] = "";
  enum result result = jsonx_parse(body, len, &json, why);
  if (result != RESULT_OK) {
    (void)snprintf(out_why, CLAIM_WHY_BYTES, "%s", why);
    return RESULT_INVALID;
  }
  struct jsonx_reader r;
  int64_t quantity = 1;
  jsonx_reader_init(&r, json, "");
  (void)read_code(&r, out->search.code);
  jsonx_read_id(&r, "userId", true, &out->user_id);
  read_biz_id(&r, out);
  read_channel(&r, out);
  jsonx_read_i64(&r, "quantity", false, 1, INT32_MAX, &quantity);
  if (jsonx_has(&r, "numbers")) jsonx_reader_fail(&r, "numbers", "only activities of kind number have numbers");
  result = jsonx_reader_finish(&r);
  if (result != RESULT_OK) (void)snprintf(out_why, CLAIM_WHY_BYTES, "%s", r.fault);
  out->quantity = (int32_t)quantity;
  json_decref(json);
  return result == RESULT_OK ? RESULT_OK : RESULT_INVALID;
}

static void reply_invalid(struct web_request *req, const char *why)
{
  web_reply_problem(req, &(struct web_problem){.code = "INVALID_REQUEST", .status = 400, .detail = why});
}

void claim_api_create(struct web_request *req)
{
  struct app *app = web_context(req);
  char why[CLAIM_WHY_BYTES] = "";
  size_t len = 0;
  const char *body = web_body(req, &len);
  if (web_query(req, "dryRun") || web_query(req, "at")) {
    // Must never fall through: somebody who asks "what if" does not want a claim.
    reply_invalid(req, "dryRun: this server does not offer dry runs");
    return;
  }
  struct claim_request *r = claim_batcher_request(app->batcher);
  if (claim_api_decode(body, len, r, why) != RESULT_OK) {
    claim_batcher_drop(app->batcher, r);
    reply_invalid(req, why);
    return;
  }
  r->web = req;
  claim_batcher_add(app->batcher, r);
}
