// SPDX-License-Identifier: Apache-2.0
// The scanner behind redact.h. It does not parse: it finds names, what separates them from their values, and where the
// values end, whether quotes and separators stand there plainly, escaped (JSON in JSON) or percent-encoded (JSON in a
// form). So it works on what is cut off, broken or of several kinds. Pure; any thread.
#include "fulfiller/redact.h"

#include <string.h>

#include "common/mem.h"
#include "common/text.h"
#include "common/utf8.h"
#include "fulfiller/redact_name.h"

#define ELLIPSIS          "\xe2\x80\xa6"
#define ELLIPSIS_BYTES    3
#define MASK              "***"
#define GAP_MAX           16  // spaces around a separator
#define SECRET_BYTES_MIN  6
#define SCANNED_BYTES_MAX 16384  // looking for ends that never come costs time

struct scan {
  const struct redact *r;
  const char *text;
  size_t len, at;
  size_t plain_until;  // digits before this belong to an id
  struct buf *out;
  size_t written;
  bool is_full;
};

// --- output

static void emit(struct scan *s, const char *bytes, size_t len)
{
  if (s->is_full) return;
  if (s->written + len > REDACT_TEXT_BYTES_MAX - ELLIPSIS_BYTES) {
    buf_append(s->out, ELLIPSIS, ELLIPSIS_BYTES);
    s->is_full = true;
    return;
  }
  buf_append(s->out, bytes, len);
  s->written += len;
}

static void emit_mask(struct scan *s, size_t until)
{
  emit(s, MASK, strlen(MASK));
  if (until > s->at) s->at = until;
}

static bool take_secret(struct scan *s)
{
  for (size_t i = 0; s->r != NULL && i < s->r->secret_count; i++) {
    const struct redact_secret *secret = &s->r->secrets[i];
    if (secret->len > s->len - s->at || memcmp(s->text + s->at, secret->bytes, secret->len) != 0) continue;
    emit_mask(s, s->at + secret->len);
    return true;
  }
  return false;
}

// As it is, but always UTF-8 without control characters that a log or a terminal would obey.
static void emit_plain(struct scan *s, size_t until)
{
  while (s->at < until && !s->is_full) {
    uint32_t code_point = 0;
    if (take_secret(s)) continue;
    size_t bytes = utf8_decode(s->text + s->at, s->len - s->at, &code_point);
    bool is_plain = bytes > 0 && (code_point >= 0x20 || code_point == '\n' || code_point == '\t') && code_point != 0x7f;
    if (is_plain)
      emit(s, s->text + s->at, bytes);
    else if (code_point != '\r' || bytes == 0)
      emit(s, "?", 1);
    s->at += bytes > 0 ? bytes : 1;
  }
}

// --- characters, plain or percent-encoded or as \u00XX

struct letter {
  unsigned char c;
  size_t used;      // 0: the end
  bool is_encoded;  // percent-encoded
};

static int hex_value(char c)
{
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static bool hex_pair(const struct scan *s, size_t at, unsigned char *out)
{
  if (at + 1 >= s->len) return false;
  int high = hex_value(s->text[at]), low = hex_value(s->text[at + 1]);
  if (high < 0 || low < 0) return false;
  *out = (unsigned char)(high * 16 + low);
  return true;
}

static struct letter letter_at(const struct scan *s, size_t at)
{
  unsigned char c = 0;
  if (at >= s->len) return (struct letter){0, 0, false};
  if (s->text[at] == '%' && hex_pair(s, at + 1, &c)) return (struct letter){c, 3, true};
  bool is_escape = s->text[at] == '\\' && at + 5 < s->len && memcmp(s->text + at + 1, "u00", 3) == 0;
  if (is_escape && hex_pair(s, at + 4, &c)) return (struct letter){c, 6, false};
  return (struct letter){(unsigned char)s->text[at], 1, false};
}

static bool is_word_char(unsigned char c)
{
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
         c == '.' || c == '+' || c >= 0x80;
}

static bool is_space(unsigned char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

// --- names, separators, values

struct word {
  size_t from, until;
  char name[REDACT_NAME_BYTES];
};

static struct word word_at(const struct scan *s, size_t at)
{
  struct word w = {.from = at, .until = at};
  size_t name_len = 0;
  for (;;) {
    struct letter l = letter_at(s, w.until);
    if (l.used == 0 || !is_word_char(l.c)) return w;
    redact_name_put(w.name, &name_len, l.c);
    w.until += l.used;
  }
}

enum separator_kind { SEPARATOR_NONE, SEPARATOR_COLON, SEPARATOR_EQUALS, SEPARATOR_ELEMENT };

struct separator {
  enum separator_kind kind;
  bool is_encoded;
  bool after_quote;  // the name stood in quotes
  size_t value_at;
};

static size_t skip_spaces(const struct scan *s, size_t at)
{
  for (int i = 0; i < GAP_MAX; i++) {
    struct letter l = letter_at(s, at);
    if (l.used == 0 || !is_space(l.c)) break;
    at += l.used;
  }
  return at;
}

// Behind a name: quotes and brackets that close, then ':' or '='; or the '>' of an element.
static struct separator separator_at(const struct scan *s, const struct word *w)
{
  struct separator found = {.kind = SEPARATOR_NONE};
  struct letter l = letter_at(s, w->until);
  size_t at = w->until;
  if (l.used == 1 && l.c == '>' && w->from > 0 && s->text[w->from - 1] == '<') {
    found.kind = SEPARATOR_ELEMENT;
    found.value_at = at + 1;
    return found;
  }
  for (int i = 0; i < GAP_MAX && (l.c == '"' || l.c == '\'' || l.c == '\\' || l.c == ']' || is_space(l.c)); i++) {
    found.after_quote = found.after_quote || l.c == '"';
    at += l.used;
    l = letter_at(s, at);
    if (l.used == 0) return found;
  }
  if (l.c != ':' && l.c != '=') return found;
  found.kind = l.c == ':' ? SEPARATOR_COLON : SEPARATOR_EQUALS;
  found.is_encoded = l.is_encoded;
  found.value_at = skip_spaces(s, at + l.used);
  return found;
}

// The opening quote of a value: how many backslashes it has tells how deep the text lies in other texts.
struct quote {
  unsigned char c;  // 0: none
  bool is_encoded;
  size_t depth;
  size_t used;
};

static struct quote quote_at(const struct scan *s, size_t at)
{
  struct quote q = {0};
  struct letter l = letter_at(s, at);
  while (l.used > 0 && l.c == '\\' && q.depth < GAP_MAX) {
    q.depth++;
    q.used += l.used;
    l = letter_at(s, at + q.used);
  }
  if (l.c != '"' && l.c != '\'') return (struct quote){0};
  q.c = l.c;
  q.is_encoded = l.is_encoded;
  q.used += l.used;
  return q;
}

// Where the closing quote begins (with its backslashes), from behind the opening one. s->len: it is not there.
static size_t quoted_end(const struct scan *s, size_t at, const struct quote *q)
{
  size_t backslashes = 0, run_from = at;
  while (at < s->len) {
    struct letter l = letter_at(s, at);
    if (l.c == '\\' && l.used != 6) {
      if (backslashes++ == 0) run_from = at;
    } else {
      bool closes =
          l.c == q->c && l.used != 6 && l.is_encoded == q->is_encoded && backslashes % (2 * (q->depth + 1)) == q->depth;
      if (closes) return q->depth == 0 ? at : run_from;
      backslashes = 0;
    }
    at += l.used;
  }
  return s->len;
}

// Behind the bracket that closes the one at `at`.
static size_t bracket_end(const struct scan *s, size_t at)
{
  size_t depth = 0;
  while (at < s->len) {
    struct quote q = quote_at(s, at);
    if (q.c == '"') {
      at = quoted_end(s, at + q.used, &q);
      struct quote closing = quote_at(s, at);
      at += closing.used > 0 ? closing.used : 1;
      continue;
    }
    struct letter l = letter_at(s, at);
    at += l.used;
    if (l.c == '{' || l.c == '[') depth++;
    if ((l.c == '}' || l.c == ']') && --depth == 0) return at;
  }
  return s->len;
}

static bool ends_scalar(const struct separator *sep, const struct letter *l)
{
  unsigned char c = l->c;
  switch (sep->kind) {
    case SEPARATOR_ELEMENT: return c == '<';
    case SEPARATOR_EQUALS:
      if (l->is_encoded && !sep->is_encoded) return false;  // an '&' inside the value
      return c == '&' || c == '"' || c == '<' || c == '>' || is_space(c);
    case SEPARATOR_COLON:
    case SEPARATOR_NONE: break;
  }
  if (l->is_encoded && !sep->is_encoded) return false;
  return c == ',' || c == '}' || c == ']' || c == '&' || c == ';' || c == '"' || is_space(c);
}

static size_t scalar_end(const struct scan *s, const struct separator *sep)
{
  size_t at = sep->value_at;
  for (;;) {
    struct letter l = letter_at(s, at);
    if (l.used == 0 || ends_scalar(sep, &l)) return at;
    at += l.used;
  }
}

static size_t line_end(const struct scan *s, size_t at)
{
  while (at < s->len && s->text[at] != '\n' && s->text[at] != '\r') at++;
  return at;
}

// --- what is done with them

static void mask_quoted(struct scan *s, const struct separator *sep, const struct quote *q)
{
  size_t end = quoted_end(s, sep->value_at + q->used, q);
  emit_plain(s, sep->value_at + q->used);
  emit_mask(s, end);
}

static void mask_value(struct scan *s, const struct word *w, const struct separator *sep)
{
  struct letter first = letter_at(s, sep->value_at);
  struct quote q = quote_at(s, sep->value_at);
  if (sep->kind != SEPARATOR_ELEMENT && q.c != 0) {
    mask_quoted(s, sep, &q);
    return;
  }
  size_t end = scalar_end(s, sep);
  if (first.c == '{' || first.c == '[') end = bracket_end(s, sep->value_at);
  if (!sep->after_quote && sep->kind == SEPARATOR_COLON && redact_name_takes_line(w->name))
    end = line_end(s, sep->value_at);
  emit_plain(s, sep->value_at);
  if (end == sep->value_at) return;
  bool is_json = sep->after_quote && !sep->is_encoded && s->text[w->until] == '"';
  if (is_json) emit(s, "\"", 1);
  emit_mask(s, end);
  if (is_json) emit(s, "\"", 1);
}

static void keep_value(struct scan *s, const struct separator *sep)
{
  struct quote q = quote_at(s, sep->value_at);
  s->plain_until = q.c != 0 ? quoted_end(s, sep->value_at + q.used, &q) : scalar_end(s, sep);
  emit_plain(s, sep->value_at);
}

// "Bearer abc…" in the middle of a text.
static bool take_scheme(struct scan *s, const struct word *w)
{
  if (strcmp(w->name, "bearer") != 0 && strcmp(w->name, "basic") != 0) return false;
  size_t from = skip_spaces(s, w->until), until = from;
  while (until < s->len && !is_space((unsigned char)s->text[until]) && strchr("\"',;<>)", s->text[until]) == NULL)
    until++;
  if (from == w->until || until - from < 8) return false;
  emit_plain(s, from);
  emit_mask(s, until);
  return true;
}

static bool take_mail(struct scan *s, const struct word *w)
{
  struct letter l = letter_at(s, w->until);
  if (l.c != '@') return false;
  struct word domain = word_at(s, w->until + l.used);
  bool has_dot = memchr(s->text + domain.from, '.', domain.until - domain.from) != NULL;
  if (!has_dot) return false;
  emit_mask(s, domain.until);
  return true;
}

// A word on its own: numbers in it may still be somebody's.
static void emit_word(struct scan *s, size_t until)
{
  while (s->at < until && !s->is_full) {
    size_t number = s->at >= s->plain_until ? redact_number_at(s->text, s->len, s->at) : 0;
    if (number > 0) {
      emit_mask(s, s->at + number);
      continue;
    }
    struct letter l = letter_at(s, s->at);
    uint32_t code_point = 0;
    size_t bytes = l.used > 1 ? l.used : utf8_decode(s->text + s->at, s->len - s->at, &code_point);
    emit_plain(s, s->at + (bytes > 0 ? bytes : 1));
  }
}

static void take_word(struct scan *s)
{
  struct word w = word_at(s, s->at);
  struct separator sep = separator_at(s, &w);
  if (sep.kind != SEPARATOR_NONE && redact_name_is_sensitive(s->r, w.name)) {
    mask_value(s, &w, &sep);
  } else if (redact_is_token(s->text + w.from, w.until - w.from)) {
    emit_mask(s, w.until);
  } else if (s->at < s->plain_until) {
    emit_plain(s, w.until);
  } else if (sep.kind != SEPARATOR_NONE && redact_name_is_id(w.name)) {
    keep_value(s, &sep);
  } else if (!take_scheme(s, &w) && !take_mail(s, &w)) {
    emit_word(s, w.until);
  }
}

void redact_text(const struct redact *r, const char *text, size_t len, struct buf *out)
{
  struct scan s = {.r = r, .text = text, .len = len < SCANNED_BYTES_MAX ? len : SCANNED_BYTES_MAX, .out = out};
  while (s.at < s.len && !s.is_full) {
    if (take_secret(&s)) continue;
    struct letter l = letter_at(&s, s.at);
    if (is_word_char(l.c))
      take_word(&s);
    else
      emit_plain(&s, s.at + l.used);
  }
  if (!s.is_full && s.len < len) buf_puts(out, ELLIPSIS);
}

// --- life

void redact_init(struct redact *r, const struct conf_texts *names)
{
  *r = (struct redact){0};
  if (names == NULL) return;
  r->names = MEM_ARRAY(char *, names->count);
  for (; r->name_count < names->count; r->name_count++) {
    char name[REDACT_NAME_BYTES] = "";
    size_t len = 0;
    for (const char *c = names->items[r->name_count]; *c != '\0'; c++) redact_name_put(name, &len, (unsigned char)*c);
    r->names[r->name_count] = mem_strdup(name);
  }
}

static void add_spelling(struct redact *r, const char *bytes, size_t len)
{
  for (size_t i = 0; i < r->secret_count; i++) {
    if (r->secrets[i].len == len && memcmp(r->secrets[i].bytes, bytes, len) == 0) return;
  }
  r->secrets = mem_resize(r->secrets, r->secret_count + 1, sizeof *r->secrets);
  r->secrets[r->secret_count++] = (struct redact_secret){mem_strndup(bytes, len), len};
}

void redact_add_secret(struct redact *r, const char *bytes, size_t len)
{
  struct buf spelled;
  if (len < SECRET_BYTES_MIN) return;
  add_spelling(r, bytes, len);
  buf_init(&spelled, len * 6 + 2);
  buf_put_json(&spelled, bytes, len);
  add_spelling(r, spelled.data + 1, spelled.len - 2);
  buf_clear(&spelled);
  text_url_encode(bytes, len, &spelled);
  add_spelling(r, spelled.data, spelled.len);
  buf_wipe(&spelled);
}

void redact_release(struct redact *r)
{
  for (size_t i = 0; i < r->name_count; i++) mem_free(r->names[i]);
  for (size_t i = 0; i < r->secret_count; i++) {
    explicit_bzero(r->secrets[i].bytes, r->secrets[i].len);
    mem_free(r->secrets[i].bytes);
  }
  mem_free(r->names);
  mem_free(r->secrets);
  *r = (struct redact){0};
}
