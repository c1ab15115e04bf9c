// SPDX-License-Identifier: Apache-2.0
// Listings of commands: all pages of a query, as a table or as one JSON document {"items": […], "next": null}.
// Owner: the command; blocking.
#include "scheduler/cli_list.h"

#include <stdio.h>
#include <string.h>

#include "common/text.h"

void cli_list_begin(struct cli_list *l, struct cli *cli)
{
  *l = (struct cli_list){.cli = cli};
  if (cli->is_json) (void)fputs("{\"items\":[", stdout);
}

void cli_list_item(struct cli_list *l, const char *doc)
{
  if (l->printed++ > 0) (void)fputs(",\n", stdout);
  (void)fputs(doc, stdout);
}

// Columns are counted in characters, so that names in any script keep the table straight enough.
void cli_list_row(struct cli_list *l, const size_t *widths, const char *const *cells)
{
  l->printed++;
  for (size_t i = 0; cells[i] != NULL; i++) {
    cli_put_text(cells[i]);
    size_t len = strlen(cells[i]);
    size_t shown = text_is_utf8(cells[i], len) ? text_utf8_length(cells[i], len) : len;
    if (cells[i + 1] == NULL) break;
    for (size_t pad = shown; pad < widths[i]; pad++) (void)putchar(' ');
    (void)fputs("  ", stdout);
  }
  (void)putchar('\n');
}

void cli_list_end(struct cli_list *l)
{
  if (l->cli->is_json) (void)fputs("],\"next\":null}\n", stdout);
}

const char *cli_list_cell(const json_t *object, const char *name, char out[24])
{
  const json_t *member = json_object_get(object, name);
  if (json_is_string(member)) return json_string_value(member);
  if (json_is_null(member)) return "-";
  if (!json_is_integer(member)) return "";
  (void)snprintf(out, 24, "%lld", (long long)json_integer_value(member));
  return out;
}
