// SPDX-License-Identifier: Apache-2.0
// takes long
// Outgoing webhooks as their receivers see them: who is told what, signed how, again when, and who is not reached at
// all. Owner: nobody; one thread and the receiver's.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "common/mem.h"
#include "tests/support/claims.h"
#include "tests/support/hook.h"
#include "tests/support/hook_config.h"
#include "tests/support/http.h"
#include "tests/support/stack.h"
#include "tests/support/support.h"

#define SECONDS 20
#define OLD     "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="  // 0123456789abcdef0123456789abcdef
#define OLD_KEY "0123456789abcdef0123456789abcdef"
#define NEW     "whsec_ZmVkY2JhOTg3NjU0MzIxMGZlZGNiYTk4NzY1NDMyMTA="  // fedcba9876543210fedcba9876543210
#define NEW_KEY "fedcba9876543210fedcba9876543210"
#define TRACE   "0af7651916cd43dd8448eb211c80319c"
#define ENDPOINT(name, path, more) \
  "    " name ": { url: 'http://127.0.0.1:$PORT" path "', secrets: ['$DIR/old'], allow: [127.0.0.1], " more " }\n"

static const char config[] =
    "$PROVIDER"
    "  webhooks:\n" ENDPOINT("shop", "/shop?a=1", "types: [claim.*]")
        ENDPOINT("hang", "/hang", "types: [activity.b49.*], total_timeout: 1500ms, ladder: [1s], attempts: 20, concurrency: 32")
            ENDPOINT("well", "/well", "types: [activity.b49.*]")
                ENDPOINT("moody", "/moody", "types: [activity.moody], ladder: [300ms, 600ms], attempts: 3")
                    ENDPOINT("gone", "/gone", "types: [activity.gone, webhook.*]") ENDPOINT("failing", "/failing", "types: [activity.failing], ladder: [200ms], attempts: 100, disable_after: 2s")
                        ENDPOINT("local", "/local", "types: [activity.nothing]")
    "    loop-name: { url: 'http://localhost:$PORT/ssrf', secrets: ['$DIR/old'], types: [activity.ssrf], ladder: [1h] }\n"
    "    loop-four: { url: 'http://127.0.0.1:$PORT/ssrf', secrets: ['$DIR/old'], types: [activity.ssrf], ladder: [1h], allow: [10.0.0.0/8] }\n"
    "    loop-six: { url: 'http://[::1]:$PORT/ssrf', secrets: ['$DIR/old'], types: [activity.ssrf], ladder: [1h] }\n"
    "    loop-mapped: { url: 'http://[::ffff:127.0.0.1]:$PORT/ssrf', secrets: ['$DIR/old'], types: [activity.ssrf], ladder: [1h] }\n"
    "    private: { url: 'http://10.1.2.3/ssrf', secrets: ['$DIR/old'], types: [activity.ssrf], ladder: [1h] }\n"
    "    metadata: { url: 'http://169.254.169.254/ssrf', secrets: ['$DIR/old'], types: [activity.ssrf], ladder: [1h] }\n";

struct rig {
  struct stack *stack;
  struct hook *hook;
};

static int set_up(void **state)
{
  static struct rig rig;
  int port = 0;
  rig.hook = hook_open(&port);
  hook_config_secret("old", OLD "\n");
  char *path = hook_config_write("webhooks", config, port);
  rig.stack = stack_start(server_start(), &(struct stack_options){.config = path});
  mem_free(path);
  WAIT_FOR(sql_int(rig.stack->sql, "select count(*) from largesse.webhook_endpoint where is_configured") == 13,
           SECONDS);
  *state = &rig;
  return 0;
}

static int tear_down(void **state)
{
  struct rig *rig = *state;
  void *stack = rig->stack;
  (void)stack_tear_down(&stack);
  hook_close(rig->hook);
  return 0;
}

static void emit(struct rig *rig, const char *type, int from, int count)
{
  sql_exec(rig->stack->sql,
           "select largesse.event_emit('%s', largesse.clock_now(), array_agg('e-' || n || '.x'), array_agg('s' || n), "
           "array_agg('" TRACE
           "'::text), array_agg(json_build_object('n', n, 'name', 'äß')::text)) "
           "from generate_series(%d, %d) n",
           type, from, from + count - 1);
}

static int64_t deliveries(struct rig *rig, const char *endpoint, const char *where)
{
  return sql_int(rig->stack->sql, "select count(*) from largesse.webhook_out where endpoint = '%s' and %s", endpoint,
                 where);
}

static int command(struct rig *rig, const char *const *args, struct buf *out)
{
  buf_clear(out);
  return stack_command(rig->stack, "fulfiller", args, out);
}

// Standard Webhooks by the text of the specification, with nothing of ours: is this one of the signatures?
static bool verifies(const struct hook_call *c, const char *key)
{
  char *id = hook_header(c, "webhook-id"), *timestamp = hook_header(c, "webhook-timestamp");
  char *signatures = hook_header(c, "webhook-signature"), *content = support_format("%s.%s.%s", id, timestamp, c->body);
  unsigned char mac[32], text[64];
  unsigned mac_len = 0;
  assert_non_null(
      HMAC(EVP_sha256(), key, (int)strlen(key), (const unsigned char *)content, strlen(content), mac, &mac_len));
  (void)EVP_EncodeBlock(text, mac, (int)mac_len);
  char *expected = support_format("v1,%s", (const char *)text);
  bool is_there = strstr(signatures, expected) != NULL;
  assert_null(strchr(id, '.'));
  mem_free(expected);
  mem_free(content);
  mem_free(signatures);
  mem_free(timestamp);
  mem_free(id);
  return is_there;
}

static bool metrics_have(struct rig *rig, const char *line)
{
  struct http_answer page;
  http_get(rig->stack->fulfiller_port, "/metrics", &page);
  bool has_line = strstr(page.body, line) != NULL;
  http_answer_release(&page);
  return has_line;
}

static void assert_same_text(char *a, char *b)
{
  assert_string_equal(a, b);
  mem_free(a);
  mem_free(b);
}

// --- cases

static void a_claim_is_told_signed(void **state)
{
  struct rig *rig = *state;
  struct stack *s = rig->stack;
  activity_make(s->sql, &(struct activity_terms){.code = "told", .stock = 10});
  struct claim_click click = claim_click(s->scheduler_ports[0], "told", 42, "told-1");
  struct claim_answer answer = claim_send(&click);
  assert_int_equal(answer.status, 201);
  WAIT_FOR(hook_count(rig->hook, "/shop?a=1") >= 1, SECONDS);
  struct hook_call c = hook_get(rig->hook, "/shop?a=1", 0);
  assert_true(verifies(&c, OLD_KEY));
  assert_false(verifies(&c, NEW_KEY));
  json_t *body = json_loads(c.body, JSON_REJECT_DUPLICATES, NULL);
  assert_non_null(body);
  json_t *data = json_object_get(body, "data");
  assert_string_equal(json_string_value(json_object_get(body, "type")), "claim.succeeded");
  assert_non_null(json_string_value(json_object_get(body, "timestamp")));
  assert_string_equal(json_string_value(json_object_get(data, "claimId")), answer.claim_id);
  assert_string_equal(json_string_value(json_object_get(data, "bizId")), "told-1");
  assert_string_equal(json_string_value(json_object_get(data, "status")), "succeeded");
  assert_string_equal(json_string_value(json_object_get(data, "activityCode")), "told");
  assert_same_text(hook_header(&c, "webhook-id"), support_format("%s_succeeded", answer.claim_id));
  assert_same_text(hook_header(&c, "Content-Type"), mem_strdup("application/json"));
  char *trace = hook_header(&c, "traceparent");
  assert_non_null(trace);
  assert_int_equal(
      sql_int(s->sql, "select count(*) from largesse.claim where replace(trace::text, '-', '') = '%.32s'", trace + 3),
      1);
  mem_free(trace);
  json_decref(body);
  WAIT_FOR(deliveries(rig, "shop", "state = 'done' and attempts = 1 and last_status = 204") == 1, SECONDS);
}

// B49: while one endpoint hangs, each delivery to the other one arrives within 2 s.
static void b49_an_endpoint_that_hangs_delays_no_other(void **state)
{
  struct rig *rig = *state;
  hook_answer(rig->hook, "/hang", 0, NULL);
  struct stopwatch watch = stopwatch_start();
  double begun = watch.begin;
  for (int i = 0; i < 100; i++) emit(rig, "activity.b49.x", i, 1);
  double emitted = support_now();
  WAIT_FOR(hook_count(rig->hook, "/well") == 100, SECONDS);
  double last = 0;
  for (size_t i = 0; i < 100; i++) {
    double at = hook_get(rig->hook, "/well", i).at;
    if (at > last) last = at;
  }
  print_message("100 events in %.2f s, the last arrived %.2f s after the last event\n", emitted - begun,
                last - emitted);
  double within = 2 * stopwatch_slowness(&watch);
  assert_true(last - begun < within || last - emitted < within);
  assert_int_equal(sql_int(rig->stack->sql,
                           "select count(*) from largesse.webhook_out where endpoint = 'well' and "
                           "state = 'done' and finished_at - created_at > interval '1 s' * %f",
                           within),
                   0);
  assert_int_equal(hook_count_ids(rig->hook, "/well"), 100);
  WAIT_FOR(deliveries(rig, "hang", "attempts >= 2") > 0, SECONDS);  // up its ladder
  assert_int_equal(deliveries(rig, "hang", "state = 'waiting'"), 100);
  hook_answer(rig->hook, "/hang", 200, NULL);
  WAIT_FOR(deliveries(rig, "hang", "state = 'done'") == 100, 60);
  assert_int_equal(hook_count_ids(rig->hook, "/hang"), 100);
}

// The same id and bytes on each attempt, with its own timestamp and signature; then given up; then replayed.
static void attempts_have_the_same_id_and_bytes(void **state)
{
  struct rig *rig = *state;
  struct buf out;
  buf_init(&out, 1 << 20);
  hook_answer(rig->hook, "/moody", 500, NULL);
  emit(rig, "activity.moody", 1, 1);
  WAIT_FOR(deliveries(rig, "moody", "state = 'dead' and attempts = 3 and last_detail = 'HTTP 500'") == 1, SECONDS);
  assert_int_equal(hook_count(rig->hook, "/moody"), 3);
  static const char *const all[] = {"webhooks", "replay", "moody", "--since", "1h", "--reason", "fixed", NULL};
  hook_answer(rig->hook, "/moody", 200, NULL);
  if (command(rig, all, &out) != 0) fail_msg("%s", buf_text(&out));
  assert_string_equal(buf_text(&out), "1 deliveries are made once more\n");
  WAIT_FOR(deliveries(rig, "moody", "state = 'done' and attempts = 4") == 1, SECONDS);
  struct hook_call first = hook_get(rig->hook, "/moody", 0);
  for (size_t i = 0; i < 4; i++) {
    struct hook_call c = hook_get(rig->hook, "/moody", i);
    assert_string_equal(c.body, first.body);
    assert_same_text(hook_header(&c, "webhook-id"), hook_header(&first, "webhook-id"));
    assert_true(verifies(&c, OLD_KEY));
    if (i == 1) assert_true(c.at - first.at >= 0.29);
    if (i == 2) assert_true(c.at - hook_get(rig->hook, "/moody", 1).at >= 0.59);
  }
  if (command(rig, all, &out) != 0) fail_msg("%s", buf_text(&out));
  assert_string_equal(buf_text(&out), "0 deliveries are made once more\n");
  char *id = sql_text(rig->stack->sql, "select id from largesse.webhook_out where endpoint = 'moody'");
  const char *const one[] = {"webhooks", "replay", "moody", "--id", id, "--reason", "lost there", NULL};
  if (command(rig, one, &out) != 0) fail_msg("%s", buf_text(&out));
  WAIT_FOR(hook_count(rig->hook, "/moody") == 5, SECONDS);
  assert_string_equal(hook_get(rig->hook, "/moody", 4).body, first.body);
  mem_free(id);
  buf_release(&out);
}

static void retry_after_is_honoured(void **state)
{
  struct rig *rig = *state;
  size_t before = hook_count(rig->hook, "/moody");
  hook_answer(rig->hook, "/moody", 429, "Retry-After: 3\r\n");
  emit(rig, "activity.moody", 2, 1);
  WAIT_FOR(hook_count(rig->hook, "/moody") == before + 1, SECONDS);
  hook_answer(rig->hook, "/moody", 302, "Location: /elsewhere\r\n");
  WAIT_FOR(hook_count(rig->hook, "/moody") == before + 2, SECONDS);
  assert_true(hook_get(rig->hook, "/moody", before + 1).at - hook_get(rig->hook, "/moody", before).at >= 2.9);
  hook_answer(rig->hook, "/moody", 200, NULL);
  WAIT_FOR(hook_count(rig->hook, "/moody") == before + 3, SECONDS);  // 302 was a failure, and was not followed
  assert_int_equal(hook_count(rig->hook, "/elsewhere"), 0);
}

static void gone_endpoints_are_disabled_until_an_operator_enables_them(void **state)
{
  static const char *const enable[] = {"webhooks", "enable", "gone", "--reason", "they are back", NULL};
  struct rig *rig = *state;
  struct buf out;
  buf_init(&out, 1 << 20);
  hook_answer(rig->hook, "/gone", 410, NULL);
  emit(rig, "activity.gone", 1, 1);
  WAIT_FOR(sql_int(rig->stack->sql,
                   "select count(*) from largesse.webhook_endpoint where name = 'gone' and disabled_by = 'gone'") == 1,
           SECONDS);
  emit(rig, "activity.gone", 2, 1);  // nobody is told
  WAIT_FOR(process_log_has(rig->stack->fulfiller, "webhook.disabled"), SECONDS);
  WAIT_FOR(metrics_have(rig, "largesse_webhook_disabled{endpoint=\"gone\"} 1"), SECONDS);
  assert_int_equal(hook_count(rig->hook, "/gone"), 1);
  hook_answer(rig->hook, "/gone", 200, NULL);
  if (command(rig, enable, &out) != 0) fail_msg("%s", buf_text(&out));
  WAIT_FOR(hook_count(rig->hook, "/gone") == 3, SECONDS);  // what waited, and webhook.enabled
  WAIT_FOR(deliveries(rig, "gone", "event_id = 'e-1.x' and state = 'done'") == 1, SECONDS);
  assert_int_equal(deliveries(rig, "gone", "event_id = 'e-2.x'"), 0);
  buf_release(&out);
}

static void failing_endpoints_are_disabled_after_a_while(void **state)
{
  struct rig *rig = *state;
  hook_answer(rig->hook, "/failing", 503, NULL);
  emit(rig, "activity.failing", 1, 1);
  WAIT_FOR(
      sql_int(rig->stack->sql,
              "select count(*) from largesse.webhook_endpoint where name = 'failing' and disabled_by = 'failing'") == 1,
      SECONDS);
  assert_true(sql_bool(
      rig->stack->sql,
      "select disabled_at - failing_since >= interval '2 s' from largesse.webhook_endpoint where name = 'failing'"));
  assert_int_equal(deliveries(rig, "failing", "state = 'waiting'"), 1);
}

// Old and new secret both sign while they rotate; a file that cannot be read changes nothing.
static void secrets_rotate_by_sighup(void **state)
{
  static const char *const test[] = {"webhooks", "test", "local", NULL};
  struct rig *rig = *state;
  struct buf out;
  buf_init(&out, 1 << 20);
  if (command(rig, test, &out) != 0) fail_msg("%s", buf_text(&out));
  assert_string_equal(buf_text(&out), "delivered: HTTP 204\n");
  struct hook_call c = hook_get(rig->hook, "/local", 0);
  assert_non_null(strstr(c.body, "\"type\":\"webhook.ping\""));
  assert_true(verifies(&c, OLD_KEY) && !verifies(&c, NEW_KEY));
  hook_config_secret("old", NEW "\n");
  process_signal(rig->stack->fulfiller, SIGHUP);
  WAIT_FOR(process_log_has(rig->stack->fulfiller, "config.reloaded"), SECONDS);
  if (command(rig, test, &out) != 0) fail_msg("%s", buf_text(&out));
  c = hook_get(rig->hook, "/local", 1);
  assert_true(verifies(&c, NEW_KEY) && !verifies(&c, OLD_KEY));
  hook_config_secret("old", "");
  process_signal(rig->stack->fulfiller, SIGHUP);
  WAIT_FOR(process_log_has(rig->stack->fulfiller, "is empty"), SECONDS);
  // Not by the command, which does not take this configuration.
  sql_exec(rig->stack->sql, "select largesse.webhook_ping('local', 'test', 'rotation')");
  WAIT_FOR(hook_count(rig->hook, "/local") == 3, SECONDS);
  c = hook_get(rig->hook, "/local", 2);
  assert_true(verifies(&c, NEW_KEY));
  hook_config_secret("old", OLD "\n");
  buf_release(&out);
}

static void internal_addresses_are_refused(void **state)
{
  struct rig *rig = *state;
  emit(rig, "activity.ssrf", 1, 1);
  WAIT_FOR(sql_int(rig->stack->sql,
                   "select count(*) from largesse.webhook_out where type = 'activity.ssrf' and attempts = 1 and "
                   "last_detail = 'the address is internal and not allowed'") == 6,
           SECONDS);
  assert_int_equal(hook_count(rig->hook, "/ssrf"), 0);
}

// Fulfillers need not have the same endpoints: one that starts without an endpoint takes its news from nobody, and each
// goes on naming its own.
static void a_restart_with_other_endpoints_forgets_none(void **state)
{
  struct rig *rig = *state;
  int64_t before = sql_int(rig->stack->sql, "select count(*) from largesse.webhook_endpoint");
  sql_exec(rig->stack->sql,
           "insert into largesse.webhook_endpoint (name, origin, url_hash, types, is_configured, changed_at) values "
           "('elsewhere', 'http://e', 'e', '{activity.elsewhere}', true, now());"
           "update largesse.webhook_endpoint set named_at = now() - interval '50 s'");
  process_kill(rig->stack->fulfiller);
  stack_start_fulfiller(rig->stack);
  emit(rig, "activity.moody", 3, 1);
  WAIT_FOR(deliveries(rig, "moody", "event_id = 'e-3.x' and state = 'done'") == 1, SECONDS);
  sql_exec(rig->stack->sql, "update largesse.webhook_endpoint set named_at = named_at - interval '50 s'");
  WAIT_FOR(sql_int(rig->stack->sql,
                   "select count(*) from largesse.webhook_endpoint where named_at > now() - interval '30 s'") == before,
           SECONDS);
  assert_int_equal(sql_int(rig->stack->sql, "select count(*) from largesse.webhook_endpoint where is_configured"),
                   before + 1);
  sql_exec(rig->stack->sql, "delete from largesse.webhook_endpoint where name = 'elsewhere'");
}

static int api(struct rig *rig, const char *method, const char *path, const char *body, json_t **out)
{
  return http_json(rig->stack->reconciler_port, method, path, body, out);
}

// What the commands do, over HTTP at the reconciler.
static void the_reconciler_shows_and_switches_them(void **state)
{
  struct rig *rig = *state;
  json_t *unknown = NULL;
  assert_int_equal(api(rig, "GET", "/v1/webhooks/nobody/deliveries", NULL, &unknown), 404);
  assert_string_equal(json_string_value(json_object_get(unknown, "code")), "NOT_FOUND");
  json_decref(unknown);
  json_t *answer = NULL;
  assert_int_equal(api(rig, "GET", "/v1/webhooks", NULL, &answer), 200);
  assert_int_equal(json_array_size(json_object_get(answer, "items")), 13);
  json_decref(answer);
  assert_int_equal(api(rig, "GET", "/v1/webhooks/moody/deliveries?state=done&limit=1", NULL, &answer), 200);
  json_t *first = json_array_get(json_object_get(answer, "items"), 0);
  assert_string_equal(json_string_value(json_object_get(first, "type")), "activity.moody");
  assert_true(json_is_string(json_object_get(answer, "next")));
  char *body = support_format("{\"id\":\"%s\",\"reason\":\"again\"}", json_string_value(json_object_get(first, "id")));
  size_t before = hook_count(rig->hook, "/moody");
  json_decref(answer);
  assert_int_equal(api(rig, "POST", "/v1/webhooks/moody/replay", body, &answer), 200);
  assert_int_equal(json_integer_value(json_object_get(answer, "replayed")), 1);
  json_decref(answer);
  mem_free(body);
  WAIT_FOR(hook_count(rig->hook, "/moody") == before + 1, SECONDS);
  assert_int_equal(api(rig, "POST", "/v1/webhooks/moody/disable", "{\"reason\":\"quiet\"}", &answer), 200);
  assert_string_equal(json_string_value(json_object_get(answer, "status")), "disabled");
  json_decref(answer);
  assert_int_equal(
      sql_int(rig->stack->sql,
              "select count(*) from largesse.webhook_endpoint where name = 'moody' and disabled_by = 'operator'"),
      1);
  assert_int_equal(api(rig, "POST", "/v1/webhooks/moody/enable", "{\"reason\":\"loud\"}", &answer), 200);
  assert_true(json_is_true(json_object_get(answer, "changed")));
  json_decref(answer);
  static const struct {
    const char *path, *body;
    int status;
  } refused[] = {
      {"/v1/webhooks/moody/enable", "{}", 400},
      {"/v1/webhooks/nobody/enable", "{\"reason\":\"x\"}", 404},
      {"/v1/webhooks/nobody/replay", "{\"reason\":\"x\",\"id\":\"1\"}", 404},
      {"/v1/webhooks/moody/replay", "{\"reason\":\"x\"}", 400},
      {"/v1/webhooks/moody/replay", "{\"reason\":\"x\",\"since\":\"yesterday\"}", 400},
      {"/v1/webhooks/moody/replay", "{\"reason\":\"x\",\"since\":\"1us\"}", 200},
  };
  for (size_t i = 0; i < ARRAY_LEN(refused); i++) {
    assert_int_equal(api(rig, "POST", refused[i].path, refused[i].body, &answer), refused[i].status);
    json_decref(answer);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_claim_is_told_signed),
      cmocka_unit_test(b49_an_endpoint_that_hangs_delays_no_other),
      cmocka_unit_test(attempts_have_the_same_id_and_bytes),
      cmocka_unit_test(retry_after_is_honoured),
      cmocka_unit_test(gone_endpoints_are_disabled_until_an_operator_enables_them),
      cmocka_unit_test(failing_endpoints_are_disabled_after_a_while),
      cmocka_unit_test(secrets_rotate_by_sighup),
      cmocka_unit_test(internal_addresses_are_refused),
      cmocka_unit_test(the_reconciler_shows_and_switches_them),
      cmocka_unit_test(a_restart_with_other_endpoints_forgets_none),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
