// SPDX-License-Identifier: Apache-2.0
// A paper as a page of its own: no script, nothing fetched, light and dark, fit for A4; each drawing with its figures
// beside or below it. Pure; any thread.
#include <math.h>
#include <string.h>

#include "common/html_out.h"
#include "common/mem.h"
#include "reconciler/paper_internal.h"

#define SHORT_ROWS_MAX     12  // kept on one sheet of paper
#define NARROW_COLUMNS_MAX 3
#define WIDE_COLUMNS       8
#define BESIDE_COLUMNS_MAX 4   // of a table that has room beside its drawing
#define LONG_TEXT          40  // gets a wide column

static const char style[] =
    "\n:root{color-scheme:light dark;--ink:#1c2330;--soft:#5b6475;--line:#dfe3ea;--page:#f5f6f9;--card:#fff;"
    "--good:#0f7a4d;--good-back:#e4f5ec;--bad:#b3261e;--bad-back:#fdeceb;"
    "--s0:#2f6fde;--s1:#1b9e77;--s2:#e08a1e;--s3:#d64541;--s4:#8056c9;--s5:#7a8699;--s6:#c2418a;--s7:#0d8fa8}\n"
    "@media "
    "(prefers-color-scheme:dark){:root{--ink:#e6e9ef;--soft:#9aa4b5;--line:#2e3646;--page:#11151d;--card:#1a202b;"
    "--good:#5fd39b;--good-back:#12301f;--bad:#ff9a92;--bad-back:#3a1715;"
    "--s0:#6ea1ff;--s1:#4fd0a3;--s2:#f2ae55;--s3:#ff7d76;--s4:#b393f0;--s5:#9aa4b5;--s6:#ee86bd;--s7:#4fc3d9}}\n"
    "*{box-sizing:border-box}\n"
    "body{margin:0;background:var(--page);color:var(--ink);font:15px/1.5 system-ui,-apple-system,\"Segoe UI\",Roboto,"
    "\"Noto Sans\",\"Noto Sans CJK SC\",sans-serif}\n"
    "main{max-width:76rem;margin:0 auto;padding:2rem 1.25rem 3rem}\n"
    "h1{font-size:1.7rem;line-height:1.2;margin:0 0 .75rem;letter-spacing:-.01em;overflow-wrap:anywhere}\n"
    "h2{font-size:1.1rem;margin:0 0 .25rem}\n"
    ".verdict{display:inline-block;margin:0 0 1rem;padding:.4rem .9rem;border-radius:.6rem;font-weight:600;"
    "background:var(--card);border:1px solid var(--line);overflow-wrap:anywhere}\n"
    ".verdict.good{color:var(--good);background:var(--good-back);border-color:transparent}\n"
    ".verdict.bad{color:var(--bad);background:var(--bad-back);border-color:transparent}\n"
    "dl.facts{display:grid;grid-template-columns:max-content 1fr;gap:.1rem 1rem;margin:0 0 1.5rem;color:var(--soft)}\n"
    "dl.facts dt{font-weight:600}dl.facts dd{margin:0;overflow-wrap:anywhere}\n"
    "section{background:var(--card);border:1px solid var(--line);border-radius:.8rem;padding:1.1rem 1.25rem;"
    "margin:0 0 1.1rem}\n"
    ".note{color:var(--soft);margin:0 0 .75rem;max-width:60rem}\n"
    ".tiles{display:grid;grid-template-columns:repeat(auto-fill,minmax(9.5rem,1fr));gap:.75rem;margin:.6rem 0 0;"
    "padding:0;list-style:none}\n"
    ".tiles li{border:1px solid var(--line);border-radius:.6rem;padding:.6rem .8rem}\n"
    ".tiles b{display:block;font-size:1.35rem;line-height:1.3;font-variant-numeric:tabular-nums}\n"
    ".tiles span{color:var(--soft);font-size:.85rem}\n"
    ".drawn{display:grid;grid-template-columns:minmax(0,3fr) minmax(16rem,1fr);gap:1.25rem;align-items:start}\n"
    ".drawn.below{grid-template-columns:minmax(0,1fr)}.drawn.below figure{max-width:60rem}\n"
    "figure{margin:0}.chart{width:100%;height:auto;display:block}\n"
    ".chart .grid{stroke:var(--line)}.chart .axis{stroke:var(--soft)}.chart .tick{fill:var(--soft);font-size:11px}\n"
    ".legend{display:flex;flex-wrap:wrap;gap:.2rem 1rem;margin:.4rem 0 0 3.2rem;padding:0;list-style:none;"
    "font-size:.85rem;color:var(--soft)}\n"
    ".legend svg{width:.75rem;height:.75rem;margin-right:.35rem;vertical-align:-.05rem}\n"
    ".mark.s0{fill:var(--s0)}.mark.s1{fill:var(--s1)}.mark.s2{fill:var(--s2)}.mark.s3{fill:var(--s3)}"
    ".mark.s4{fill:var(--s4)}.mark.s5{fill:var(--s5)}.mark.s6{fill:var(--s6)}.mark.s7{fill:var(--s7)}\n"
    ".line{fill:none;stroke-width:2;stroke-linejoin:round}"
    ".line.s0{stroke:var(--s0)}.line.s1{stroke:var(--s1)}.line.s2{stroke:var(--s2)}.line.s3{stroke:var(--s3)}"
    ".line.s4{stroke:var(--s4)}.line.s5{stroke:var(--s5)}.line.s6{stroke:var(--s6)}.line.s7{stroke:var(--s7)}\n"
    ".scroll{overflow:auto;max-height:34rem;border-radius:.4rem}.drawn .scroll{max-height:17rem}\n"
    ".scroll:focus-visible{outline:2px solid var(--s0);outline-offset:2px}\n"
    "table{border-collapse:collapse;width:100%;font-size:.9rem}\n"
    "th,td{text-align:left;vertical-align:top;padding:.35rem .6rem;border-bottom:1px solid var(--line);"
    "overflow-wrap:break-word}\n"
    "thead th::first-letter,.tiles span::first-letter,dt::first-letter{text-transform:uppercase}\n"
    "thead th{position:sticky;top:0;background:var(--card);color:var(--soft);font-weight:600;white-space:nowrap}\n"
    "tbody "
    "th{font-weight:600}.n{text-align:right;font-variant-numeric:tabular-nums;white-space:"
    "nowrap}\n"
    "td.long{min-width:11rem}table.narrow{width:auto;min-width:min(26rem,100%)}tbody tr:last-child>*{border-bottom:0}\n"
    ":lang(zh) tbody th{min-width:7em}\n"
    "footer{color:var(--soft);font-size:.85rem}\n"
    "@media (max-width:56rem){.drawn{grid-template-columns:minmax(0,1fr)}main{padding:1rem .75rem}"
    "section{padding:.9rem .8rem}}\n"
    "@page{size:A4;margin:14mm 12mm}\n"
    "@media print{:root{color-scheme:light;--ink:#000;--soft:#444;--line:#ccc;--page:#fff;--card:#fff;--good:#0f7a4d;"
    "--good-back:#e4f5ec;--bad:#b3261e;--bad-back:#fdeceb;--s0:#2f6fde;--s1:#1b9e77;--s2:#e08a1e;--s3:#d64541;"
    "--s4:#8056c9;--s5:#7a8699;--s6:#c2418a;--s7:#0d8fa8}\n"
    "body{font-size:9.5pt;-webkit-print-color-adjust:exact;print-color-adjust:exact}main{max-width:none;padding:0}\n"
    "section{border:0;border-radius:0;padding:0;margin:0 0 1.4rem}h2{break-after:avoid}\n"
    "figure,.tiles li,tr{break-inside:avoid}thead{display:table-header-group}thead th{position:static}\n"
    ".drawn{display:block}.scroll,.drawn .scroll{overflow:visible;max-height:none;margin-top:.5rem}\n"
    "section.short{break-inside:avoid}td.long{min-width:0}.wide{font-size:7pt}.wide th,.wide td{padding:.15rem "
    ".25rem;overflow-wrap:anywhere}table{font-size:8.5pt}th,td{"
    "padding:.2rem .4rem}}\n";

const char *paper_style(void) { return style; }

static void put_text(struct buf *out, const char *before, const char *text, const char *after)
{
  buf_puts(out, before);
  html_put_text(out, text);
  buf_puts(out, after);
}

static void put_head(const struct paper *p, struct buf *out)
{
  static const char *const tones[] = {"", " good", " bad"};
  buf_printf(out, "<!doctype html>\n<html lang=\"%s\"><head><meta charset=\"utf-8\">", p->is_chinese ? "zh-CN" : "en");
  put_text(out, "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>", p->title,
           "</title>\n<style>");
  buf_puts(out, style);
  put_text(out, "</style></head><body><main>\n<h1>", p->title, "</h1>\n");
  if (p->verdict[0] != '\0') {
    buf_printf(out, "<p class=\"verdict%s\">", tones[p->tone]);
    put_text(out, "", p->verdict, "</p>\n");
  }
  if (p->fact_count == 0) return;
  buf_puts(out, "<dl class=\"facts\">");
  for (size_t i = 0; i < p->fact_count; i++) {
    put_text(out, "<dt>", p->facts[i].name, "</dt>");
    put_text(out, "<dd>", p->facts[i].value, "</dd>");
  }
  buf_puts(out, "</dl>\n");
}

static void put_tiles(const struct paper_part *part, struct buf *out)
{
  buf_puts(out, "<ul class=\"tiles\">");
  for (size_t row = 0; row < paper_part_rows(part); row++) {
    put_text(out, "<li><b>", paper_part_cell(part, row, 1)->text, "</b>");
    put_text(out, "<span>", paper_part_cell(part, row, 0)->text, "</span></li>\n");
  }
  buf_puts(out, "</ul>\n");
}

// Of what is drawn also where there is nothing but 0.
static bool is_empty_column(const struct paper_part *part, size_t column)
{
  for (size_t row = 0; row < paper_part_rows(part); row++) {
    const struct paper_cell *cell = paper_part_cell(part, row, column);
    bool is_zero = part->columns[column].is_drawn && cell->is_number && fpclassify(cell->number) == FP_ZERO;
    if (cell->text[0] != '\0' && !is_zero) return false;
  }
  return true;
}

static void put_cell(const struct paper_part *part, size_t row, size_t column, struct buf *out)
{
  const struct paper_cell *cell = paper_part_cell(part, row, column);
  const char *element = column == 0 ? "th" : "td";
  const char *class = cell->is_number ? " class=\"n\"" : strlen(cell->text) > LONG_TEXT ? " class=\"long\"" : "";
  buf_printf(out, "<%s%s%s>", element, column == 0 ? " scope=\"row\"" : "", class);
  html_put_text(out, cell->text);
  buf_printf(out, "</%s>", element);
}

static void put_table(const struct paper_part *part, struct buf *out)
{
  bool is_left_out[PAPER_COLUMNS_MAX];
  put_text(out, "<div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"", part->title,
           part->column_count <= NARROW_COLUMNS_MAX ? "\"><table class=\"narrow\"><thead><tr>"
           : part->column_count >= WIDE_COLUMNS     ? "\"><table class=\"wide\"><thead><tr>"
                                                    : "\"><table><thead><tr>");
  for (size_t i = 0; i < part->column_count; i++) {
    is_left_out[i] = is_empty_column(part, i);
    if (is_left_out[i]) continue;
    buf_printf(out, "<th scope=\"col\"%s>", paper_part_cell(part, 0, i)->is_number ? " class=\"n\"" : "");
    put_text(out, "", part->columns[i].title, "</th>");
  }
  buf_puts(out, "</tr></thead><tbody>\n");
  for (size_t row = 0; row < paper_part_rows(part); row++) {
    buf_puts(out, "<tr>");
    for (size_t i = 0; i < part->column_count; i++) {
      if (!is_left_out[i]) put_cell(part, row, i, out);
    }
    buf_puts(out, "</tr>\n");
  }
  buf_puts(out, "</tbody></table></div>\n");
}

// --- drawings

struct drawing {
  const char **labels;
  struct chart_series series[PAPER_COLUMNS_MAX];
  double *values;
  size_t series_count;
};

static void draw_column(const struct paper_part *part, size_t column, struct drawing *d)
{
  size_t rows = paper_part_rows(part);
  double *values = &d->values[d->series_count * rows];
  for (size_t row = 0; row < rows; row++) values[row] = paper_part_cell(part, row, column)->number;
  d->series[d->series_count++] =
      (struct chart_series){.name = part->columns[column].title, .values = values, .tone = part->columns[column].tone};
}

static void put_legend(const struct drawing *d, struct buf *out)
{
  if (d->series_count < 2) return;
  buf_puts(out, "<figcaption><ul class=\"legend\">");
  for (size_t i = 0; i < d->series_count; i++) {
    buf_printf(out,
               "<li><svg viewBox=\"0 0 10 10\" aria-hidden=\"true\"><rect class=\"mark s%d\" width=\"10\" "
               "height=\"10\" rx=\"2\"/></svg>",
               d->series[i].tone);
    put_text(out, "", d->series[i].name, "</li>");
  }
  buf_puts(out, "</ul></figcaption>");
}

static void put_drawing(const struct paper_part *part, const char *description, struct buf *out)
{
  size_t rows = paper_part_rows(part);
  struct drawing d = {.labels = mem_zalloc(rows, sizeof *d.labels),
                      .values = mem_zalloc(rows * PAPER_COLUMNS_MAX, sizeof *d.values)};
  for (size_t row = 0; row < rows; row++) d.labels[row] = paper_part_cell(part, row, 0)->text;
  for (size_t i = 0; i < part->column_count; i++) {
    if (part->columns[i].is_drawn && !is_empty_column(part, i)) draw_column(part, i, &d);
  }
  const struct chart chart = {.kind = part->table.chart,
                              .title = part->title,
                              .description = description,
                              .labels = d.labels,
                              .points = rows,
                              .series = d.series,
                              .series_count = d.series_count};
  buf_puts(out, "<figure>");
  chart_put_svg(&chart, part->table.id, out);
  put_legend(&d, out);
  buf_puts(out, "</figure>\n");
  mem_free(d.labels);
  mem_free(d.values);
}

static void put_part(const struct paper *p, const struct paper_part *part, struct buf *out)
{
  if (paper_part_rows(part) == 0) return;
  bool is_drawn = part->table.chart != CHART_NONE;
  buf_printf(out, "<section id=\"section-%s\"%s><h2>", part->table.id,
             paper_part_rows(part) <= SHORT_ROWS_MAX ? " class=\"short\"" : "");
  put_text(out, "", part->title, "</h2>\n");
  if (part->note != NULL) put_text(out, "<p class=\"note\">", part->note, "</p>\n");
  if (is_drawn) {
    buf_puts(out, part->column_count > BESIDE_COLUMNS_MAX ? "<div class=\"drawn below\">" : "<div class=\"drawn\">");
    put_drawing(part, p->drawn_note, out);
  }
  if (part->table.is_tiles)
    put_tiles(part, out);
  else
    put_table(part, out);
  buf_puts(out, is_drawn ? "</div></section>\n" : "</section>\n");
}

void paper_put_html(const struct paper *p, struct buf *out)
{
  put_head(p, out);
  for (size_t i = 0; i < p->part_count; i++) put_part(p, &p->parts[i], out);
  buf_puts(out, "</main></body></html>\n");
}
