// SPDX-License-Identifier: Apache-2.0
// "Did you mean": the known key that is nearest to an unknown one.
// Pure; any thread.
#include <string.h>

#include "common/conf_internal.h"

#define COMPARED_BYTES_MAX 64

// Edits (insert, delete, replace) that turn a into b.
static size_t distance(const char *a, size_t a_len, const char *b, size_t b_len)
{
  size_t row[COMPARED_BYTES_MAX + 1];
  for (size_t j = 0; j <= b_len; j++) row[j] = j;
  for (size_t i = 1; i <= a_len; i++) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b_len; j++) {
      size_t replaced = diagonal + (a[i - 1] != b[j - 1]);
      size_t smallest = row[j] < row[j - 1] ? row[j] : row[j - 1];
      diagonal = row[j];
      row[j] = replaced < smallest + 1 ? replaced : smallest + 1;
    }
  }
  return row[b_len];
}

static const char *last_segment(const char *path)
{
  const char *dot = strrchr(path, '.');
  return dot != NULL ? dot + 1 : path;
}

// Bytes of a key's path up to as many dots as `depth` says: an unknown section is compared with the sections of keys.
static size_t length_at_depth(const char *known, size_t depth)
{
  size_t len = 0;
  for (; known[len] != '\0'; len++) {
    if (known[len] == '.' && depth-- == 0) break;
  }
  return len;
}

bool conf_suggest(const struct conf_table *table, const char *path, char out_meant[CONF_PATH_BYTES])
{
  size_t len = strlen(path);
  if (len > COMPARED_BYTES_MAX) return false;
  size_t depth = 0;
  for (size_t i = 0; i < len; i++) depth += path[i] == '.';
  size_t best = len / 4 + 2;  // more edits than this is a different word
  const char *found = NULL;
  size_t found_len = 0;
  for (size_t i = 0; i < table->count; i++) {
    size_t known_len = length_at_depth(table->keys[i].path, depth);
    if (known_len > COMPARED_BYTES_MAX) continue;
    size_t edits = distance(path, len, table->keys[i].path, known_len);
    if (edits >= best) continue;
    best = edits;
    found = table->keys[i].path;
    found_len = known_len;
  }
  // Right name, wrong section.
  for (size_t i = 0; found == NULL && i < table->count; i++) {
    if (strcmp(last_segment(table->keys[i].path), last_segment(path)) != 0) continue;
    found = table->keys[i].path;
    found_len = strlen(found);
  }
  if (found == NULL || found_len >= CONF_PATH_BYTES) return false;
  memcpy(out_meant, found, found_len);
  out_meant[found_len] = '\0';
  return true;
}
