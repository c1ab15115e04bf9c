// SPDX-License-Identifier: Apache-2.0
// Listings of commands: all pages of a query, as a table or as one JSON document {"items": […], "next": null}.
// Owner: the command; blocking.
#pragma once

#include <jansson.h>

#include "scheduler/cli.h"

struct cli_list {
  struct cli *cli;
  size_t printed;
};
#define CLI_LIST_PAGE 500

void cli_list_begin(struct cli_list *l, struct cli *cli);
// doc: JSON text, printed as it is.
void cli_list_item(struct cli_list *l, const char *doc);
// A row of the table; the first one is the heading. Cells are padded to widths; NULL ends them.
void cli_list_row(struct cli_list *l, const size_t *widths, const char *const *cells);
void cli_list_end(struct cli_list *l);

// A member of a JSON object as text for a cell: "" if missing, "-" for null. out is storage for numbers.
const char *cli_list_cell(const json_t *object, const char *name, char out[24]);
