// SPDX-License-Identifier: Apache-2.0
// Deliveries of a test; see delivery.h.
#include "tests/support/delivery.h"

#include <stdio.h>
#include <string.h>

#include "common/mem.h"
#include "tests/support/claims.h"
#include "tests/support/http.h"
#include "tests/support/provider_yaml.h"
#include "tests/support/simulator.h"
#include "tests/support/support.h"

#define ROWS_PER_INSERT  1000
#define LEDGER_PAGE      5000
#define SCRIPT_BYTES_MAX (1024 * 1024)

#define REQUESTS \
  SIMULATOR_ELSEWHERE SIMULATOR_DELIVER("") SIMULATOR_INQUIRE SIMULATOR_REVERSE("") "      pending_poll: 1s\n" \
  "      breaker: { failure_ratio: 0 }\n"

static const char config[] = SWEEPS_SOON
    "fulfiller:\n"
    "  providers:\n"
    "    simulator:\n" REQUESTS
    "      total_timeout: 600ms\n"
    "      connect_timeout: 500ms\n"
    "      not_found_after: 700ms\n"
    "      ladder: [800ms, 1200ms, 1600ms, 2500ms]\n"
    "      attempts: 4\n"
    "      concurrency: 256\n"
    "      prefetch: 128\n"
    "    simulator-b:\n" REQUESTS
    "      total_timeout: 4s\n"
    "      connect_timeout: 1s\n"
    "      not_found_after: 4s\n"
    "      ladder: [1s, 4s]\n"
    "      attempts: 6\n"
    "      concurrency: 6\n"
    "      prefetch: 3\n";

// --- the stack

struct stack *delivery_stack(struct server *server, const struct stack_options *options)
{
  struct stack_options o = *options;
  char *path = support_write("delivery.yaml", "%s", config);
  o.config = path;
  struct stack *s = stack_start(server, &o);
  simulator_config(s->simulator_port, "{\"dedupe\":false}");
  mem_free(path);
  return s;
}

int delivery_set_up(void **state)
{
  struct delivery_rig *rig = MEM_NEW(struct delivery_rig);
  rig->server = server_start();
  rig->stack = delivery_stack(rig->server, &(struct stack_options){.no_reconciler = true});
  rig->broker = broker_open(rig->stack->broker_url);
  *state = rig;
  return 0;
}

int delivery_tear_down(void **state)
{
  struct delivery_rig *rig = *state;
  broker_close(rig->broker);
  stack_free(rig->stack);
  server_free(rig->server);
  mem_free(rig);
  return 0;
}

void delivery_stop_simulator(struct stack *s) { process_kill(s->simulator); }

void delivery_start_simulator(struct stack *s)
{
  stack_start_simulator(s);
  simulator_config(s->simulator_port, "{\"dedupe\":false}");
}

// --- claims

struct delivery_claim delivery_claim(struct stack *s, const char *activity, int64_t user)
{
  struct claim_click click = claim_click(s->scheduler_ports[0], activity, user, "%s-%lld", activity, (long long)user);
  struct claim_answer answer = claim_send(&click);
  struct delivery_claim claim;
  if (answer.status != 201)
    support_die("claim of user %lld in %s: %d %s", (long long)user, activity, answer.status, answer.code);
  (void)snprintf(claim.id, sizeof claim.id, "%s", answer.claim_id);
  return claim;
}

int64_t delivery_int(struct stack *s, const char *claim_id, const char *expression)
{
  return sql_int(s->sql,
                 "select (%s)::bigint from largesse.claim where activity_id = split_part('%s', '-', 1)::bigint and id "
                 "= split_part('%s', '-', 2)::bigint",
                 expression, claim_id, claim_id);
}

bool delivery_is(struct stack *s, const char *claim_id, const char *status)
{
  char *expression = support_format("(status = '%s')::int", status);
  bool is = delivery_int(s, claim_id, expression) == 1;
  mem_free(expression);
  return is;
}

int64_t delivery_effects(struct stack *s, const char *claim_id)
{
  return simulator_ledger(s->simulator_port, claim_id, "effects");
}
int64_t delivery_hits(struct stack *s, const char *claim_id)
{
  return simulator_ledger(s->simulator_port, claim_id, "hits");
}

char *delivery_message(const char *claim_id, int attempt)
{
  return support_format("{\"v\":1,\"claims\":[{\"id\":\"%s\",\"attempt\":%d}]}", claim_id, attempt);
}

void delivery_publish(struct broker *b, const char *provider, const char *claim_id, int attempt)
{
  char *body = delivery_message(claim_id, attempt);
  broker_publish(b, "largesse.fulfilment", provider, body, strlen(body));
  mem_free(body);
}

json_t *delivery_take_dead(struct broker *b)
{
  struct buf body;
  json_t *json = NULL;
  buf_init(&body, 1024 * 1024);
  if (broker_get(b, DELIVERY_DEAD, &body)) {
    json = json_loadb(buf_text(&body), body.len, JSON_REJECT_DUPLICATES, NULL);
    if (json == NULL) support_die("no JSON on %s: %s", DELIVERY_DEAD, buf_text(&body));
  }
  buf_release(&body);
  return json;
}

void delivery_script(struct stack *s, int64_t user, const char *steps)
{
  char *json = support_format("{\"match\":{\"userId\":%lld},\"steps\":%s}", (long long)user, steps);
  simulator_script(s->simulator_port, json);
  mem_free(json);
}

// --- books

// Rows go to the database in statements of many rows.
struct insert {
  struct sql *sql;
  const char *table;
  struct buf text;
  size_t rows;
};

static struct insert insert_begin(struct stack *s, const char *table, const char *columns)
{
  struct insert in = {.sql = s->sql, .table = table};
  sql_exec(s->sql, "drop table if exists %s; create temporary table %s (%s)", table, table, columns);
  buf_init(&in.text, SCRIPT_BYTES_MAX);
  return in;
}

static void insert_flush(struct insert *in)
{
  if (in->rows > 0) sql_exec(in->sql, "insert into %s values %s", in->table, buf_text(&in->text));
  buf_clear(&in->text);
  in->rows = 0;
}

// Before each row.
static void insert_row(struct insert *in)
{
  if (in->rows == ROWS_PER_INSERT) insert_flush(in);
  if (in->rows++ > 0) buf_putc(&in->text, ',');
}

static void insert_end(struct insert *in)
{
  insert_flush(in);
  buf_release(&in->text);
}

static long long member(const json_t *entry, const char *name)
{
  return json_integer_value(json_object_get(entry, name));
}

// Puts the entries from the `after`-th on; how many there were.
static size_t put_page(struct stack *s, struct insert *in, size_t after)
{
  char *path = support_format("/sim/ledger?limit=%d&after=%zu", LEDGER_PAGE, after);
  json_t *page = NULL;
  if (http_json(s->simulator_port, "GET", path, NULL, &page) != 200 || !json_is_array(page))
    support_die("simulator: GET %s", path);
  size_t count = json_array_size(page);
  for (size_t i = 0; i < count; i++) {
    const json_t *entry = json_array_get(page, i);
    const char *id = json_string_value(json_object_get(entry, "requestId"));
    if (id == NULL) support_die("simulator: an entry without requestId");
    insert_row(in);
    buf_printf(&in->text, "('%s',%lld,%lld,%lld)", id, member(entry, "hits"), member(entry, "effects"),
               member(entry, "reversals"));
  }
  json_decref(page);
  mem_free(path);
  return count;
}

void delivery_import_ledger(struct stack *s)
{
  struct insert in = insert_begin(s, "test_ledger", "claim_id text, hits bigint, effects bigint, reversals bigint");
  size_t after = 0, count;
  do after += count = put_page(s, &in, after);
  while (count == LEDGER_PAGE);
  insert_end(&in);
}

void delivery_import_record(struct stack *s, const char *csv_path)
{
  struct insert in =
      insert_begin(s, "test_record", "biz_id text, user_id bigint, status int, claim_id text, code text");
  FILE *f = fopen(csv_path, "re");
  char line[512], biz[80], user[24], status[8], claim[48], code[48];
  if (f == NULL || fgets(line, sizeof line, f) == NULL) support_die("cannot read %s", csv_path);
  while (fgets(line, sizeof line, f) != NULL) {
    char *at = line, *fields[] = {biz, user, status, claim, code};
    const size_t sizes[] = {sizeof biz, sizeof user, sizeof status, sizeof claim, sizeof code};
    for (size_t i = 0; i < 5; i++) {
      const char *field = strsep(&at, ",");
      if (field == NULL || at == NULL || (size_t)snprintf(fields[i], sizes[i], "%s", field) >= sizes[i])
        support_die("%s: %s", csv_path, line);
    }
    insert_row(&in);
    buf_printf(&in.text, "('%s',%s,%s,'%s','%s')", biz, user, status, claim, code);
  }
  (void)fclose(f);
  insert_end(&in);
}

char *delivery_faults(struct stack *s)
{
  delivery_import_ledger(s);
  return sql_table(
      s->sql,
      "select coalesce(c.claim_id, l.claim_id), coalesce(c.status, 'no such claim'), c.review_cause, 'effects ' || "
      "coalesce(l.effects, 0),"
      "       'hits ' || coalesce(l.hits, 0)"
      "  from (select activity_id || '-' || id as claim_id, status, review_cause from largesse.claim) c full join "
      "test_ledger l using (claim_id)"
      " where c.claim_id is null or c.status not in ('succeeded', 'failed')"
      "    or coalesce(l.effects, 0) <> case c.status when 'succeeded' then 1 else 0 end order by 1 limit 20");
}
