// SPDX-License-Identifier: Apache-2.0
// Callbacks from a test's side: a stack whose providers call back in each of the four ways, and callbacks that the test
// signs and sends itself. What goes wrong outside the thing under test ends the program.
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <inttypes.h>
#include <unistd.h>

#include "common/mem.h"
#include "common/signature.h"
#include "common/text.h"
#include "tests/support/claims.h"
#include "tests/support/delivery.h"
#include "tests/support/http.h"
#include "tests/support/provider_yaml.h"
#include "tests/support/simulator.h"
#include "tests/support/support.h"

#define CALLBACK_SERIAL      "PUB_KEY_ID_SIMULATOR"
#define CALLBACK_DECRYPT_KEY "0123456789abcdef0123456789abcdef"
#define CALLBACK_NEW         "the new secret"
#define CALLBACK_OLD         "the old secret"

// Calls may take 4 s; pending claims are not asked about, so only callbacks decide.
#define CALLBACK_REQUESTS \
  "      base_url: http://127.0.0.1:%d\n" \
  SIMULATOR_DELIVER("") SIMULATOR_INQUIRE SIMULATOR_REVERSE("'2xx /status=PENDING': pending, ") \
  "      total_timeout: 4s\n"                                                                                \
  "      not_found_after: 4s\n"                                                                              \
  "      ladder: [1s, 4s]\n"                                                                                 \
  "      pending_poll: 1m\n"                                                                                 \
  "      breaker: {failure_ratio: 0}\n"

struct callback_rig {
  struct server *server;
  struct stack *stack;
  struct signature *signature;
  char *dir, *config;
  char secret[256];  // of simulator and simulator-b
};

#define CALLBACK_PROVIDER(name, callback) "    " name ":\n" CALLBACK_REQUESTS "      callback: {" callback "}\n"

// The rotating provider has these secrets; the others have theirs for good.
UNUSED static void rig_configure(const struct callback_rig *rig, int port, const char *rotating)
{
  static const char form[] = SWEEPS_SOON
      "fulfiller:\n"
      "  body_max: 16KiB\n"
      "  providers:\n"
      "    silent:\n" CALLBACK_REQUESTS                                           //
          CALLBACK_PROVIDER("simulator", "")                                      //
      CALLBACK_PROVIDER("simulator-b", "")                                        //
      CALLBACK_PROVIDER("rotating", "profile: standard_webhooks, secrets: {%s}")  //
      CALLBACK_PROVIDER("stripe", "profile: stripe, secrets: {a: '%s/new'}")      //
      CALLBACK_PROVIDER("wechat",
                        "profile: wechatpay_v3, secrets: {" CALLBACK_SERIAL ": '%s/public.pem'}, decrypt_key: '%s/aes'")
          CALLBACK_PROVIDER("alipay",
                            "profile: alipay, secrets: {a: '%s/public.pem'}, require: {/app_id: '2014072300007148'}");
  mem_free(support_write("callbacks.yaml", form, port, port, port, port, rotating, port, rig->dir, port, rig->dir,
                         rig->dir, port, rig->dir));
}

#define ROTATING_BOTH "new: '%s/new', old: '%s/old'"
#define ROTATING_NEW  "new: '%s/new'"

// The simulator's port is known when the stack stands, so the fulfiller starts last.
UNUSED static int rig_set_up(void **state)
{
  struct callback_rig *rig = MEM_NEW(struct callback_rig);
  rig->server = server_start();
  rig->signature = signature_new();
  rig->dir = support_log_dir();
  rig->config = support_format("%s/callbacks.yaml", rig->dir);
  mem_free(support_write("new", CALLBACK_NEW "\n"));
  mem_free(support_write("old", CALLBACK_OLD "\n"));
  mem_free(support_write("aes", CALLBACK_DECRYPT_KEY));
  const char *const make[] = {
      "/bin/sh", "-c",
      "umask 077 && openssl genpkey -quiet -algorithm RSA -pkeyopt rsa_keygen_bits:2048 -out \"$0/private.pem\" "
      "&& openssl pkey -in \"$0/private.pem\" -pubout -out \"$0/public.pem\"",
      rig->dir, NULL};
  if (process_run(make, NULL, 60, NULL, NULL) != 0) support_die("openssl cannot make a key");
  char *both = support_format(ROTATING_BOTH, rig->dir, rig->dir);
  rig_configure(rig, 1, both);
  rig->stack = stack_start(rig->server,
                           &(struct stack_options){.no_fulfiller = true, .no_reconciler = true, .config = rig->config});
  rig_configure(rig, rig->stack->simulator_port, both);
  stack_start_fulfiller(rig->stack);
  FILE *f = fopen(rig->stack->callback_secret, "re");
  if (f == NULL || fgets(rig->secret, sizeof rig->secret, f) == NULL) support_die("no secret");
  (void)fclose(f);
  mem_free(both);
  *state = rig;
  return 0;
}

UNUSED static int rig_tear_down(void **state)
{
  struct callback_rig *rig = *state;
  stack_free(rig->stack);
  server_free(rig->server);
  signature_free(rig->signature);
  mem_free(rig->dir);
  mem_free(rig->config);
  mem_free(rig);
  return 0;
}

// --- callbacks that the test sends itself

struct callback_post {
  const char *provider;   // NULL: simulator
  const char *secret;     // NULL: the simulator's
  const char *signature;  // NULL: made with the secret; else the header as it is
  const char *id;         // of the event
  const char *timestamp;  // NULL: now
  int64_t age_s;          // how old the timestamp is
  const char *body;
};

// The header lines of a Standard Webhook. Heap.
UNUSED static char *callback_headers(const struct callback_rig *rig, const struct callback_post *p)
{
  struct buf signature;
  char timestamp[24];
  const char *secret = p->secret != NULL ? p->secret : rig->secret;
  int64_t at = clk_wall().us / 1000000 - p->age_s;
  (void)snprintf(timestamp, sizeof timestamp, "%" PRId64, at);
  buf_init(&signature, 1024);
  signature_webhook_sign(rig->signature, secret, strlen(secret), p->id, at, p->body, strlen(p->body), &signature);
  char *headers = support_format(
      "Content-Type: application/json\r\nwebhook-id: %s\r\nwebhook-timestamp: %s\r\nwebhook-signature: %s\r\n", p->id,
      p->timestamp != NULL ? p->timestamp : timestamp, p->signature != NULL ? p->signature : buf_text(&signature));
  buf_release(&signature);
  return headers;
}

// The status.
UNUSED static int callback_post(const struct callback_rig *rig, const struct callback_post *p)
{
  struct http_answer answer;
  char *headers = callback_headers(rig, p);
  char *path = support_format("/v1/callbacks/%s", p->provider != NULL ? p->provider : "simulator");
  http_call(
      &(struct http_request){.port = rig->stack->fulfiller_port, .path = path, .headers = headers, .body = p->body},
      &answer);
  int status = answer.status;
  http_answer_release(&answer);
  mem_free(path);
  mem_free(headers);
  return status;
}

// {requestId, status, occurredAt: seconds from now}. Heap.
UNUSED static char *callback_body(const char *request_id, const char *status, int64_t occurred_in_s)
{
  return support_format("{\"requestId\":\"%s\",\"status\":\"%s\",\"ref\":\"r-1\",\"occurredAt\":%" PRId64 "}",
                        request_id, status, clk_wall().us / 1000000 + occurred_in_s);
}

UNUSED static int callback_tell(const struct callback_rig *rig, const char *event_id, const char *request_id,
                                const char *status, int64_t occurred_in_s)
{
  char *body = callback_body(request_id, status, occurred_in_s);
  int answered = callback_post(rig, &(struct callback_post){.id = event_id, .body = body});
  mem_free(body);
  return answered;
}

// --- claims and figures

// A claim whose provider has said "pending" and will say nothing more by itself.
UNUSED static struct delivery_claim callback_pending(struct callback_rig *rig, const char *activity, int64_t user)
{
  delivery_script(rig->stack, user, "[{\"status\":202,\"effect\":\"none\"}]");
  struct delivery_claim claim = delivery_claim(rig->stack, activity, user);
  WAIT_FOR(delivery_int(rig->stack, claim.id, "(outcome = 'pending' and lease_until is null)::int") == 1, 10);
  return claim;
}

// What became of an event, "" if it is not there. Heap.
UNUSED static char *callback_state(struct callback_rig *rig, const char *event_id)
{
  return sql_text(rig->stack->sql, "select coalesce((select state from largesse.callback where event_id = '%s'), '')",
                  event_id);
}

UNUSED static bool callback_is(struct callback_rig *rig, const char *event_id, const char *state)
{
  char *is = callback_state(rig, event_id);
  bool same = strcmp(is, state) == 0;
  if (!same) print_error("event %s: %s instead of %s\n", event_id, is, state);
  mem_free(is);
  return same;
}
