// SPDX-License-Identifier: Apache-2.0
// Activities and claims of a test; see claims.h.
#include "tests/support/claims.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/mem.h"
#include "tests/support/support.h"

// --- activities

static void publish(struct sql *sql, const char *code)
{
  char *outcome =
      sql_text(sql, "select outcome from largesse.activity_action('%s', 'publish', 'test', null, null)", code);
  if (strcmp(outcome, "ok") != 0) support_die("activity %s cannot be published: %s", code, outcome);
  mem_free(outcome);
}

void activity_make(struct sql *sql, const struct activity_terms *t)
{
  char stock[32] = "null";
  if (t->stock != CLAIM_STOCK_UNLIMITED) (void)snprintf(stock, sizeof stock, "%lld", (long long)t->stock);
  char *reward = t->provider == NULL ? mem_strdup("voucher-100") : support_format("voucher-%s", t->provider);
  sql_exec(sql, "select largesse.reward_put('%s', '%s', 10000, 'CNY', '{}')", reward,
           t->provider != NULL ? t->provider : "simulator");
  char *outcome = sql_text(
      sql,
      "select p.outcome || coalesce(': ' || p.detail, '') from (select largesse.clock_now() as now) n cross join "
      "lateral largesse.activity_put("
      "  jsonb_build_object('code', '%s', 'name', 'test', 'kind', 'reward', 'timeZone', '%s', 'rewardCode', '%s',"
      "    'startAt', %s, 'endAt', %s, 'stock', jsonb_build_object('total', %s::bigint), 'limits', '%s'::jsonb), "
      "'test', null) p",
      t->code, t->time_zone != NULL ? t->time_zone : "Asia/Shanghai", reward,
      t->start != NULL ? t->start : "now - interval '1 hour'", t->end != NULL ? t->end : "now + interval '1 hour'",
      stock, t->limits != NULL ? t->limits : "[{\"count\":1,\"period\":\"total\"}]");
  if (strcmp(outcome, "created") != 0) support_die("activity %s: %s", t->code, outcome);
  mem_free(outcome);
  mem_free(reward);
  if (!t->draft) publish(sql, t->code);
}

void activity_multiply(struct sql *sql, const char *code, int count)
{
  sql_exec(sql,
           "begin;"
           "create temporary table copies on commit drop as"
           "  select a.id as old_id, a.id + g as id, a.code || '-' || g as code"
           "    from largesse.activity a, generate_series(1, %d) g where a.code = '%s';"
           "update largesse.activity_month m set last_id = last_id + %d"
           "  from (select distinct old_id / 1000000 as month from copies) c where m.month = c.month;"
           "insert into largesse.activity select (jsonb_populate_record(a, jsonb_build_object('id', c.id, 'code', "
           "c.code))).*"
           "  from copies c join largesse.activity a on a.id = c.old_id;"
           "insert into largesse.stock select (jsonb_populate_record(s, jsonb_build_object('activity_id', c.id))).*"
           "  from copies c join largesse.stock s on s.activity_id = c.old_id;"
           "insert into largesse.activity_limit select c.id, l.period, l.max_count"
           "  from copies c join largesse.activity_limit l on l.activity_id = c.old_id;"
           "commit",
           count, code, count);
}

int64_t activity_remaining(struct sql *sql, const char *code)
{
  return sql_int(sql,
                 "select sum(s.remaining)::bigint from largesse.stock s join largesse.activity a on a.id = "
                 "s.activity_id where a.code = '%s'",
                 code);
}

int64_t activity_claims(struct sql *sql, const char *code)
{
  return sql_int(
      sql, "select count(*) from largesse.claim c join largesse.activity a on a.id = c.activity_id where a.code = '%s'",
      code);
}

char *activity_books(struct sql *sql, const char *code)
{
  return sql_table(sql,
                   "select 'claim', c.id, c.biz_id, c.user_id, c.quantity, c.status from largesse.claim c join "
                   "largesse.activity a on a.id = c.activity_id"
                   "  where a.code = '%s' union all "
                   "select 'usage', 0, u.period, u.user_id, u.used, u.period_start::text from largesse.usage u join "
                   "largesse.activity a on a.id = u.activity_id"
                   "  where a.code = '%s' union all "
                   "select 'stock', s.segment, '', s.remaining, s.taken, '' from largesse.stock s join "
                   "largesse.activity a on a.id = s.activity_id"
                   "  where a.code = '%s' order by 1, 2, 3, 4, 5, 6",
                   code, code, code);
}

int activity_act(int port, const char *code, const char *action)
{
  char *path = support_format("/v1/activities/%s/%s", code, action);
  int status = http_json(port, "POST", path, "{\"reason\":\"test\"}", NULL);
  mem_free(path);
  return status;
}

// --- claims

struct claim_click claim_click(int port, const char *code, int64_t user, const char *biz_format, ...)
{
  struct claim_click c = {.port = port, .code = code, .user = user};
  va_list args;
  va_start(args, biz_format);
  int len = vsnprintf(c.biz_id, sizeof c.biz_id, biz_format, args);
  va_end(args);
  if (len < 0 || (size_t)len >= sizeof c.biz_id) support_die("bizId is too long");
  return c;
}

char *claim_body(const struct claim_click *c)
{
  struct buf b;
  buf_init(&b, 4096);
  buf_printf(&b, "{\"activityCode\":\"%s\",\"userId\":\"%lld\",\"bizId\":\"%s\"", c->code, (long long)c->user,
             c->biz_id);
  if (c->quantity != 0) buf_printf(&b, ",\"quantity\":%d", c->quantity);
  if (c->channel != NULL) buf_printf(&b, ",\"channel\":\"%s\"", c->channel);
  if (c->numbers != NULL) buf_printf(&b, ",\"numbers\":%s", c->numbers);
  buf_putc(&b, '}');
  return buf_take(&b);
}

static void copy_text(const json_t *object, const char *name, char *out, size_t size)
{
  const char *text = json_string_value(json_object_get(object, name));
  if (text != NULL && (size_t)snprintf(out, size, "%s", text) >= size)
    support_die("%s is longer than %zu: %s", name, size, text);
}

struct claim_answer claim_read(const struct http_answer *a)
{
  struct claim_answer out = {.status = a->status, .seconds = a->seconds};
  if (a->status == 0) return out;
  char *replayed = http_answer_header(a, "Idempotent-Replayed"), *type = http_answer_header(a, "Content-Type");
  const char *expected = a->status < 300 ? "application/json" : "application/problem+json";
  if (type == NULL || strncmp(type, expected, strlen(expected)) != 0)
    support_die("answer %d is of type %s", a->status, type != NULL ? type : "(none)");
  out.replayed = replayed != NULL && strcmp(replayed, "true") == 0;
  json_t *json = http_answer_json(a);
  if (a->status >= 300) copy_text(json, "code", out.code, sizeof out.code);
  copy_text(json, "claimId", out.claim_id, sizeof out.claim_id);
  if (a->status < 300) copy_text(json, "status", out.claim_status, sizeof out.claim_status);
  out.quantity = json_integer_value(json_object_get(json, "quantity"));
  json_decref(json);
  mem_free(replayed);
  mem_free(type);
  return out;
}

void claim_send_all(const struct claim_click *clicks, size_t count, struct claim_answer *outs)
{
  struct http_request *requests = MEM_ARRAY(struct http_request, count);
  struct http_answer *answers = MEM_ARRAY(struct http_answer, count);
  char **bodies = MEM_ARRAY(char *, count);
  for (size_t i = 0; i < count; i++) {
    bodies[i] = claim_body(&clicks[i]);
    requests[i] = (struct http_request){.port = clicks[i].port, .path = "/v1/claims", .body = bodies[i]};
  }
  http_call_all(requests, count, answers);
  for (size_t i = 0; i < count; i++) {
    outs[i] = claim_read(&answers[i]);
    http_answer_release(&answers[i]);
    mem_free(bodies[i]);
  }
  mem_free(bodies);
  mem_free(answers);
  mem_free(requests);
}

struct claim_answer claim_send(const struct claim_click *c)
{
  struct claim_answer out;
  claim_send_all(c, 1, &out);
  return out;
}

size_t claim_count(const struct claim_answer *answers, size_t count, int status, const char *code)
{
  size_t n = 0;
  for (size_t i = 0; i < count; i++)
    n += answers[i].status == status && (code == NULL || strcmp(answers[i].code, code) == 0);
  return n;
}

static double slowest_of(const struct claim_answer *answers, size_t count)
{
  double slowest = 0;
  for (size_t i = 0; i < count; i++)
    if (answers[i].seconds > slowest) slowest = answers[i].seconds;
  return slowest;
}

char *claim_summary(const struct claim_answer *answers, size_t count)
{
  struct buf out;
  buf_init(&out, 65536);
  for (size_t i = 0; i < count; i++) {
    const struct claim_answer *a = &answers[i];
    if (claim_count(answers, i, a->status, a->code) > 0) continue;  // counted already
    buf_printf(&out, "%zu x %d %s, ", claim_count(answers, count, a->status, a->code), a->status, a->code);
  }
  buf_printf(&out, "the slowest after %.2f s", slowest_of(answers, count));
  return buf_take(&out);
}
