// SPDX-License-Identifier: Apache-2.0
// Listings of commands, page by page: a table, or one JSON document {"items": […], "next": …}; and one document as
// lines or JSON. Owner: the command; blocking.
#pragma once

#include "common/cli.h"
#include "common/doc_text.h"

#define DOC_LIST_PAGE 500

struct doc_list {
  struct cli *cli;
  const struct doc_column *columns;
  bool is_json;
  int64_t limit;  // 0: all
  int64_t printed;
  char *last;   // where the next page would begin, as the caller wrote it; owned
  bool is_cut;  // ended by the limit
  struct buf page;
};

// limit: text of the option, or NULL. False after one line on stderr (EXIT_USAGE).
bool doc_list_begin(struct doc_list *l, struct cli *cli, const struct doc_column *columns, bool is_json,
                    const char *limit);
int64_t doc_list_page_rows(const struct doc_list *l);
// Rows with a place at that column (text, or a number) and a document after it; no place: no document. Returns whether
// there may be more.
bool doc_list_rows(struct doc_list *l, const struct db_rows *rows, size_t place, bool place_is_text);
// Runs a statement that returns such rows, with a number as place, and prints them; io_after becomes the last place.
// Releases the args. Returns whether there may be more.
bool doc_list_page(struct doc_list *l, const struct db_statement *statement, struct db_args *args, int64_t *io_after);
// The same where the place is a text; *io_after: on the heap, or NULL.
bool doc_list_page_text(struct doc_list *l, const struct db_statement *statement, struct db_args *args,
                        char **io_after);
int doc_list_end(struct doc_list *l);  // prints the rest; an exit code

// The document in the only row, or "there is no WHAT ID" and EXIT_DATA.
int doc_show(struct cli *cli, const struct db_rows *rows, bool is_json, const char *what, const char *id);
