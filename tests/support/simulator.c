// SPDX-License-Identifier: Apache-2.0
// Talking to the provider simulator; see simulator.h.
// Blocking; for test programs.
#include "tests/support/simulator.h"

#include <stdlib.h>

#include "common/mem.h"
#include "tests/support/http.h"
#include "tests/support/support.h"

int simulator_credit(int port, const char *request_id, const char *user_id, int timeout_ms)
{
  char *body = support_format(
      "{\"requestId\":\"%s\",\"userId\":\"%s\",\"rewardCode\":\"voucher\",\"amount\":100,"
      "\"currency\":\"CNY\",\"quantity\":1}",
      request_id, user_id);
  struct http_answer answer;
  const struct http_request request = {.port = port, .path = "/credits", .body = body, .timeout_ms = timeout_ms};
  http_call(&request, &answer);
  int status = answer.status;
  http_answer_release(&answer);
  mem_free(body);
  return status;
}

static void post(int port, const char *path, const char *json)
{
  struct http_answer answer;
  http_post(port, path, json, &answer);
  if (answer.status != 200) support_die("simulator: POST %s %s: %d %s", path, json, answer.status, answer.body);
  http_answer_release(&answer);
}

void simulator_script(int port, const char *json) { post(port, "/sim/script", json); }
void simulator_config(int port, const char *json) { post(port, "/sim/config", json); }
void simulator_reset(int port) { post(port, "/sim/reset", "{}"); }

static int64_t number(int port, const char *path, const char *name)
{
  json_t *json = NULL;
  int status = http_json(port, "GET", path, NULL, &json);
  if (status != 200) support_die("simulator: GET %s: %d", path, status);
  if (json_is_array(json) && json_array_size(json) == 0) {
    json_decref(json);
    return 0;
  }
  const json_t *value = json_object_get(json_is_array(json) ? json_array_get(json, 0) : json, name);
  if (!json_is_integer(value)) support_die("simulator: GET %s has no number %s", path, name);
  int64_t result = json_integer_value(value);
  json_decref(json);
  return result;
}

int64_t simulator_ledger(int port, const char *request_id, const char *name)
{
  char *path = support_format("/sim/ledger?requestId=%s", request_id);
  int64_t value = number(port, path, name);
  mem_free(path);
  return value;
}

int64_t simulator_stat(int port, const char *name) { return number(port, "/sim/stats", name); }
