// SPDX-License-Identifier: Apache-2.0
// Sending lists in CSV in tests, and what came of them in one line.
#pragma once

#include "common/buf.h"
#include "tests/system/activity_calls.h"

#define CSV "Content-Type: text/csv\r\n"

UNUSED static struct call send_csv(struct fixture *f, const char *path, const char *bytes, size_t len)
{
  struct http_answer a;
  http_call(&(struct http_request){.port = f->port,
                                   .method = "POST",
                                   .path = path,
                                   .body = bytes,
                                   .body_len = len,
                                   .headers = CSV,
                                   .timeout_ms = 300000},
            &a);
  struct call c = {a.status, a.body_len > 0 ? http_answer_json(&a) : NULL, NULL, NULL, NULL};
  http_answer_release(&a);
  return c;
}

// The answer as "200 3+1" (inserted + duplicates), or "400 line: reason; …".
UNUSED static char *outcome_of(struct call *c)
{
  struct buf b;
  size_t i = 0;
  json_t *item = NULL;
  buf_init(&b, 1 << 20);
  buf_printf(&b, "%d", c->status);
  if (c->status == 200)
    buf_printf(&b, " %lld+%lld", (long long)number_at(c, "/inserted"), (long long)number_at(c, "/duplicates"));
  json_array_foreach(json_object_get(c->json, "rejected"), i, item)
  {
    buf_printf(&b, " %lld: %s;", (long long)json_integer_value(json_object_get(item, "line")),
               json_string_value(json_object_get(item, "reason")));
  }
  call_release(c);
  return buf_take(&b);
}

UNUSED static void assert_import(struct fixture *f, const char *path, const char *bytes, size_t len,
                                 const char *expected)
{
  struct call c = send_csv(f, path, bytes, len);
  char *outcome = outcome_of(&c);
  if (strcmp(outcome, expected) != 0)
    fail_msg("POST %s: %s\n--- expected ---\n%s\n--- got ---\n%s", path, bytes, expected, outcome);
  mem_free(outcome);
}
#define ASSERT_IMPORT(f, path, text, expected) assert_import(f, path, text, sizeof(text) - 1, expected)

UNUSED static void make_activity(struct fixture *f, const char *code)
{
  char *path = support_format("/v1/activities/%s", code);
  make_reward(f);
  put(f, path, RUNNING(STOCK), 201);
  mem_free(path);
}
