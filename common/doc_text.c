// SPDX-License-Identifier: Apache-2.0
// JSON documents of the database for people at a terminal: one as indented lines, many as a table.
// Pure; any thread.
#include "common/doc_text.h"

#include <stdio.h>
#include <string.h>

#include "common/cmdline.h"
#include "common/mem.h"
#include "common/text.h"

static void put_scalar(const json_t *value, struct buf *out)
{
  if (json_is_string(value))
    cmdline_put_text(out, json_string_value(value));
  else if (json_is_integer(value))
    buf_put_i64(out, (int64_t)json_integer_value(value));
  else if (json_is_real(value))
    buf_printf(out, "%g", json_real_value(value));
  else if (json_is_boolean(value))
    buf_puts(out, json_is_true(value) ? "yes" : "no");
}

static void put_indent(size_t depth, struct buf *out)
{
  for (size_t i = 0; i < depth; i++) buf_puts(out, "  ");
}

static void put_lines(const json_t *value, size_t depth, struct buf *out);

static void put_object(const json_t *object, size_t depth, struct buf *out)
{
  const char *name;
  json_t *value;
  json_object_foreach((json_t *)(uintptr_t)object, name, value)
  {
    put_indent(depth, out);
    cmdline_put_text(out, name);
    buf_putc(out, ':');
    put_lines(value, depth + 1, out);
  }
}

static bool has_lines(const json_t *value)
{
  return json_is_string(value) && strchr(json_string_value(value), '\n') != NULL;
}

// Each line of a text on a line of its own.
static void put_text_lines(const char *text, size_t depth, struct buf *out)
{
  char *copy = mem_strdup(text), *rest = copy;
  for (const char *line; (line = strsep(&rest, "\n")) != NULL;) {
    if (*line == '\0' && rest == NULL) break;  // behind the last line feed
    if (*line != '\0') put_indent(depth, out);
    cmdline_put_text(out, line);
    buf_putc(out, '\n');
  }
  mem_free(copy);
}

// A flat entry of a list on one line, so that attempts can be read from top to bottom; texts of several lines stand
// below it.
static void put_entry(const json_t *entry, size_t depth, struct buf *out)
{
  put_indent(depth, out);
  buf_putc(out, '-');
  if (!json_is_object(entry)) {
    put_lines(entry, depth + 1, out);
    return;
  }
  const char *name;
  json_t *value;
  json_object_foreach((json_t *)(uintptr_t)entry, name, value)
  {
    if (has_lines(value)) continue;
    buf_puts(out, "  ");
    cmdline_put_text(out, name);
    buf_putc(out, ' ');
    put_scalar(value, out);
  }
  buf_putc(out, '\n');
  json_object_foreach((json_t *)(uintptr_t)entry, name, value)
  {
    if (!has_lines(value)) continue;
    put_indent(depth + 2, out);
    cmdline_put_text(out, name);
    buf_puts(out, ":\n");
    put_text_lines(json_string_value(value), depth + 3, out);
  }
}

static void put_lines(const json_t *value, size_t depth, struct buf *out)
{
  if (json_is_object(value)) {
    buf_putc(out, '\n');
    put_object(value, depth, out);
  } else if (json_is_array(value)) {
    buf_puts(out, json_array_size(value) == 0 ? " none\n" : "\n");
    for (size_t i = 0; i < json_array_size(value); i++) put_entry(json_array_get(value, i), depth, out);
  } else {
    buf_putc(out, ' ');
    put_scalar(value, out);
    buf_putc(out, '\n');
  }
}

void doc_put_text(const json_t *doc, struct buf *out) { put_object(doc, 0, out); }

static void put_padding(size_t shown, size_t width, struct buf *out)
{
  for (; shown < width; shown++) buf_putc(out, ' ');
  buf_puts(out, "  ");
}

void doc_put_titles(const struct doc_column *columns, struct buf *out)
{
  for (; columns->title != NULL; columns++) {
    buf_puts(out, columns->title);
    if (columns[1].title != NULL) put_padding(strlen(columns->title), columns->width, out);
  }
  buf_putc(out, '\n');
}

static const json_t *member_of(const json_t *doc, const char *path)
{
  for (size_t len; *path != '\0'; path += len + (path[len] == '.')) {
    len = strcspn(path, ".");
    doc = json_object_getn(doc, path, len);
  }
  return doc;
}

void doc_put_row(const struct doc_column *columns, const json_t *doc, struct buf *out)
{
  for (; columns->title != NULL; columns++) {
    size_t begin = out->len;
    put_scalar(member_of(doc, columns->member), out);
    size_t len = out->len - begin;
    if (len == 0) buf_putc(out, '-');
    if (columns[1].title == NULL) break;
    const char *cell = buf_text(out) + begin;
    size_t shown = len == 0 ? 1 : text_is_utf8(cell, len) ? text_utf8_length(cell, len) : len;
    put_padding(shown, columns->width, out);
  }
  buf_putc(out, '\n');
}
