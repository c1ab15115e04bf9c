// SPDX-License-Identifier: Apache-2.0
// A configuration as YAML that loads again, and its table as Markdown for the README.
// Pure; any thread.
#include <stdio.h>
#include <string.h>

#include "common/conf_internal.h"
#include "common/limits.h"
#include "common/text.h"

static void put_text(struct buf *out, const char *text)
{
  // JSON's strings are YAML's double-quoted scalars.
  buf_put_json(out, text, strlen(text));
}

static void put_choice(struct buf *out, const char *choices, int index)
{
  for (; index > 0; index--) choices += strcspn(choices, "|") + 1;
  buf_append(out, choices, strcspn(choices, "|"));
}

static void put_size(struct buf *out, uint64_t bytes)
{
  static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  size_t unit = 0;
  while (unit + 1 < ARRAY_LEN(units) && bytes > 0 && bytes % 1024 == 0) {
    bytes /= 1024;
    unit++;
  }
  buf_put_u64(out, bytes);
  buf_puts(out, units[unit]);
}

static void put_texts(struct buf *out, const struct conf_texts *texts)
{
  buf_putc(out, '[');
  for (size_t i = 0; i < texts->count; i++) {
    if (i > 0) buf_puts(out, ", ");
    put_text(out, texts->items[i]);
  }
  buf_putc(out, ']');
}

static void put_spans(struct buf *out, const struct conf_spans *spans)
{
  buf_putc(out, '[');
  for (size_t i = 0; i < spans->count; i++) {
    if (i > 0) buf_puts(out, ", ");
    text_from_span(spans->items[i], out);
  }
  buf_putc(out, ']');
}

static void put_pairs(struct buf *out, const struct conf_pairs *pairs)
{
  buf_putc(out, '{');
  for (size_t i = 0; i < pairs->count; i++) {
    if (i > 0) buf_puts(out, ", ");
    put_text(out, pairs->items[i].name);
    buf_puts(out, ": ");
    put_text(out, pairs->items[i].value);
  }
  buf_putc(out, '}');
}

static void put_names(struct buf *out, const struct conf_texts *names)
{
  buf_putc(out, '{');
  for (size_t i = 0; i < names->count; i++) buf_printf(out, "%s\"%s\": {}", i > 0 ? ", " : "", names->items[i]);
  buf_putc(out, '}');
}

static void indent(struct buf *out, int depth) { buf_printf(out, "%*s", depth * 2, ""); }

// What may hold a password (an address with user:password@, a connection string with password=) is shown without it.
static void put_text_masked(struct buf *out, const char *text)
{
  struct buf shown;
  buf_init(&shown, CONF_FILE_BYTES_MAX);
  const char *scheme = strstr(text, "://"), *word = strstr(text, "password=");
  const char *at = scheme != NULL ? strchr(scheme + 3, '@') : NULL;
  const char *colon = at != NULL ? memchr(scheme + 3, ':', (size_t)(at - scheme - 3)) : NULL;
  if (colon != NULL) {
    buf_append(&shown, text, (size_t)(colon + 1 - text));
    buf_printf(&shown, "***%s", at);
  } else if (word != NULL) {
    buf_append(&shown, text, (size_t)(word - text));
    buf_printf(&shown, "password=***%s", word + strcspn(word, " "));
  } else {
    buf_puts(&shown, text);
  }
  put_text(out, buf_text(&shown));
  buf_release(&shown);
}

static void print_level(const struct conf_table *table, const void *block, const char *path, int depth,
                        struct buf *out);

static void print_map(const struct conf_key *key, const struct conf_map *map, int depth, struct buf *out)
{
  for (size_t i = 0; i < map->count; i++) {
    indent(out, depth);
    buf_printf(out, "\"%s\":\n", map->items[i].name);
    print_level(key->sub, map->items[i].block, "", depth + 1, out);
  }
}

static void put_value(const struct conf_key *key, const void *field, struct buf *out)
{
  switch (key->type) {
    case CONF_BOOL: buf_puts(out, *(const bool *)field ? "true" : "false"); break;
    case CONF_INT: buf_put_i64(out, *(const int64_t *)field); break;
    case CONF_SIZE: put_size(out, *(const uint64_t *)field); break;
    case CONF_SPAN: text_from_span(*(const struct span *)field, out); break;
    case CONF_TEXT:
      (key->flags & CONF_SENSITIVE) != 0 ? put_text_masked(out, *(char *const *)field)
                                         : put_text(out, *(char *const *)field);
      break;
    case CONF_CHOICE: put_choice(out, key->choices, *(const int *)field); break;
    case CONF_SPANS: put_spans(out, field); break;
    case CONF_TEXTS:
    case CONF_SECRETS: put_texts(out, field); break;
    case CONF_PAIRS: put_pairs(out, field); break;
    case CONF_NAMES: put_names(out, field); break;
    case CONF_MAP:
    case CONF_OTHER: break;
  }
}

static void print_key(const struct conf_key *key, const char *name, const void *block, int depth, struct buf *out)
{
  const void *field = (const char *)block + key->offset;
  if (key->type == CONF_OTHER || (key->type == CONF_NAMES && key->choices != NULL)) return;
  if (key->type == CONF_TEXT && *(char *const *)field == NULL) return;  // leaving it out is the only way to write it
  indent(out, depth);
  if (key->type == CONF_MAP) {
    buf_printf(out, "%s:\n", name);
    print_map(key, field, depth + 1, out);
    return;
  }
  buf_printf(out, "%s: ", name);
  put_value(key, field, out);
  buf_putc(out, '\n');
}

// Did an earlier key of the table begin with the same len bytes, ended by a dot?
static bool is_printed(const struct conf_table *table, size_t before, const char *path, size_t len)
{
  for (size_t i = 0; i < before; i++) {
    if (strncmp(table->keys[i].path, path, len) == 0 && table->keys[i].path[len] == '.') return true;
  }
  return false;
}

// Prints all keys below a path ("" or "a.b."), each section once, wherever its keys stand in the table.
static void print_level(const struct conf_table *table, const void *block, const char *path, int depth, struct buf *out)
{
  size_t path_len = strlen(path);
  for (size_t i = 0; i < table->count; i++) {
    const char *full = table->keys[i].path;
    if (strncmp(full, path, path_len) != 0) continue;
    size_t len = path_len + strcspn(full + path_len, ".");
    if (full[len] == '\0') {
      print_key(&table->keys[i], full + path_len, block, depth, out);
    } else if (!is_printed(table, i, full, len)) {
      char section[CONF_PATH_BYTES];
      snprintf(section, sizeof(section), "%.*s.", (int)len, full);
      indent(out, depth);
      buf_printf(out, "%.*s:\n", (int)(len - path_len), full + path_len);
      print_level(table, block, section, depth + 1, out);
    }
  }
}

void conf_print(const struct conf_table *table, const void *config, struct buf *out)
{
  print_level(table, config, "", 0, out);
}

static void put_cell(struct buf *out, const char *text)
{
  for (; *text != '\0'; text++) {
    if (*text == '|') buf_putc(out, '\\');
    buf_putc(out, *text);
  }
}

static void put_code(struct buf *out, const char *text)
{
  if (text == NULL || text[0] == '\0') return;
  buf_putc(out, '`');
  put_cell(out, text);
  buf_putc(out, '`');
}

static void put_bounds(struct buf *out, const struct conf_key *key)
{
  const int64_t bounds[] = {key->min, key->max};
  for (size_t i = 0; i < ARRAY_LEN(bounds); i++) {
    if (i > 0) buf_puts(out, " – ");
    if (key->type == CONF_INT)
      buf_put_i64(out, bounds[i]);
    else if (key->type == CONF_SIZE)
      put_size(out, (uint64_t)bounds[i]);
    else
      text_from_span(span_us(bounds[i]), out);
  }
}

static void put_range(struct buf *out, const struct conf_key *key)
{
  bool is_number = key->type == CONF_INT || key->type == CONF_SIZE || key->type == CONF_SPAN || key->type == CONF_SPANS;
  if (key->type == CONF_CHOICE)
    put_code(out, key->choices);
  else if (is_number && (key->min != 0 || key->max != 0))
    put_bounds(out, key);
  else if (key->type == CONF_TEXT && key->max > 0)
    buf_printf(out, "up to %lld bytes", (long long)key->max);
}

static void print_rows(const struct conf_table *table, const char *prefix, struct buf *out)
{
  static const char *const type_names[] = {"bool",
                                           "integer",
                                           "size",
                                           "duration",
                                           "text",
                                           "choice",
                                           "list of durations",
                                           "list of texts",
                                           "texts by name",
                                           "list of secret files",
                                           "blocks by name",
                                           "names",
                                           ""};
  for (size_t i = 0; i < table->count; i++) {
    const struct conf_key *key = &table->keys[i];
    if (key->type == CONF_OTHER || key->type == CONF_NAMES) continue;  // documented by the daemon that reads them
    buf_printf(out, "| `%s%s` | %s | ", prefix, key->path, type_names[key->type]);
    if ((key->flags & CONF_REQUIRED) != 0)
      buf_puts(out, "required");
    else
      put_code(out, key->default_text);
    buf_puts(out, " | ");
    put_range(out, key);
    buf_printf(out, " | %s | ", (key->flags & CONF_RELOADABLE) != 0 ? "reload" : "restart");
    put_cell(out, key->help != NULL ? key->help : "");
    buf_puts(out, " |\n");
    if (key->type != CONF_MAP) continue;
    char below[CONF_PATH_BYTES];
    snprintf(below, sizeof(below), "%s%s.*.", prefix, key->path);
    print_rows(key->sub, below, out);
  }
}

void conf_print_help(const struct conf_table *table, struct buf *out)
{
  buf_puts(out, "| key | type | default | range | change by | meaning |\n|---|---|---|---|---|---|\n");
  print_rows(table, "", out);
}
