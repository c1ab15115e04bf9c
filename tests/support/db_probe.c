// SPDX-License-Identifier: Apache-2.0
// A rig for tests of common/db; see db_probe.h.
#include "tests/support/db_probe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/daemon_tables.h"
#include "common/log.h"
#include "common/mem.h"
#include "common/metric.h"
#include "tests/support/support.h"

void rig_init(struct db_probe_rig *rig, char *conninfo)
{
  *rig = (struct db_probe_rig){0};
  rig->rt.loop = loop_new();
  rig->rt.log = log_new("test", log_events, ARRAY_LEN(log_events), STDERR_FILENO);
  log_set(rig->rt.log, getenv("LARGESSE_TEST_VERBOSE") != NULL ? LOG_DEBUG : LOG_ERROR, LOG_FORMAT_TEXT);
  rig->rt.metrics = metric_set_new(metric_defs, ARRAY_LEN(metric_defs));
  rig->conf = (struct db_conf){.conninfo = conninfo,
                               .pool_size = 2,
                               .queue_max = 64,
                               .connect_timeout = span_s(5),
                               .statement_timeout = span_s(10),
                               .slow_statement = span_s(5)};
}

void rig_open_pool(struct db_probe_rig *rig, const char *role)
{
  rig->pool = db_pool_new(&rig->rt, &rig->conf, "db_probe", role);
  RIG_WAIT(rig, rig_metric(rig, "largesse_db_pool_connected ") >= (double)rig->conf.pool_size, 10);
}

void rig_close_pool(struct db_probe_rig *rig)
{
  db_pool_free(rig->pool);
  rig->pool = NULL;
}

void rig_release(struct db_probe_rig *rig)
{
  rig_close_pool(rig);
  loop_free(rig->rt.loop);
  metric_set_free(rig->rt.metrics);
  log_free(rig->rt.log);
}

double rig_metric(struct db_probe_rig *rig, const char *line_start)
{
  struct buf page;
  buf_init(&page, METRIC_PAGE_BYTES_MAX);
  buf_putc(&page, '\n');
  metric_render(rig->rt.metrics, &page);
  double value = -1;
  size_t len = strlen(line_start);
  for (const char *at = strstr(buf_text(&page), line_start); at != NULL; at = strstr(at + 1, line_start)) {
    if (at[-1] != '\n') continue;
    const char *space = strchr(at + len - 1, ' ');
    if (space != NULL) value = strtod(space + 1, NULL);
    break;
  }
  buf_release(&page);
  return value;
}

static void answered(struct db_probe *p)
{
  p->rig->answers++;
  if (p->on_answer != NULL) p->on_answer(p);
}

static void on_rows(struct db_request *req, const struct db_rows *rows)
{
  struct db_probe *p = CONTAINER_OF(req, struct db_probe, req);
  p->rows_calls++;
  p->row_count = db_rows_count(rows);
  int number = db_rows_column(rows, "number"), text = db_rows_column(rows, "text");
  if (p->row_count > 0 && number >= 0) p->first = db_rows_i64(rows, 0, (size_t)number);
  buf_clear(&p->text);
  if (p->row_count > 0 && text >= 0) {
    buf_append(&p->text, db_rows_text(rows, 0, (size_t)text), db_rows_text_len(rows, 0, (size_t)text));
  }
  answered(p);
}

static void on_error(struct db_request *req, const struct db_error *error)
{
  struct db_probe *p = CONTAINER_OF(req, struct db_probe, req);
  p->error_calls++;
  p->failure = error->failure;
  memcpy(p->sqlstate, error->sqlstate, sizeof p->sqlstate);
  snprintf(p->message, sizeof p->message, "%s", error->message);
  snprintf(p->detail, sizeof p->detail, "%s", error->detail);
  snprintf(p->hint, sizeof p->hint, "%s", error->hint);
  answered(p);
}

static void on_timeout(struct db_request *req)
{
  struct db_probe *p = CONTAINER_OF(req, struct db_probe, req);
  p->timeout_calls++;
  answered(p);
}

void probe_init(struct db_probe *p, struct db_probe_rig *rig, const struct db_statement *statement)
{
  *p = (struct db_probe){.rig = rig};
  p->req.statement = statement;
  p->req.on_rows = on_rows;
  p->req.on_error = on_error;
  p->req.on_timeout = on_timeout;
  db_args_init(&p->req.args);
  buf_init(&p->text, DB_ARGS_BYTES_MAX);
}

void probe_release(struct db_probe *p)
{
  db_args_release(&p->req.args);
  buf_release(&p->text);
}

enum result probe_submit(struct db_probe *p) { return db_pool_submit(p->rig->pool, &p->req); }

int probe_calls(const struct db_probe *p) { return p->rows_calls + p->error_calls + p->timeout_calls; }

void probe_wait(struct db_probe *p, double seconds) { RIG_WAIT(p->rig, probe_calls(p) > 0, seconds); }

struct db_fixture *db_fixture_start(const char *prefix, const char *script)
{
  struct db_fixture *f = MEM_NEW(struct db_fixture);
  f->server = server_start();
  f->database = server_new_empty_database(f->server, prefix);
  f->conninfo = server_conninfo(f->server, f->database);
  f->sql = server_open(f->server, f->database);
  sql_exec(f->sql, "%s", script);
  return f;
}

void db_fixture_stop(struct db_fixture *f)
{
  sql_close(f->sql);
  server_free(f->server);
  mem_free(f->database);
  mem_free(f->conninfo);
  mem_free(f);
}

int db_fixture_set_up(void **state)
{
  struct db_fixture *f = *state;
  rig_init(&f->rig, f->conninfo);
  return 0;
}

int db_fixture_tear_down(void **state)
{
  struct db_fixture *f = *state;
  rig_release(&f->rig);
  return 0;
}
