// SPDX-License-Identifier: Apache-2.0
// Listings of commands, page by page: a table, or one JSON document {"items": […], "next": …}; and one document as lines or JSON.
// Owner: the command; blocking.
#pragma once

#include "reconciler/cli.h"
#include "reconciler/doc_text.h"

struct list {
  struct cli *cli;
  const struct doc_column *columns;
  bool is_json;
  int64_t limit;                  // 0: all
  int64_t printed;
  char *last;                     // where the next page would begin, as the caller wrote it; owned
  bool is_cut;                    // ended by the limit
  struct buf page;
};

// limit: text of the option, or NULL. False after one line on stderr (EXIT_USAGE).
bool list_begin(struct list *l, struct cli *cli, const struct doc_column *columns, bool is_json, const char *limit, const char *usage);
int64_t list_page_rows(const struct list *l);
// Rows of (place, document); place_is_text: column 0 is text, else a number. Returns whether there may be more.
bool list_rows(struct list *l, const struct db_rows *rows, bool place_is_text);
int list_end(struct list *l);     // prints the rest; an exit code

// The document in the only row, or "there is no WHAT ID" and EXIT_DATA.
int list_show(struct cli *cli, const struct db_rows *rows, bool is_json, const char *what, const char *id);
