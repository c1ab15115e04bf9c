// SPDX-License-Identifier: Apache-2.0
// Lists in CSV over HTTP, and numbers by range.
// Owner: each request belongs to its import until the reply; loop thread.
#include "scheduler/import_api.h"

#include "common/web_read.h"
#include "scheduler/activity_cache.h"
#include "scheduler/app.h"
#include "scheduler/import_target.h"

static void on_done(struct web_call *call, int64_t inserted, int64_t duplicates)
{
  const char *code = web_param(call->req, "code");
  LOG(app_of(call)->rt->log, EV_IMPORT_FINISHED, F_STR("what", call->action), F_STR("activity_code", code ? code : ""),
      F_INT("inserted", inserted), F_INT("duplicates", duplicates), F_STR("actor", web_actor(call->req)));
  activity_cache_poke(app_of(call)->cache);  // numbers may be stock
}

static void run(struct web_request *req, enum import_what what)
{
  web_import_run(req, import_target_of(what), on_done);
}

void import_api_qualifications(struct web_request *req)
{
  const char *code = NULL;
  if (web_read_code(req, "code", "ACTIVITY_NOT_FOUND", &code)) run(req, IMPORT_QUALIFICATIONS);
}

void import_api_points(struct web_request *req) { run(req, IMPORT_POINTS); }

void import_api_numbers(struct web_request *req)
{
  const char *code = NULL;
  if (web_read_code(req, "code", "ACTIVITY_NOT_FOUND", &code))
    web_import_range(req, import_target_of(IMPORT_NUMBERS), on_done);
}
