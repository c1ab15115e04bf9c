// SPDX-License-Identifier: Apache-2.0
// A paper as CSV: a row for each figure, (section, item, figure, value, unit), so that every row has the same columns
// whatever the sections are, and one filter finds what one wants. Numbers are exact and plain. Pure; any thread.
#include "common/csv_out.h"
#include "reconciler/paper_internal.h"

static void put_row(struct buf *out, const char *section, const char *item, const char *figure, const char *value,
                    const char *unit)
{
  csv_put_row(out, (const char *const[]){section, item, figure, value, unit, NULL});
}

static const char *exact_of(const struct paper_cell *cell) { return cell->exact != NULL ? cell->exact : cell->text; }

// What a row is about: its keys, with a slash between them.
static void put_item(const struct paper_part *part, size_t row, struct buf *out)
{
  buf_clear(out);
  for (size_t i = 0; i < part->column_count; i++) {
    if (!part->columns[i].is_key) continue;
    const char *text = exact_of(paper_part_cell(part, row, i));
    if (out->len > 0 && text[0] != '\0') buf_putc(out, '/');
    buf_puts(out, text);
  }
}

static void put_part(const struct paper_part *part, struct buf *item, struct buf *out)
{
  for (size_t row = 0; row < paper_part_rows(part); row++) {
    put_item(part, row, item);
    for (size_t i = 0; i < part->column_count; i++) {
      const struct paper_cell *cell = paper_part_cell(part, row, i);
      if (part->columns[i].is_key || cell->text[0] == '\0') continue;
      put_row(out, part->table.id, buf_text(item), part->columns[i].title, exact_of(cell), cell->unit);
    }
  }
}

void paper_put_csv(const struct paper *p, struct buf *out)
{
  struct buf item;
  buf_init(&item, 1u << 20);
  put_row(out, "section", "item", "figure", "value", "unit");
  put_row(out, "about", "", "title", p->title, "");
  if (p->verdict[0] != '\0') put_row(out, "about", "", "verdict", p->verdict, "");
  for (size_t i = 0; i < p->fact_count; i++) put_row(out, "about", "", p->facts[i].name, p->facts[i].value, "");
  for (size_t i = 0; i < p->part_count; i++) put_part(&p->parts[i], &item, out);
  buf_release(&item);
}
