// SPDX-License-Identifier: Apache-2.0
// The arguments of one command: options from a table, the remaining words, who is acting, and text that a terminal may
// be shown. Owner: the command; blocking.
#include "common/cmdline.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/text.h"

#define OPTIONS_MAX    32
#define USER_BYTES_MAX 64

struct reading {
  const struct cmdline_option *options;
  size_t option_count;
  int argc;
  char **argv;
  int at;
  bool seen[OPTIONS_MAX];
};

static enum result fail(char out_why[CMDLINE_WHY_BYTES], const char *word, const char *what)
{
  (void)snprintf(out_why, CMDLINE_WHY_BYTES, "%.60s: %s", word, what);
  return RESULT_INVALID;
}

static enum result take_option(struct reading *r, char out_why[CMDLINE_WHY_BYTES])
{
  char *word = r->argv[r->at];
  size_t len = strcspn(word, "=");
  bool has_value = word[len] == '=';
  for (size_t i = 0; i < r->option_count && i < OPTIONS_MAX; i++) {
    const struct cmdline_option *o = &r->options[i];
    if (strlen(o->name) != len || memcmp(o->name, word, len) != 0) continue;
    if (r->seen[i]) return fail(out_why, o->name, "given twice");
    r->seen[i] = true;
    if (o->value == NULL) {
      if (has_value) return fail(out_why, o->name, "takes no value");
      *o->flag = true;
      return RESULT_OK;
    }
    if (!has_value && r->at + 1 >= r->argc) return fail(out_why, o->name, "needs a value");
    *o->value = has_value ? word + len + 1 : r->argv[++r->at];
    return RESULT_OK;
  }
  return fail(out_why, word, "unknown option");
}

enum result cmdline_parse(const struct cmdline_option *options, size_t option_count, int argc, char **argv,
                          size_t *out_words, char out_why[CMDLINE_WHY_BYTES])
{
  struct reading r = {.options = options, .option_count = option_count, .argc = argc, .argv = argv};
  size_t words = 0;
  bool only_words = false;
  for (; r.at < argc; r.at++) {
    char *word = argv[r.at];
    if (!only_words && strcmp(word, "--") == 0) {
      only_words = true;
    } else if (!only_words && word[0] == '-' && word[1] != '\0') {
      enum result result = take_option(&r, out_why);
      if (result != RESULT_OK) return result;
    } else {
      argv[words++] = word;  // never ahead of r.at
    }
  }
  *out_words = words;
  return RESULT_OK;
}

bool cmdline_choice(const char *value, const char *choices, int *out_index)
{
  size_t len = strlen(value);
  for (int i = 0; *choices != '\0'; i++) {
    size_t word = strcspn(choices, "|");
    if (word == len && memcmp(choices, value, len) == 0) {
      *out_index = i;
      return true;
    }
    choices += word;
    if (*choices == '|') choices++;
  }
  return false;
}

void cmdline_actor(char out_actor[CMDLINE_ACTOR_BYTES])
{
  const char *user = getenv("USER");
  size_t len = user != NULL ? strlen(user) : 0;
  bool is_usable = len > 0 && len <= USER_BYTES_MAX && text_is_utf8(user, len);
  for (size_t i = 0; is_usable && i < len; i++) is_usable = (unsigned char)user[i] >= 0x20 && user[i] != 0x7F;
  if (is_usable)
    (void)snprintf(out_actor, CMDLINE_ACTOR_BYTES, "cli:%s", user);
  else
    (void)snprintf(out_actor, CMDLINE_ACTOR_BYTES, "cli:%ld", (long)getuid());
}

void cmdline_put_text(struct buf *out, const char *text)
{
  for (; *text != '\0'; text++) {
    unsigned char c = (unsigned char)*text, next = (unsigned char)text[1];
    bool is_c1 = c == 0xC2 && next >= 0x80 && next <= 0x9F;  // U+0080 to U+009F: some terminals obey them
    buf_putc(out, c < 0x20 || c == 0x7F || is_c1 ? '?' : *text);
    if (is_c1) text++;
  }
}
