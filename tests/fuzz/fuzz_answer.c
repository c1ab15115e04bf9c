// SPDX-License-Identifier: Apache-2.0
// Fuzzes providers' answers and the templates of profiles: no input crashes, verdicts are short valid UTF-8, an
// unreadable success is never done, and a JSON template that compiles renders JSON. libFuzzer entry; one thread. The
// first byte chooses status and kind.
#include <stdlib.h>
#include <string.h>

#include "common/jsonx.h"
#include "common/mem.h"
#include "common/text.h"
#include "fulfiller/outcome.h"
#include "fulfiller/template.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CHECK(condition)       \
  do {                         \
    if (!(condition)) abort(); \
  } while (0)

static void judge(enum provider_action action, enum call_kind kind, int status, const char *body, size_t len)
{
  static char when[] = "2xx /a/b=1", outcome[] = "done";
  struct conf_pair pair = {when, outcome};
  struct conf_pairs own = {.items = &pair, .count = 1};
  struct conf_fault fault = {.text = ""};
  struct answer_rules rules;
  struct verdict v;
  json_t *json = NULL;
  CHECK(answer_rules_compile(&own, action, kind, &rules, &fault) == RESULT_OK);
  rules.reference_pointer = "/ref";
  rules.code_pointer = "/code";
  rules.message_pointer = "/message";
  rules.retry_after_max = span_s(3600);
  struct http_answer answer = {.stage = HTTP_ANSWERED,
                               .status = status,
                               .body = body,
                               .body_len = len,
                               .retry_after = body,  // as good a text as any; the copy ends in a NUL
                               .content_type = "",
                               .fault = ""};
  outcome_classify(&rules, &answer, (struct wall_time){INT64_C(1795953600000000)}, &v);
  CHECK(v.retry_after.us >= 0 && v.retry_after.us <= rules.retry_after_max.us);
  bool is_json = jsonx_parse(body, len, &json, NULL) == RESULT_OK;
  if (len > 0 && !is_json && status < 300) CHECK(v.outcome == OUTCOME_UNKNOWN);
  CHECK(text_is_utf8(v.ref, strlen(v.ref)) && text_is_utf8(v.code, strlen(v.code)) &&
        text_is_utf8(v.detail, strlen(v.detail)));
  CHECK(answer_may_be_not_found(action, kind) || v.outcome != OUTCOME_NOT_FOUND);
  json_decref(json);
  answer_rules_release(&rules);
}

static void try_template(const char *text, enum template_place place)
{
  static const struct claim_facts facts = {.activity_id = 1,
                                           .claim_id = 2,
                                           .user_id = 3,
                                           .quantity = 4,
                                           .request_id = "1-2",
                                           .biz_id = "b\"\\\n",
                                           .activity_code = "a",
                                           .channel = "app",
                                           .reward_code = "r",
                                           .currency = "CNY",
                                           .has_amount = true,
                                           .amount = 5};
  static const struct template_means means = {.moment = {.now = {INT64_C(1795953600000000)}, .nonce = "00"}};
  struct conf_fault fault = {.text = ""};
  struct template t;
  struct buf out;
  json_t *json = NULL;
  if (template_compile(text, place, &t, &fault) != RESULT_OK) {
    CHECK(fault.text[0] != '\0');
    return;
  }
  buf_init(&out, 1024 * 1024);
  if (template_render(&t, &facts, &means, &out) == RESULT_OK && place == TEMPLATE_JSON) {
    // Two members may become equal only through values, such as {"${claim.bizId}":1,"b":2}.
    enum result result = jsonx_parse(buf_text(&out), out.len, &json, NULL);
    CHECK(result == RESULT_OK || strstr(text, "${") != NULL);
  }
  // Whatever a form was written like, it leaves as one line without blanks.
  if (place == TEMPLATE_FORM && buf_result(&out) == RESULT_OK) CHECK(strpbrk(buf_text(&out), " \t\r\n") == NULL);
  json_decref(json);
  buf_release(&out);
  template_release(&t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  static const int statuses[] = {200, 202, 204, 302, 404, 409, 429, 500};
  if (size == 0) return 0;
  char *text = mem_strndup((const char *)data + 1, size - 1);
  judge((enum provider_action)((data[0] >> 6) & 3), (data[0] & 8) != 0 ? CALL_ACT : CALL_INQUIRE, statuses[data[0] & 7],
        text, size - 1);
  try_template(text, (enum template_place)((data[0] >> 4) & 3));
  mem_free(text);
  return 0;
}
