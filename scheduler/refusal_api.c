// SPDX-License-Identifier: Apache-2.0
// GET /v1/activities/{code}/refusals: how many claims were refused, by minute and code.
// Owner: each request belongs to its handler until the reply; loop thread.
#include "scheduler/refusal_api.h"

#include <string.h>

#include "common/text.h"
#include "scheduler/api_call.h"
#include "sql_scheduler.inc"

// An instant of the query; has is false when it is absent.
struct instant {
  bool has;
  struct wall_time at;
};

static void put_instant(struct db_args *args, const struct instant *i)
{
  if (i->has)
    db_args_time(args, i->at);
  else
    db_args_null(args);
}

void refusal_api_list(struct web_request *req)
{
  const char *code = NULL;
  size_t limit = 0;
  int64_t after = 0;
  struct instant from = {0}, until = {0};
  if (!api_read_code(req, "code", "ACTIVITY_NOT_FOUND", &code) || !api_read_limit(req, &limit) ||
      !api_read_after_id(req, &after) || !api_read_time(req, "from", &from.has, &from.at) ||
      !api_read_time(req, "until", &until.has, &until.at))
    return;
  struct api_call *call = api_call_new(req, &SQL_REFUSAL_LIST, api_reply_activity_list);
  call->limit = limit;
  db_args_text(&call->db.args, code);
  put_instant(&call->db.args, &from);
  put_instant(&call->db.args, &until);
  db_args_i64(&call->db.args, after);
  db_args_i64(&call->db.args, (int64_t)limit + 1);
  api_call_send(call);
}
