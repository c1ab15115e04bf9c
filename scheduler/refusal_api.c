// SPDX-License-Identifier: Apache-2.0
// GET /v1/activities/{code}/refusals: how many claims were refused, by minute and code.
// Owner: each request belongs to its handler until the reply; loop thread.
#include "scheduler/refusal_api.h"

#include <string.h>

#include "common/text.h"
#include "common/web_call.h"
#include "common/web_list.h"
#include "common/web_read.h"
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
  if (!web_read_code(req, "code", "ACTIVITY_NOT_FOUND", &code) || !web_read_limit(req, &limit) ||
      !web_read_after_id(req, &after) || !web_read_time(req, "from", &from.has, &from.at) ||
      !web_read_time(req, "until", &until.has, &until.at))
    return;
  struct web_call *call = web_call_new(req, &SQL_REFUSAL_LIST, web_list_reply_of);
  call->missing = "ACTIVITY_NOT_FOUND";
  call->limit = limit;
  db_args_text(&call->db.args, code);
  put_instant(&call->db.args, &from);
  put_instant(&call->db.args, &until);
  db_args_i64(&call->db.args, after);
  db_args_i64(&call->db.args, (int64_t)limit + 1);
  web_call_send(call);
}
