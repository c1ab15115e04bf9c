// SPDX-License-Identifier: Apache-2.0
// What the three programs print about themselves: configuration, and the calls they answer.
// Start-up only.
#include <stdio.h>

#include "common/buf.h"
#include "common/daemon_internal.h"

static int print(const struct buf *text)
{
  if (buf_result(text) != RESULT_OK) return EXIT_SOFTWARE;
  fwrite(buf_text(text), 1, text->len, stdout);
  return fflush(stdout) == 0 ? EXIT_OK : EXIT_IO;
}

int daemon_print_config(const struct daemon_spec *spec, const void *config)
{
  struct buf text;
  buf_init(&text, 1024 * 1024);
  if (config == NULL)
    conf_print_help(spec->conf_table, &text);
  else
    conf_print(spec->conf_table, config, &text);
  int exit_code = print(&text);
  buf_release(&text);
  return exit_code;
}

static void put_scopes(struct buf *b, unsigned need)
{
  if (need == WEB_OPEN)
    buf_puts(b, "-");
  else
    web_scopes_put(b, need, ",");
}

static const char *body_name(enum web_body_kind body)
{
  switch (body) {
    case WEB_BODY_NONE: return "-";
    case WEB_BODY_JSON: return "json";
    case WEB_BODY_JSON_OPTIONAL: return "json?";
    case WEB_BODY_CSV: return "csv";
    case WEB_BODY_JSON_OR_CSV: return "json,csv";
    case WEB_BODY_ANY: return "any";
  }
  return "";
}

static void put_routes(struct buf *b, const struct web_routes *routes)
{
  for (size_t i = 0; routes != NULL && i < routes->count; i++) {
    const struct web_route *r = &routes->items[i];
    buf_printf(b, "%s %s ", r->method, r->path);
    put_scopes(b, r->need);
    buf_printf(b, " %s %s\n", body_name(r->body), r->label);
  }
}

int daemon_print_routes(const struct daemon_spec *spec)
{
  struct buf text;
  buf_init(&text, 256 * 1024);
  put_routes(&text, spec->routes);
  put_routes(&text, web_std_routes());
  int exit_code = print(&text);
  buf_release(&text);
  return exit_code;
}
