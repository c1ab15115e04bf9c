// SPDX-License-Identifier: Apache-2.0
// What the files conf*.c share: where a value came from, and the steps from a tree of nodes to a filled struct.
// For conf*.c only.
#pragma once

#include "common/conf.h"

#define CONF_DEPTH_MAX   32
#define CONF_PATH_BYTES  256
#define CONF_SHOWN_BYTES 48  // of a faulty value in a message

// Where the values come from. A node's line tells which source: above 0 a line of the file, 0 the table's default,
// below 0 the environment variable with the index -line - 1.
struct conf_context {
  const char *name;          // the file, as it is named in messages
  char *const *environment;  // NULL: none
  struct conf_fault *fault;
};

// Writes "file:12: path: reason" and returns RESULT_INVALID. path may be "".
enum result conf_fail(const struct conf_context *c, int line, const char *path, const char *format, ...)
    PRINTF_LIKE(4, 5);
// A value for a message: one line of plain characters, shortened.
const char *conf_shown(const char *text, char out[CONF_SHOWN_BYTES]);

// conf_yaml.c
struct conf_node *conf_node_new(enum conf_node_kind kind, int line);
struct conf_node *conf_node_add(struct conf_node *parent);  // a zeroed child at the end
void conf_node_clear(struct conf_node *node);               // frees what it holds, not the node

// conf_env.c: puts the variables LARGESSE_… into the tree, over what is there.
MUST_CHECK enum result conf_env_apply(const struct conf_context *c, const struct conf_table *table,
                                      struct conf_node *root);

// conf_value.c: one key of a struct. After a failure the field holds something that conf_value_clear can free.
MUST_CHECK enum result conf_value_set(const struct conf_context *c, const struct conf_key *key, const char *path,
                                      const struct conf_node *node, void *block);
void conf_value_clear(const struct conf_key *key, void *block);
bool conf_is_scalar_type(enum conf_type type);

// conf.c: a whole struct of a table: defaults, then the mapping; required and unknown keys. prefix ("" or "a.b.") is
// for messages. out_lines (may be NULL) gets the line of each key that is given.
MUST_CHECK enum result conf_block_fill(const struct conf_context *c, const struct conf_table *table, const char *prefix,
                                       const struct conf_node *mapping, void *block, int *out_lines);
void conf_block_clear(const struct conf_table *table, void *block);

// conf_suggest.c: the key or section that was probably meant. False if none is near.
bool conf_suggest(const struct conf_table *table, const char *path, char out_meant[CONF_PATH_BYTES]);

// conf_file.c
MUST_CHECK enum result conf_read_file(const char *path, size_t max_bytes, bool is_secret, struct buf *out);
