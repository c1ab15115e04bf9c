// SPDX-License-Identifier: Apache-2.0
// Configuration: YAML (libyaml events) read into a struct through a table of keys. Unknown keys, duplicate keys, tabs,
// anchors and aliases, wrong types and values out of range are errors with file, line and key. Text stays text: `no`,
// `on`, `1.10`.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/buf.h"
#include "common/clk.h"
#include "common/result.h"

enum conf_type {
  CONF_BOOL,     // bool: true | false only
  CONF_INT,      // int64_t within [min, max]
  CONF_SIZE,     // uint64_t bytes: "64KiB"; [min, max] in bytes
  CONF_SPAN,     // struct span: "250ms"; [min, max] in microseconds
  CONF_TEXT,     // char *, owned by the struct; at most max bytes when max > 0
  CONF_CHOICE,   // int: index into choices ("a|b|c")
  CONF_SPANS,    // struct conf_spans: [1s, 5s]
  CONF_TEXTS,    // struct conf_texts: [a, b]
  CONF_PAIRS,    // struct conf_pairs: a free map of text to text, order kept
  CONF_SECRETS,  // struct conf_texts: paths of files as written; the contents are read with conf_read_secret
  CONF_MAP,  // struct conf_map: name -> a block with its own key table (`sub`); in `sub`, offsets are into the entry
  // struct conf_texts: the names of a map whose blocks another daemon reads; contents are not looked at, except that
  // with choices only blocks that have this member count. Several keys may then share a path, one after the other.
  CONF_NAMES,
  CONF_OTHER,  // nothing is stored: a section that another daemon reads; contents are not looked at
};

enum conf_flags {
  CONF_RELOADABLE = 1,
  CONF_REQUIRED = 2,
  CONF_SENSITIVE = 4,  // a text that may hold a password: printed with it masked
};

struct conf_spans {
  struct span *items;
  size_t count;
};
struct conf_texts {
  char **items;
  size_t count;
};
struct conf_pair {
  char *name, *value;
};
struct conf_pairs {
  struct conf_pair *items;
  size_t count;
  int *lines;  // of each item; NULL: not known
};
struct conf_entry {
  char *name;
  void *block;
  int line;
  int *key_lines;  // of each key of `sub`; 0: not given
};
struct conf_map {
  struct conf_entry *items;
  size_t count;
};

struct conf_key {
  const char *path;  // "database.pool_size"; dots are YAML nesting
  enum conf_type type;
  size_t offset;             // offsetof(struct the_config, field)
  const char *default_text;  // parsed like the YAML value; NULL: zero / empty (CONF_TEXT: a NULL pointer)
  int64_t min, max;          // both 0: unbounded
  unsigned flags;
  const char *choices;           // CONF_CHOICE
  const struct conf_table *sub;  // CONF_MAP
  const char *help;              // one line for the generated table of the README
};
struct conf_table {
  const struct conf_key *keys;
  size_t count;
  size_t struct_size;
};

#define CONF_FAULT_BYTES 400
struct conf_fault {
  char text[CONF_FAULT_BYTES];  // "config/largesse.yaml:12: database.pool_size: must be from 1 to 64"
  int line;  // for rules that need more than one key: where the fault is; conf itself leaves it alone
};

// Order: defaults, file (file NULL: none), environment (LARGESSE_SECTION__KEY=value; every `__` is one level, names
// upper case; lists as YAML flow text; in a map only entries that exist; unknown names without `__` are not ours and
// ignored). *out_config is fresh, zeroed storage of table->struct_size; free with conf_free. On failure nothing
// changes.
MUST_CHECK enum result conf_load(const struct conf_table *table, const char *file, char *const *environment,
                                 void **out_config, struct conf_fault *out_fault);
// The same from memory, for tests and for YAML documents that are not the configuration. name stands for the file in
// messages.
MUST_CHECK enum result conf_parse(const struct conf_table *table, const char *name, const char *bytes, size_t len,
                                  void **out_config, struct conf_fault *out_fault);
void conf_free(const struct conf_table *table, void *config);
void *conf_clone(const struct conf_table *table, const void *config);  // a deep copy, freed with conf_free
// The value that a key has, as text (for --print-config and the README); secrets are only ever paths.
void conf_print(const struct conf_table *table, const void *config,
                struct buf *out);  // YAML that loads again; passwords in addresses are masked
void conf_print_help(const struct conf_table *table,
                     struct buf *out);  // Markdown table: key, type, default, range, reload, help
// True and the first such key in out_key, if two configurations differ in a key that is not CONF_RELOADABLE.
bool conf_needs_restart(const struct conf_table *table, const void *old_config, const void *new_config,
                        const char **out_key);
// Reads a secret file: at most CONF_SECRET_BYTES_MAX, one trailing newline removed. A path relative to the
// configuration file's folder is the caller's business. RESULT_CONFLICT when the file is readable by everybody
// or no plain file, RESULT_DENIED when we may not read it, RESULT_INVALID when it is empty or a folder.
MUST_CHECK enum result conf_read_secret(const char *path, struct buf *out);
const char *conf_secret_why(enum result result);  // the end of a sentence that begins with the path: "is not there"

// The line of a key of an entry's block, given as "key: reason" or "key": the one of the key, else of its section, else
// of the entry.
int conf_entry_line(const struct conf_table *sub, const struct conf_entry *entry, const char *key);
// The line of an item; 0: not known.
int conf_pair_line(const struct conf_pairs *pairs, size_t index);

// A YAML document as a generic tree, for event files: strict as above, every scalar keeps its text and its line.
enum conf_node_kind { CONF_SCALAR, CONF_SEQUENCE, CONF_MAPPING };
struct conf_node {
  enum conf_node_kind kind;
  int line;
  bool quoted;                 // scalars: "..." or '...'
  char *text;                  // scalars
  char *key;                   // in a mapping
  struct conf_node *children;  // sequences and mappings, in order
  size_t count;
};
MUST_CHECK enum result conf_tree_parse(const char *name, const char *bytes, size_t len, struct conf_node **out_root,
                                       struct conf_fault *out_fault);
void conf_tree_free(struct conf_node *root);
const struct conf_node *conf_tree_get(const struct conf_node *mapping, const char *key);  // NULL if missing
