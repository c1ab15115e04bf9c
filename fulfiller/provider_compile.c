// SPDX-License-Identifier: Apache-2.0
// From a block of the configuration to a provider: templates, rules and the checks that need more than one key.
// Pure; any thread.
#include <stdio.h>
#include <strings.h>

#include "common/mem.h"
#include "fulfiller/limit.h"
#include "fulfiller/provider.h"

#define LEASE_MARGIN_US 1000000

#define FAIL(fault, ...) (snprintf((fault)->text, sizeof(fault)->text, __VA_ARGS__), RESULT_INVALID)

// Puts the key in front of a fault that was told without its place.
static enum result fault_at(struct conf_fault *fault, const char *request, const char *key)
{
  struct conf_fault inner = *fault;
  return FAIL(fault, "%s.%s: %.300s", request, key, inner.text);
}

static bool is_json(const char *body)
{
  size_t at = strspn(body, " \t\r\n");
  return body[at] == '{' || body[at] == '[';
}

static bool has_header(const struct provider_request *r, const char *name)
{
  for (size_t i = 0; i < r->header_count; i++) {
    if (strcasecmp(r->headers[i].name, name) == 0) return true;
  }
  return false;
}

static bool is_header_name(const char *name)
{
  size_t len = strlen(name);
  return len > 0 &&
         strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.!#$%&'*+^`|~") == len;
}

static enum result add_header(struct provider_request *r, const char *name, const char *value, struct conf_fault *fault)
{
  if (!is_header_name(name)) return FAIL(fault, "'%.60s' is no name of a header", name);
  if (has_header(r, name)) return FAIL(fault, "header '%.60s' is set twice", name);
  if (r->header_count == PROVIDER_HEADERS_MAX) return FAIL(fault, "more than %d headers", PROVIDER_HEADERS_MAX);
  struct provider_header *header = &r->headers[r->header_count];
  enum result result = template_compile(value, TEMPLATE_HEADER, &header->value, fault);
  if (result != RESULT_OK) return result;
  header->name = name;
  r->has_request_id = r->has_request_id || header->value.has_request_id;
  r->header_count++;
  return RESULT_OK;
}

static enum result add_headers(const struct request_conf *conf, const char *request_id_header,
                               struct provider_request *r, struct conf_fault *fault)
{
  enum result result = RESULT_OK;
  for (size_t i = 0; result == RESULT_OK && i < conf->headers.count; i++) {
    result = add_header(r, conf->headers.items[i].name, conf->headers.items[i].value, fault);
    if (result != RESULT_OK) fault->line = conf_pair_line(&conf->headers, i);
  }
  if (result == RESULT_OK && request_id_header[0] != '\0')
    result = add_header(r, request_id_header, "${claim.requestId}", fault);
  if (result == RESULT_OK && conf->body != NULL && !has_header(r, "Content-Type")) {
    result = add_header(r, "Content-Type",
                        is_json(conf->body) ? "application/json" : "application/x-www-form-urlencoded", fault);
  }
  return result;
}

// The body with the request id as its first member, if the profile wants it there.
static void body_with_field(const char *body, const char *field, struct buf *out)
{
  if (!is_json(body)) {
    buf_printf(out, "%s=${claim.requestId}%s%s", field, body[0] == '\0' ? "" : "&", body);
    return;
  }
  const char *rest = strchr(body, '{');
  if (rest == NULL) rest = body;  // a list has no members: the check of the JSON will say so
  const char *next = rest + 1 + strspn(rest + 1, " \t\r\n");
  buf_puts(out, "{");
  buf_put_json(out, field, strlen(field));
  buf_printf(out, ":\"${claim.requestId}\"%s%s", *next == '}' ? "" : ",", rest + 1);
}

static enum result compile_body(const char *body, const char *field, struct provider_request *r,
                                struct conf_fault *fault)
{
  struct buf text;
  buf_init(&text, 64 * 1024);
  if (field[0] == '\0')
    buf_puts(&text, body);
  else
    body_with_field(body, field, &text);
  enum result result =
      template_compile(buf_text(&text), is_json(body) ? TEMPLATE_JSON : TEMPLATE_FORM, &r->body, fault);
  buf_release(&text);
  r->has_body = result == RESULT_OK;
  return result;
}

static enum result check_secret(const struct provider_conf *conf, const struct template *t, struct conf_fault *fault)
{
  const char *missing = template_missing_secret(t, &conf->secrets);
  return missing == NULL ? RESULT_OK : FAIL(fault, "${secret.%.60s} is not among secrets", missing);
}

static enum result check_secrets(const struct provider_conf *conf, const struct provider_request *r, const char *name,
                                 struct conf_fault *fault)
{
  if (check_secret(conf, &r->body, fault) != RESULT_OK) return fault_at(fault, name, "body");
  for (size_t i = 0; i < r->header_count; i++) {
    if (check_secret(conf, &r->headers[i].value, fault) != RESULT_OK) return fault_at(fault, name, "headers");
  }
  return RESULT_OK;
}

// Which request is being compiled.
struct request_place {
  enum provider_action action;
  enum call_kind kind;
  const char *name;
};

// What signing adds must not be there already, and must have a place.
static enum result check_signed(const struct provider *p, const struct request_place *place,
                                const struct provider_request *r, const char *body, struct conf_fault *fault)
{
  const char *names[] = {p->sign.header, p->sign.timestamp_header};
  for (size_t i = 0; i < ARRAY_LEN(names); i++) {
    if (names[i] == NULL) continue;
    if (!is_header_name(names[i]))
      return FAIL(fault, "sign.%s: '%.60s' is no name of a header", i == 0 ? "header" : "timestamp_header", names[i]);
    if (has_header(r, names[i]))
      return FAIL(fault, "%s.headers: header '%.60s' is set twice: sign.scheme sets it", place->name, names[i]);
  }
  if (p->sign.scheme == SIGN_ALIPAY_RSA2 && body != NULL && is_json(body))
    return FAIL(fault, "%s.body: alipay_rsa2 signs forms, not JSON", place->name);
  return RESULT_OK;
}

// Only the answer to these brings the provider's reference: a request that names it could never be made.
static enum result check_reference(const struct request_place *place, const struct provider_request *r,
                                   struct conf_fault *fault)
{
  if (place->kind != CALL_ACT || (place->action != ACTION_DELIVER && place->action != ACTION_CHARGE)) return RESULT_OK;
  const char *key = r->path.has_provider_ref ? "path" : r->body.has_provider_ref ? "body" : NULL;
  for (size_t i = 0; i < r->header_count && key == NULL; i++)
    if (r->headers[i].value.has_provider_ref) key = "headers";
  if (key == NULL) return RESULT_OK;
  (void)FAIL(fault, "${claim.providerRef}: there is none before the answer to this request");
  return fault_at(fault, place->name, key);
}

static enum result compile_request(const struct provider_conf *conf, const struct request_conf *request,
                                   const struct request_place *place, struct provider_request *out,
                                   struct conf_fault *fault)
{
  if (request->path == NULL) return RESULT_OK;
  bool is_act = place->kind == CALL_ACT;
  out->exists = true;
  out->method = request->method;
  if (template_compile(request->path, TEMPLATE_PATH, &out->path, fault) != RESULT_OK)
    return fault_at(fault, place->name, "path");
  if (add_headers(request, is_act ? conf->request_id_header : "", out, fault) != RESULT_OK)
    return fault_at(fault, place->name, "headers");
  if (request->body != NULL &&
      compile_body(request->body, is_act ? conf->request_id_field : "", out, fault) != RESULT_OK) {
    return fault_at(fault, place->name, "body");
  }
  if (answer_rules_compile(&request->answers, place->action, place->kind, &out->rules, fault) != RESULT_OK)
    return fault_at(fault, place->name, "answers");
  out->rules.format = (enum answer_format)conf->answer_format;
  out->rules.reference_pointer = conf->reference_pointer;
  out->rules.request_id_pointer = conf->request_id_pointer;
  if (place->action == ACTION_CHARGE) out->rules.url_pointer = conf->payment_url_pointer;
  out->rules.code_pointer = conf->code_pointer;
  out->rules.message_pointer = conf->message_pointer;
  out->rules.retry_after_max = conf->retry_after_max;
  if (check_secrets(conf, out, place->name, fault) != RESULT_OK) return RESULT_INVALID;
  if (check_reference(place, out, fault) != RESULT_OK) return RESULT_INVALID;
  out->has_request_id = out->has_request_id || out->path.has_request_id || out->body.has_request_id;
  return RESULT_OK;
}

static bool is_method(const char *method)
{
  static const char *const methods[] = {"GET", "POST", "PUT", "DELETE"};
  for (size_t i = 0; i < ARRAY_LEN(methods); i++) {
    if (strcmp(method, methods[i]) == 0) return true;
  }
  return false;
}

static enum result check_urls(const struct provider_conf *conf, struct conf_fault *fault)
{
  size_t len = strlen(conf->base_url);
  if (strncmp(conf->base_url, "http://", 7) != 0 && strncmp(conf->base_url, "https://", 8) != 0) {
    return FAIL(fault, "base_url: must begin with http:// or https://");
  }
  if (conf->base_url[len - 1] == '/' || strpbrk(conf->base_url, " ?#\t\r\n") != NULL) {
    return FAIL(fault, "base_url: must end before the path's '/', without query or fragment");
  }
  if (conf->actions[ACTION_DELIVER].call.path == NULL && conf->actions[ACTION_CHARGE].call.path == NULL)
    return FAIL(fault, "deliver.path: is missing");  // who only takes money has `charge` instead
  return RESULT_OK;
}

static enum result check_action(const struct provider_conf *conf, enum provider_action action, struct conf_fault *fault)
{
  const struct action_conf *a = &conf->actions[action];
  const char *call = action_request_name(action, CALL_ACT), *inquiry = action_request_name(action, CALL_INQUIRE);
  if (!is_method(a->call.method)) return FAIL(fault, "%s.method: must be GET, POST, PUT or DELETE", call);
  if (!is_method(a->inquire.method)) return FAIL(fault, "%s.method: must be GET, POST, PUT or DELETE", inquiry);
  if (action == ACTION_CHARGE && !is_method(a->close.method))
    return FAIL(fault, "close.method: must be GET, POST, PUT or DELETE");
  if (a->call.path == NULL && a->inquire.path != NULL) return FAIL(fault, "%s: there is no %s.path", inquiry, call);
  if (a->call.path == NULL && a->close.path != NULL) return FAIL(fault, "close: there is no %s.path", call);
  if (action == ACTION_DELIVER && a->call.path != NULL && a->call.body == NULL && conf->request_id_field[0] != '\0')
    return FAIL(fault, "request_id_field: %s.body is missing", call);
  return RESULT_OK;
}

static enum result check_limits(const struct provider_conf *conf, struct conf_fault *fault)
{
  double rate;
  if (limit_rate_parse(conf->rate, &rate) != RESULT_OK)
    return FAIL(fault, "rate: must be a number from 0.01 to 1000000 with at most six decimals, or 0");
  return RESULT_OK;
}

static enum result check_times(const struct provider_conf *conf, struct conf_fault *fault)
{
  struct span longest = {0};
  if (conf->ladder.count == 0) return FAIL(fault, "ladder: must have at least one delay");
  for (size_t i = 0; i < conf->ladder.count; i++) {
    if (conf->ladder.items[i].us > longest.us) longest = conf->ladder.items[i];
  }
  bool has_inquiry = false;
  for (int i = 0; i < ACTION_COUNT; i++) has_inquiry = has_inquiry || conf->actions[i].inquire.path != NULL;
  if (!has_inquiry) return RESULT_OK;
  if (conf->not_found_after.us < conf->total_timeout.us)
    return FAIL(fault, "not_found_after: must be at least total_timeout");
  if (conf->not_found_after.us > longest.us)
    return FAIL(fault, "not_found_after: must be at most the longest delay of the ladder");
  return RESULT_OK;
}

// After an inquiry a delivery may follow under the same lease. When the lease has run out, a delivery made under it
// must be old enough for the next inquiry's "not found" to be true, whatever became of the process that made it.
static void derive_spans(struct provider *p)
{
  struct span total = p->conf->total_timeout, trust = p->conf->not_found_after;
  bool has_inquiry = false;
  for (int i = 0; i < ACTION_COUNT; i++) has_inquiry = has_inquiry || p->actions[i].inquire.exists;
  struct span last = has_inquiry && trust.us > total.us ? trust : total;
  p->second_call = span_us(last.us + LEASE_MARGIN_US);
  p->lease = span_us(total.us + p->second_call.us + LEASE_MARGIN_US);
}

static bool request_has_params(const struct provider_request *r)
{
  bool has = r->path.has_params || r->body.has_params;
  for (size_t i = 0; i < r->header_count; i++) has = has || r->headers[i].value.has_params;
  return has;
}

// It speaks of the charge's request: it has no request id of its own to carry.
static enum result compile_close(struct provider *p, const struct request_conf *conf, struct provider_request *out,
                                 struct conf_fault *fault)
{
  enum result result;
  const struct request_place place = {ACTION_CHARGE, CALL_CLOSE, action_request_name(ACTION_CHARGE, CALL_CLOSE)};
  TRY(compile_request(p->conf, conf, &place, out, fault));
  if (out->exists) TRY(check_signed(p, &place, out, conf->body, fault));
cleanup:
  return result;
}

static enum result compile_action(struct provider *p, enum provider_action action, struct conf_fault *fault)
{
  enum result result;
  const struct action_conf *conf = &p->conf->actions[action];
  struct provider_action_profile *out = &p->actions[action];
  const struct request_place call = {action, CALL_ACT, action_request_name(action, CALL_ACT)};
  const struct request_place inquiry = {action, CALL_INQUIRE, action_request_name(action, CALL_INQUIRE)};
  TRY(check_action(p->conf, action, fault));
  TRY(compile_request(p->conf, &conf->call, &call, &out->call, fault));
  TRY(compile_request(p->conf, &conf->inquire, &inquiry, &out->inquire, fault));
  if (out->call.exists) TRY(check_signed(p, &call, &out->call, conf->call.body, fault));
  if (out->inquire.exists) TRY(check_signed(p, &inquiry, &out->inquire, conf->inquire.body, fault));
  out->repeat_is_safe = conf->repeat_is_safe;
  if (action == ACTION_CHARGE) TRY(compile_close(p, &conf->close, &out->close, fault));
  p->has_params = p->has_params || request_has_params(&out->call) || request_has_params(&out->inquire) ||
                  request_has_params(&out->close);
cleanup:
  return result;
}

enum result provider_compile(const char *name, const struct provider_conf *conf, struct provider *out_provider,
                             struct conf_fault *out_fault)
{
  enum result result;
  struct provider *p = MEM_NEW(struct provider);
  p->name = name;
  p->conf = conf;
  TRY(check_urls(conf, out_fault));
  TRY(check_times(conf, out_fault));
  TRY(sign_profile_compile(conf, &p->sign, out_fault));
  redact_init(&p->redact, &conf->mask);
  TRY(check_limits(conf, out_fault));
  for (int i = 0; i < ACTION_COUNT; i++) TRY(compile_action(p, (enum provider_action)i, out_fault));
  derive_spans(p);
  *out_provider = *p;
  *p = (struct provider){0};
cleanup:
  provider_release(p);
  mem_free(p);
  return result;
}

static void request_release(struct provider_request *r)
{
  template_release(&r->path);
  template_release(&r->body);
  for (size_t i = 0; i < r->header_count; i++) template_release(&r->headers[i].value);
  answer_rules_release(&r->rules);
}

void provider_release(struct provider *p)
{
  for (int i = 0; i < ACTION_COUNT; i++) {
    request_release(&p->actions[i].call);
    request_release(&p->actions[i].inquire);
    request_release(&p->actions[i].close);
  }
  provider_keys_release(&p->keys);
  signature_free(p->signature);
  redact_release(&p->redact);
  *p = (struct provider){0};
}

// The running templates go on asking for the secrets they were compiled with.
static enum result check_complete(const struct provider_conf *conf, const struct provider_keys *keys,
                                  struct conf_fault *fault)
{
  for (size_t i = 0; i < conf->secrets.count; i++) {
    const char *name = conf->secrets.items[i].name;
    if (provider_keys_find(keys, name) == NULL)
      return FAIL(fault, "secrets: '%.60s' is still in use: taking it away needs a restart", name);
  }
  return RESULT_OK;
}

enum result provider_load_keys(struct provider *p, const struct conf_pairs *secrets, struct conf_fault *out_fault)
{
  enum result result;
  struct provider_keys keys = {.count = 0};
  struct provider_conf conf = *p->conf;  // the running settings with the new files
  conf.secrets = *secrets;
  TRY(provider_keys_load(&conf, &keys, out_fault));
  TRY(check_complete(p->conf, &keys, out_fault));
  provider_keys_release(&p->keys);
  redact_release(&p->redact);
  redact_init(&p->redact, &p->conf->mask);
  p->keys = keys;
  keys = (struct provider_keys){.count = 0};
  provider_keys_mask(&p->keys, &p->redact);
  if (p->signature == NULL && p->sign.scheme != SIGN_NONE) p->signature = signature_new();
cleanup:
  provider_keys_release(&keys);
  return result;
}

enum result provider_fault(const char *file, const struct conf_entry *entry, const struct conf_fault *inner,
                           struct conf_fault *out_fault)
{
  int line = inner->line != 0 ? inner->line : conf_entry_line(fulfiller_provider_table(), entry, inner->text);
  if (line < 0) line = entry->line;  // out of the environment, which has no lines
  return FAIL(out_fault, "%.100s:%d: fulfiller.providers.%.64s.%.200s", file == NULL ? "configuration" : file, line,
              entry->name, inner->text);
}

enum result provider_check_all(const struct fulfiller_conf *conf, const char *file, bool reads_files,
                               struct conf_fault *out_fault)
{
  for (size_t i = 0; i < conf->providers.count; i++) {
    const struct conf_entry *entry = &conf->providers.items[i];
    struct provider p = {0};
    struct conf_fault inner = {.text = ""};
    enum result result = provider_compile(entry->name, entry->block, &p, &inner);
    if (result == RESULT_OK && reads_files) result = provider_load_keys(&p, &p.conf->secrets, &inner);
    provider_release(&p);
    if (result != RESULT_OK) return provider_fault(file, entry, &inner, out_fault);
  }
  return RESULT_OK;
}
