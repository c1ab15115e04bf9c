// SPDX-License-Identifier: Apache-2.0
// What a provider really receives: the signature over the bytes that arrived, the request id, a secret that changes
// with SIGHUP; and that no secret is ever written down.
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/mem.h"
#include "common/signature.h"
#include "common/text.h"
#include "tests/support/claims.h"
#include "tests/support/delivery.h"
#include "tests/support/hook.h"
#include "tests/support/provider_yaml.h"
#include "tests/support/sql.h"
#include "tests/support/support.h"

#define FIRST_SECRET  "the-first-secret"
#define SECOND_SECRET "the-second-secret"

struct house {
  struct stack *s;
  struct hook *hook;
  struct signature *signature;
  char *config, *secret;
};

static void write_config(const struct house *h, int port)
{
  mem_free(support_write(
      "largesse.yaml",
      SWEEPS_SOON
      "fulfiller:\n"
      "  providers:\n"
      "    simulator: { base_url: \"http://127.0.0.1:1\", deliver: { path: /x } }\n"
      "    simulator-b: { base_url: \"http://127.0.0.1:1\", deliver: { path: /x } }\n"
      "    signed:\n"
      "      base_url: \"http://127.0.0.1:%d\"\n"
      "      secrets: { key: \"%s\" }\n"
      "      sign: { scheme: hmac, secret: key }\n"
      "      request_id_header: Idempotency-Key\n"
      "      request_id_field: requestId\n"
      "      deliver: { path: /hook, body: '{\"userId\": ${claim.userId}, \"app\": \"${secret.key}\"}' }\n"
      "      repeat_is_safe: true\n"
      "      ladder: [300ms]\n",
      port, h->secret));
}

static int set_up(void **state)
{
  struct house *h = MEM_NEW(struct house);
  char *dir = support_log_dir();
  int port = 0;
  h->hook = hook_open(&port);
  h->signature = signature_new();
  h->config = support_format("%s/largesse.yaml", dir);
  h->secret = support_write("key", FIRST_SECRET "\n");
  write_config(h, port);
  struct stack_options options = {.no_reconciler = true, .no_simulator = true, .config = h->config};
  h->s = stack_start(server_start(), &options);
  activity_make(h->s->sql, &(struct activity_terms){.code = "signed", .stock = 100, .provider = "signed"});
  mem_free(dir);
  *state = h;
  return 0;
}

static int tear_down(void **state)
{
  struct house *h = *state;
  struct server *server = h->s->server;
  stack_free(h->s);
  server_free(server);
  hook_close(h->hook);
  signature_free(h->signature);
  unlink(h->secret);
  mem_free(h->secret);
  mem_free(h->config);
  mem_free(h);
  return 0;
}

// Is the call's signature the one that this secret makes of what arrived?
static bool is_signed_with(const struct house *h, const struct hook_call *call, const char *secret)
{
  uint8_t mac[SIGNATURE_SHA256_BYTES];
  struct buf hex;
  char *given = hook_header(call, "X-Signature"), *at = hook_header(call, "X-Timestamp");
  if (given == NULL || at == NULL) support_die("the request is not signed: %s", call->head);
  char *message = support_format("POST\n/hook\n%s\n%s", at, call->body);
  signature_hmac_sha256(h->signature, secret, strlen(secret), message, strlen(message), mac);
  buf_init(&hex, 128);
  text_hex(mac, sizeof mac, &hex);
  bool is_equal = strcmp(buf_text(&hex), given) == 0;
  buf_release(&hex);
  mem_free(message);
  mem_free(given);
  mem_free(at);
  return is_equal;
}

static struct hook_call deliver(struct house *h, int64_t user, struct delivery_claim *out_claim)
{
  size_t n = hook_count(h->hook, "/hook");
  *out_claim = delivery_claim(h->s, "signed", user);
  WAIT_FOR(delivery_is(h->s, out_claim->id, "succeeded"), 20);
  return hook_get(h->hook, "/hook", n);
}

static void the_signature_is_of_what_arrives(void **state)
{
  struct house *h = *state;
  struct delivery_claim claim;
  const struct hook_call call = deliver(h, 1, &claim);
  char *key = hook_header(&call, "Idempotency-Key");
  char *body = support_format("{\"requestId\":\"%s\",\"userId\": 1, \"app\": \"" FIRST_SECRET "\"}", claim.id);
  assert_string_equal(key, claim.id);
  assert_string_equal(call.body, body);
  assert_true(is_signed_with(h, &call, FIRST_SECRET));
  assert_false(is_signed_with(h, &call, SECOND_SECRET));
  mem_free(body);
  mem_free(key);
}

// A repeat is a new rendering with the old request id; both calls are on record, without the secret.
static void a_repeat_is_signed_anew_and_no_secret_is_recorded(void **state)
{
  struct house *h = *state;
  size_t n = hook_count(h->hook, "/hook");
  hook_answer(h->hook, "/hook", 500, NULL);
  struct delivery_claim claim = delivery_claim(h->s, "signed", 2);
  WAIT_FOR(hook_count(h->hook, "/hook") > n, 20);
  hook_answer(h->hook, "/hook", 204, NULL);
  WAIT_FOR(delivery_is(h->s, claim.id, "succeeded"), 20);
  const struct hook_call first = hook_get(h->hook, "/hook", n), second = hook_get(h->hook, "/hook", n + 1);
  assert_string_equal(first.body, second.body);
  assert_true(is_signed_with(h, &first, FIRST_SECRET) && is_signed_with(h, &second, FIRST_SECRET));
  assert_true(sql_int(h->s->sql,
                      "select count(*) from largesse.attempt where activity_id || '-' || claim_id = '%s' and request "
                      "like '%%\"requestId\":\"%s\"%%\"app\": \"***\"%%'",
                      claim.id, claim.id) >= 1);
  assert_int_equal(sql_int(h->s->sql,
                           "select count(*) from largesse.attempt where concat(request, answer, detail) "
                           "like '%%" FIRST_SECRET "%%'"),
                   0);
  assert_false(process_log_has(h->s->fulfiller, FIRST_SECRET));
}

static void a_file_is_read_again_on_sighup(void **state)
{
  struct house *h = *state;
  struct delivery_claim claim;
  mem_free(support_write("key", SECOND_SECRET "\n"));
  process_signal(h->s->fulfiller, SIGHUP);
  WAIT_FOR(process_log_has(h->s->fulfiller, "config.reloaded"), 10);
  struct hook_call call = deliver(h, 3, &claim);
  assert_true(is_signed_with(h, &call, SECOND_SECRET));
  // A file that anybody may read is no secret: the one before stays.
  mem_free(support_write("key", FIRST_SECRET "\n"));
  assert_int_equal(chmod(h->secret, 0644), 0);
  process_signal(h->s->fulfiller, SIGHUP);
  WAIT_FOR(process_log_has(h->s->fulfiller, "config.rejected"), 10);
  call = deliver(h, 4, &claim);
  assert_true(is_signed_with(h, &call, SECOND_SECRET));
  assert_false(process_log_has(h->s->fulfiller, SECOND_SECRET));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_signature_is_of_what_arrives),
      cmocka_unit_test(a_repeat_is_signed_anew_and_no_secret_is_recorded),
      cmocka_unit_test(a_file_is_read_again_on_sighup),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
