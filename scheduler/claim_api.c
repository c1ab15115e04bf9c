// SPDX-License-Identifier: Apache-2.0
// POST /v1/claims: from the body to a struct claim_request.
// Owner: the batcher holds a request from here to claim_reply.
#include "scheduler/claim_api.h"

#include "scheduler/app.h"
#include "scheduler/claim_batch.h"
#include "scheduler/claim_decode.h"
#include "scheduler/explain_api.h"

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
  bool is_dry_run;
  if (!explain_api_read(req, &is_dry_run)) return;
  if (is_dry_run) {
    explain_api_run(req);
    return;
  }
  struct claim_request *r = claim_batcher_request(app->batcher);
  if (claim_decode(body, len, r, why) != RESULT_OK) {
    claim_batcher_drop(app->batcher, r);
    reply_invalid(req, why);
    return;
  }
  r->web = req;
  claim_batcher_add(app->batcher, r);
}
