// SPDX-License-Identifier: Apache-2.0
// Clients beside a test; see crowd.h.
#include "tests/support/crowd.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "common/mem.h"
#include "tests/support/claims.h"
#include "tests/support/delivery.h"
#include "tests/support/support.h"

#define RUN_SECONDS_MAX  "3600"
#define GRACE_SECONDS    90
#define FAULTS_BYTES_MAX (4 * 1024 * 1024)

struct crowd {
  struct stack *stack;
  char *activity, *record;
  struct process *load;
  int64_t accepted;
};

struct crowd *crowd_start(struct stack *s, const char *activity, int rate, uint64_t seed)
{
  struct crowd *c = MEM_NEW(struct crowd);
  char *bin = support_bin("../bench/load"), *dir = support_log_dir(), *rate_text = support_format("%d", rate);
  char *seed_text = support_format("%llu", (unsigned long long)seed), *prefix = support_format("%s-", activity);
  char *urls[STACK_SCHEDULERS_MAX] = {0};
  const char *argv[40] = {bin,
                          "--activity",
                          activity,
                          "--rate",
                          rate_text,
                          "--seed",
                          seed_text,
                          "--biz-prefix",
                          prefix,
                          "--users",
                          "random:10000000",
                          "--connections",
                          "128",
                          "--seconds",
                          RUN_SECONDS_MAX,
                          "--timeout",
                          "5",
                          "--grace",
                          "80",
                          "--repeat-unanswered",
                          "--json"};
  size_t n = 21;
  c->stack = s;
  c->activity = mem_strdup(activity);
  c->record = support_format("%s/%s.csv", dir, activity);
  argv[n++] = "--record";
  argv[n++] = c->record;
  for (int i = 0; i < s->scheduler_count; i++) {
    urls[i] = support_format("http://127.0.0.1:%d", s->scheduler_ports[i]);
    argv[n++] = "--url";
    argv[n++] = urls[i];
  }
  c->load = process_start(&(struct process_spec){.name = "load", .argv = argv});
  for (size_t i = 0; i < STACK_SCHEDULERS_MAX; i++) mem_free(urls[i]);
  mem_free(prefix);
  mem_free(seed_text);
  mem_free(rate_text);
  mem_free(dir);
  mem_free(bin);
  return c;
}

void crowd_end(struct crowd *c)
{
  process_signal(c->load, SIGTERM);
  int status = process_wait(c->load, GRACE_SECONDS);
  if (status == 0) return;
  process_show_log(c->load, 20);
  support_die("load ended with %d: some clicks stayed without an answer", status);
}

static void add(struct buf *faults, const char *what, char *table)
{
  if (table[0] != '\0') buf_printf(faults, "%s:\n%s\n", what, table);
  mem_free(table);
}

static void compare_clients(struct crowd *c, struct buf *faults)
{
  struct sql *sql = c->stack->sql;
  delivery_import_record(c->stack, c->record);
  add(faults, "answers that clients should not get",
      sql_table(sql,
                "select status, code, count(*) from test_record where status not in (200, 201) and not (status = 409 "
                "and code = 'LIMIT_REACHED') group by 1, 2 limit 20"));
  add(faults, "what clients were told | what the claims say",
      sql_table(
          sql,
          "with told as (select biz_id, user_id, claim_id from test_record where status in (200, 201)),"
          "     rows as (select c.biz_id, c.user_id, c.activity_id || '-' || c.id as claim_id, c.status from "
          "largesse.claim c"
          "                join largesse.activity a on a.id = c.activity_id where a.code = '%s')"
          "select t.biz_id, t.claim_id, r.biz_id, r.claim_id, r.status from told t full join rows r using (biz_id)"
          " where t.claim_id is null or r.claim_id is null or t.claim_id <> r.claim_id or t.user_id <> r.user_id or "
          "r.status <> 'succeeded' limit 20",
          c->activity));
  c->accepted = sql_int(sql, "select count(*) from test_record where status in (200, 201)");
}

static void audit(struct crowd *c, struct buf *faults)
{
  struct buf out;
  buf_init(&out, 1024 * 1024);
  int status = stack_command(c->stack, "reconciler", (const char *[]){"audit", "--all", NULL}, &out);
  if (status != 0) buf_printf(faults, "reconciler audit --all ended with %d:\n%.2000s\n", status, buf_text(&out));
  buf_release(&out);
}

char *crowd_faults(struct crowd *c, int64_t stock)
{
  struct buf faults;
  buf_init(&faults, FAULTS_BYTES_MAX);
  compare_clients(c, &faults);
  add(&faults, "claims and the provider's books", delivery_faults(c->stack));
  int64_t remaining = activity_remaining(c->stack->sql, c->activity);
  if (remaining != stock - c->accepted)
    buf_printf(&faults, "remaining stock: %lld instead of %lld\n", (long long)remaining,
               (long long)(stock - c->accepted));
  add(&faults, "dead letters",
      sql_table(c->stack->sql, "select id, claim_id, cause, detail from largesse.dead_letter limit 20"));
  audit(c, &faults);
  return buf_take(&faults);
}

int64_t crowd_accepted(struct crowd *c) { return c->accepted; }

void crowd_free(struct crowd *c)
{
  if (c == NULL) return;
  process_free(c->load);
  mem_free(c->activity);
  mem_free(c->record);
  mem_free(c);
}
