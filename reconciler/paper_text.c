// SPDX-License-Identifier: Apache-2.0
// A paper as text fit for a mail: the verdict first, no line longer than 72 columns but where one word is. Text from
// elsewhere can move no cursor. Pure; any thread.
#include <string.h>

#include "common/cmdline.h"
#include "common/text.h"
#include "reconciler/paper_internal.h"

#define GAP        2
#define LABEL_WIDE 12

static size_t width_of(const char *text) { return text_utf8_length(text, strlen(text)); }

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
  for (const char *word = buf_text(&safe) + strspn(buf_text(&safe), " "); *word != '\0';) {
    size_t len = strcspn(word, " "), width = text_utf8_length(word, len);
    if (at > indent && at + 1 + width > PAPER_TEXT_WIDTH) {
      buf_putc(out, '\n');
      put_spaces(out, indent);
      at = indent;
    } else if (at > indent) {
      buf_putc(out, ' ');
      at++;
    }
    buf_append(out, word, len);
    at += width;
    word += len;
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
  buf_printf(out, "\n%s\n", part->table.title);
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
