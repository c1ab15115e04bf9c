// SPDX-License-Identifier: Apache-2.0
// A paper as text fit for a mail: the verdict first, no line longer than 72 columns but where one word is. Text from
// elsewhere can move no cursor. Pure; any thread.
#include <string.h>

#include "common/cmdline.h"
#include "common/compiler.h"
#include "reconciler/paper_internal.h"

#define GAP        2
#define LABEL_WIDE 12

// A character of UTF-8, and the columns that it takes: Chinese ones two.
struct glyph {
  uint32_t code;
  size_t bytes, width;
};

static struct glyph glyph_at(const char *p)
{
  static const uint32_t wide[][2] = {{0x1100, 0x115F},   {0x2E80, 0x303E},  {0x3041, 0xA4CF}, {0xAC00, 0xD7A3},
                                     {0xF900, 0xFAFF},   {0xFE30, 0xFE6F},  {0xFF00, 0xFF60}, {0xFFE0, 0xFFE6},
                                     {0x1F300, 0x1FAFF}, {0x20000, 0x3FFFD}};
  unsigned char lead = (unsigned char)*p;
  struct glyph g = {.code = lead, .bytes = 1, .width = 1};
  size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC0 ? 2 : 1;
  if (length > 1) g.code = lead & (0x7Fu >> length);
  for (; g.bytes < length && ((unsigned char)p[g.bytes] & 0xC0) == 0x80; g.bytes++)
    g.code = g.code << 6 | ((unsigned char)p[g.bytes] & 0x3F);
  for (size_t i = 0; i < ARRAY_LEN(wide); i++)
    if (g.code >= wide[i][0] && g.code <= wide[i][1]) g.width = 2;
  return g;
}

static size_t width_of(const char *text)
{
  size_t width = 0;
  for (struct glyph g; *text != '\0'; text += g.bytes) {
    g = glyph_at(text);
    width += g.width;
  }
  return width;
}

static bool is_one_of(uint32_t code, const uint32_t *codes)
{
  while (*codes != 0 && *codes != code) codes++;
  return *codes != 0;
}

// Chinese has no spaces: a line may end beside each of its characters, but not before a comma or behind a bracket.
static bool may_part(struct glyph before, struct glyph after)
{
  static const uint32_t closing[] = {0x3001, 0x3002, 0xFF0C, 0xFF1A, 0xFF1B, 0xFF01, 0xFF1F, 0xFF09, 0x201D, 0x300B, 0};
  static const uint32_t opening[] = {0xFF08, 0x201C, 0x300A, 0};
  return (before.width > 1 || after.width > 1) && !is_one_of(after.code, closing) && !is_one_of(before.code, opening);
}

// What stays on one line: a word, or a Chinese character with what belongs to it.
static size_t word_at(const char *text, size_t *out_width)
{
  struct glyph g = glyph_at(text);
  size_t len = g.bytes;
  *out_width = g.width;
  while (text[len] != '\0' && text[len] != ' ') {
    struct glyph next = glyph_at(text + len);
    if (may_part(g, next)) break;
    len += next.bytes;
    *out_width += next.width;
    g = next;
  }
  return len;
}

static void put_spaces(struct buf *out, size_t count)
{
  while (count-- > 0) buf_putc(out, ' ');
}

// Words after one another, as many as fit; further lines begin at the indent.
static void put_wrapped(struct buf *out, const char *text, size_t at, size_t indent)
{
  struct buf safe;
  buf_init(&safe, 1u << 20);
  cmdline_put_text(&safe, text);
  size_t gap = 0;
  for (const char *word = buf_text(&safe) + strspn(buf_text(&safe), " "); *word != '\0';) {
    size_t width = 0, len = word_at(word, &width);
    if (at > indent && at + gap + width > PAPER_TEXT_WIDTH) {
      buf_putc(out, '\n');
      put_spaces(out, indent);
      at = indent;
    } else if (at > indent) {
      put_spaces(out, gap);
      at += gap;
    }
    buf_append(out, word, len);
    at += width;
    word += len;
    gap = *word == ' ' ? 1 : 0;
    word += strspn(word, " ");
  }
  buf_release(&safe);
  buf_putc(out, '\n');
}

static void put_labelled(struct buf *out, const char *label, const char *text, size_t indent, size_t label_width)
{
  put_spaces(out, indent);
  buf_puts(out, label);
  size_t used = width_of(label);
  put_spaces(out, used < label_width ? label_width - used : 1);
  size_t at = indent + (used < label_width ? label_width : used + 1);
  put_wrapped(out, text, at, at);
}

struct layout {
  size_t widths[PAPER_COLUMNS_MAX], total;
  bool is_empty[PAPER_COLUMNS_MAX];  // nothing stands in the column, or nothing that is mailed
};

static struct layout measure(const struct paper_part *part)
{
  struct layout l = {.total = 2};
  for (size_t i = 0; i < part->column_count; i++) {
    size_t widest = 0;
    for (size_t row = 0; row < paper_part_rows(part); row++) {
      size_t width = width_of(paper_part_cell(part, row, i)->text);
      if (width > widest) widest = width;
    }
    l.is_empty[i] = widest == 0 || part->columns[i].is_minor;
    if (l.is_empty[i]) continue;
    size_t title = width_of(part->columns[i].title);
    l.widths[i] = widest > title ? widest : title;
    l.total += l.widths[i] + GAP;
  }
  l.total -= GAP;
  return l;
}

static void put_cell(struct buf *out, const char *text, size_t width, bool to_the_right, bool is_last)
{
  size_t used = width_of(text), room = used < width ? width - used : 0;
  if (is_last && used == 0) return;
  if (to_the_right) put_spaces(out, room);
  cmdline_put_text(out, text);
  if (!to_the_right && !is_last) put_spaces(out, room);
}

static void put_line(const struct paper_part *part, const struct layout *l, bool is_title, size_t row, struct buf *out)
{
  size_t last = 0;
  for (size_t i = 0; i < part->column_count; i++) {
    if (!l->is_empty[i]) last = i;
  }
  buf_puts(out, "  ");
  for (size_t i = 0, shown = 0; i <= last; i++) {
    if (l->is_empty[i]) continue;
    if (shown++ > 0) put_spaces(out, GAP);
    bool is_number = paper_part_cell(part, row, i)->is_number || !part->columns[i].is_key;
    put_cell(out, is_title ? part->columns[i].title : paper_part_cell(part, row, i)->text, l->widths[i], is_number,
             i == last);
  }
  buf_putc(out, '\n');
}

static void put_grid(const struct paper_part *part, const struct layout *l, struct buf *out)
{
  if (!part->table.is_tiles) put_line(part, l, true, 0, out);
  for (size_t row = 0; row < paper_part_rows(part); row++) put_line(part, l, false, row, out);
}

// A row as a block: what it is about, then a line for each figure.
static void put_block(const struct paper_part *part, size_t row, struct buf *out)
{
  struct buf item;
  size_t wide = LABEL_WIDE;
  buf_init(&item, 1u << 20);
  for (size_t i = 0; i < part->column_count; i++) {
    const char *text = paper_part_cell(part, row, i)->text;
    if (part->columns[i].is_minor) continue;
    if (!part->columns[i].is_key) {
      size_t width = width_of(part->columns[i].title) + 1;
      if (width > wide) wide = width;
    } else if (text[0] != '\0') {
      if (item.len > 0) buf_putc(&item, ' ');
      buf_puts(&item, text);
    }
  }
  put_spaces(out, 2);
  put_wrapped(out, buf_text(&item), 2, 4);
  for (size_t i = 0; i < part->column_count; i++) {
    const char *text = paper_part_cell(part, row, i)->text;
    if (!part->columns[i].is_key && !part->columns[i].is_minor && text[0] != '\0')
      put_labelled(out, part->columns[i].title, text, 4, wide);
  }
  buf_release(&item);
}

static void put_part(const struct paper_part *part, struct buf *out)
{
  if (paper_part_rows(part) == 0 || part->table.is_not_mailed) return;
  struct layout l = measure(part);
  buf_printf(out, "\n%s\n", part->title);
  if (!part->table.is_listed && l.total <= PAPER_TEXT_WIDTH) {
    put_grid(part, &l, out);
    return;
  }
  for (size_t row = 0; row < paper_part_rows(part); row++) {
    if (row > 0) buf_putc(out, '\n');
    put_block(part, row, out);
  }
}

void paper_put_text(const struct paper *p, struct buf *out)
{
  put_wrapped(out, p->title, 0, 0);
  put_wrapped(out, p->verdict, 0, 0);
  if (p->fact_count > 0) buf_putc(out, '\n');
  for (size_t i = 0; i < p->fact_count; i++) put_labelled(out, p->facts[i].name, p->facts[i].value, 2, LABEL_WIDE);
  for (size_t i = 0; i < p->part_count; i++) put_part(&p->parts[i], out);
}
