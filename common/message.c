// SPDX-License-Identifier: Apache-2.0
// Texts in a second language: see message.h. Pure; any thread.
#include "common/message.h"

#include <stdio.h>
#include <string.h>

#define MARKS_MAX      9
#define PATH_BYTES_MAX 128
#define SET_BYTES_MAX  32

// What stood in the text where a pattern has its marks.
struct found {
  struct {
    const char *at;
    size_t len;
  } parts[MARKS_MAX];
};

const char *message_title(const struct message_catalogue *c, const char *code)
{
  for (size_t i = 0; c != NULL && i < c->title_count; i++)
    if (strcmp(c->titles[i].english, code) == 0) return c->titles[i].chinese;
  return NULL;
}

const char *message_word(const struct message_catalogue *c, const char *set, const char *value)
{
  size_t len = strlen(set);
  for (size_t i = 0; c != NULL && i < c->word_count; i++) {
    const char *name = c->words[i].english;
    if (strncmp(name, set, len) == 0 && name[len] == '.' && strcmp(name + len + 1, value) == 0)
      return c->words[i].chinese;
  }
  return NULL;
}

// "%1" at p: 1; else 0.
static int mark_at(const char *p) { return p[0] == '%' && p[1] >= '1' && p[1] <= '9' ? p[1] - '0' : 0; }

// The bytes up to the next mark or the end.
static size_t literal_len(const char *p)
{
  size_t len = 0;
  while (p[len] != '\0' && mark_at(p + len) == 0) len++;
  return len;
}

// A mark stands for as little as what follows it allows, and at least one byte; the last one for all that is left.
static bool fits(const char *pattern, const char *text, struct found *out)
{
  size_t len = literal_len(pattern);
  if (strncmp(pattern, text, len) != 0) return false;
  pattern += len;
  text += len;
  while (*pattern != '\0') {
    int mark = mark_at(pattern);
    pattern += 2;
    len = literal_len(pattern);
    size_t rest = strlen(text);
    bool is_last = pattern[len] == '\0';
    if (rest < len + 1) return false;
    const char *next = is_last ? text + rest - len : memmem(text + 1, rest - 1, pattern, len);
    if (next == NULL || strncmp(next, pattern, len) != 0) return false;
    out->parts[mark - 1].at = text;
    out->parts[mark - 1].len = (size_t)(next - text);
    pattern += len;
    text = next + len;
  }
  return *text == '\0';
}

static bool put_whole(const struct message_catalogue *c, const char *english, struct buf *out);

// What a text ends with may be a text of its own: "line 3: the file is empty".
static void put_part(const struct message_catalogue *c, const struct found *found, int mark, struct buf *out)
{
  const char *part = found->parts[mark - 1].at;
  if (part == NULL) return;
  bool is_last = part[found->parts[mark - 1].len] == '\0';
  if (!is_last || !put_whole(c, part, out)) buf_append(out, part, found->parts[mark - 1].len);
}

// A part that is a word of the set, or a text of its own; else it stays as it is.
static void put_told(const struct message_catalogue *c, const struct found *found, int mark, const char *set,
                     size_t set_len, struct buf *out)
{
  char name[SET_BYTES_MAX];
  struct buf part;
  if (found->parts[mark - 1].at == NULL) return;
  buf_init(&part, out->max);
  buf_append(&part, found->parts[mark - 1].at, found->parts[mark - 1].len);
  (void)snprintf(name, sizeof name, "%.*s", (int)set_len, set);
  const char *word = message_word(c, name, buf_text(&part));
  if (word != NULL)
    buf_puts(out, word);
  else if (!put_whole(c, buf_text(&part), out))
    buf_append(out, buf_text(&part), part.len);
  buf_release(&part);
}

// What stands where the mark is, and how many bytes of the Chinese text say so.
static size_t put_mark(const struct message_catalogue *c, const char *mark, const struct found *found, struct buf *out)
{
  const char *set = mark + 3, *end = mark[2] == '(' ? strchr(set, ')') : NULL;
  if (end == NULL) {
    put_part(c, found, mark_at(mark), out);
    return 2;
  }
  put_told(c, found, mark_at(mark), set, (size_t)(end - set), out);
  return (size_t)(end + 1 - mark);
}

static void put_filled(const struct message_catalogue *c, const char *chinese, const struct found *found,
                       struct buf *out)
{
  while (*chinese != '\0') {
    if (mark_at(chinese) > 0) {
      chinese += put_mark(c, chinese, found, out);
      continue;
    }
    size_t len = literal_len(chinese);
    buf_append(out, chinese, len);
    chinese += len;
  }
}

static bool put_whole(const struct message_catalogue *c, const char *english, struct buf *out)
{
  for (size_t i = 0; i < c->text_count; i++) {
    struct found found = {0};
    if (!fits(c->texts[i].english, english, &found)) continue;
    put_filled(c, c->texts[i].chinese, &found, out);
    return true;
  }
  return false;
}

// How long the path in front of ": " is: "limits[0].count", "header: number"; 0 if there is none.
static size_t path_len(const char *text)
{
  const char *colon = strstr(text, ": ");
  size_t len = colon != NULL ? (size_t)(colon - text) : 0;
  bool is_path = len > 0 && len <= PATH_BYTES_MAX && memchr(text, ' ', len) == NULL;
  return is_path ? len : 0;
}

// The paths in front of a text, with the colon of the other language.
static void put_paths(struct buf *out, const char *english, size_t len)
{
  for (size_t at = 0; at < len;) {
    size_t path = path_len(english + at);
    buf_append(out, english + at, path);
    buf_puts(out, "：");
    at += path + 2;
  }
}

bool message_put_chinese(const struct message_catalogue *c, const char *english, struct buf *out)
{
  size_t at = 0, len = 0;
  struct buf text;
  if (c == NULL) return false;
  buf_init(&text, out->max);
  bool is_found = put_whole(c, english, &text);
  while (!is_found && (len = path_len(english + at)) > 0) {
    at += len + 2;
    is_found = put_whole(c, english + at, &text);
  }
  if (is_found) {
    put_paths(out, english, at);
    buf_append(out, buf_text(&text), text.len);
  }
  buf_release(&text);
  return is_found;
}
