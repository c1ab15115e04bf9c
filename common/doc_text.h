// SPDX-License-Identifier: Apache-2.0
// JSON documents of the database for people at a terminal: one as indented lines, many as a table.
// Pure; any thread.
#pragma once

#include <jansson.h>
#include <stddef.h>

#include "common/buf.h"

// "name: value" lines; what is nested is indented, each entry of a list begins with a dash; below it stand
// its texts of several lines. Text from elsewhere can move no cursor, see cmdline_put_text.
void doc_put_text(const json_t *doc, struct buf *out);

struct doc_column {
  const char *title, *member;
  size_t width;
};  // ended by {NULL}; a member is a name, or names with dots: "stock.total"
void doc_put_titles(const struct doc_column *columns, struct buf *out);
void doc_put_row(const struct doc_column *columns, const json_t *doc, struct buf *out);
