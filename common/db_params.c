// SPDX-License-Identifier: Apache-2.0
// Connection parameters for libpq. What the operator wrote (configuration, PG* variables, service file) wins over our
// defaults; only the encoding and the role are ours alone.
// Owner: the caller. Any thread.
#include <libpq-fe.h>
#include <string.h>

#include "common/contract.h"
#include "common/db_internal.h"

void db_params_add(struct db_params *p, const char *keyword, const char *value)
{
  REQUIRE(p->count + 1 < DB_PARAMS_MAX);
  p->keywords[p->count] = keyword;
  p->values[p->count] = value;
  p->count++;
  p->keywords[p->count] = p->values[p->count] = NULL;
}

static const char *find_options(const PQconninfoOption *list)
{
  for (const PQconninfoOption *o = list; o != NULL && o->keyword != NULL; o++) {
    if (strcmp(o->keyword, "options") == 0) return o->val;
  }
  return NULL;
}

// The role is added to the start-up options that the operator gave, if any: a keyword given twice would replace them.
static void put_operator_options(struct buf *out, const char *conninfo)
{
  PQconninfoOption *written = PQconninfoParse(conninfo, NULL);
  PQconninfoOption *defaults = PQconndefaults();
  const char *options = find_options(written);
  if (options == NULL) options = find_options(defaults);
  if (options != NULL) buf_puts(out, options);
  PQconninfoFree(written);
  PQconninfoFree(defaults);
}

static void put_role(struct buf *out, const char *role)
{
  buf_puts(out, out->len > 0 ? " -c role=" : "-c role=");
  for (const char *at = role; *at != '\0'; at++) {
    if (*at == ' ' || *at == '\\') buf_putc(out, '\\');
    buf_putc(out, *at);
  }
}

void db_params_init(struct db_params *p, const struct db_conf *conf, const char *application_name, const char *role)
{
  *p = (struct db_params){0};
  buf_init(&p->options, 8192);
  // A peer that vanished is noticed in about a minute instead of after the kernel's two hours.
  db_params_add(p, "keepalives_idle", "30");
  db_params_add(p, "keepalives_interval", "10");
  db_params_add(p, "keepalives_count", "3");
  db_params_add(p, "tcp_user_timeout", "30000");
  db_params_add(p, "fallback_application_name", application_name);
  db_params_add(p, "dbname", conf->conninfo);  // expanded by libpq; what it sets wins over the lines above
  db_params_add(p, "client_encoding", "UTF8");
  // A transaction pooler refuses start-up options, and a SET ROLE would stay behind on a connection that others use:
  // there the login itself must have the rights.
  if (role == NULL || conf->pooler) return;
  put_operator_options(&p->options, conf->conninfo);
  put_role(&p->options, role);
  db_params_add(p, "options", buf_text(&p->options));
}

void db_params_release(struct db_params *p) { buf_release(&p->options); }
