// SPDX-License-Identifier: Apache-2.0
// A list over HTTP. Owner: the handler that made it; loop thread.
#include "reconciler/call_list.h"

#include "common/web_list.h"

struct list_call {
  struct call call;
  enum call_place place;
  const char *unknown;  // 404; NULL: it is always there
};

static void on_list(struct call *c, const struct db_rows *rows)
{
  const struct list_call *l = CONTAINER_OF(c, struct list_call, call);
  if (l->unknown != NULL && db_rows_count(rows) == 1 && db_rows_is_null(rows, 0, 1))
    call_not_found(c->web, l->unknown);
  else
    web_list_reply(&c->call, rows, 0, l->place == CALL_PLACE_TEXT);
}

bool call_list_limit(struct web_request *web, int64_t *out_limit)
{
  size_t limit = 0;
  if (!web_read_limit(web, &limit)) return false;
  *out_limit = (int64_t)limit;
  return true;
}

struct call *call_list_new(struct web_request *web, int64_t limit, enum call_place place)
{
  struct list_call *l = CONTAINER_OF(call_new(web, sizeof *l, on_list), struct list_call, call);
  l->call.call.limit = limit > 0 ? (size_t)limit : SIZE_MAX;
  l->place = place;
  return &l->call;
}

struct call *call_list_of(struct web_request *web, int64_t limit, enum call_place place, const char *unknown)
{
  struct call *c = call_list_new(web, limit, place);
  CONTAINER_OF(c, struct list_call, call)->unknown = unknown;
  return c;
}
