// SPDX-License-Identifier: Apache-2.0
// A report before it has a form. Pure; any thread.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/compiler.h"
#include "common/contract.h"
#include "common/mem.h"
#include "common/money.h"
#include "reconciler/paper_internal.h"

#define CELLS_AT_FIRST 64

struct paper *paper_new(const char *title)
{
  struct paper *p = MEM_NEW(struct paper);
  p->title = mem_strdup(title);
  p->verdict = mem_strdup("");
  p->drawn_note = mem_strdup(PAPER_DRAWN_NOTE);
  return p;
}

static void free_part(struct paper_part *part)
{
  for (size_t i = 0; i < part->cell_count; i++) {
    mem_free(part->cells[i].text);
    mem_free(part->cells[i].exact);
  }
  for (size_t i = 0; i < part->column_count; i++) mem_free((char *)(uintptr_t)part->columns[i].title);
  mem_free(part->title);
  mem_free(part->note);
  mem_free(part->columns);
  mem_free(part->cells);
}

void paper_free(struct paper *p)
{
  if (p == NULL) return;
  for (size_t i = 0; i < p->part_count; i++) free_part(&p->parts[i]);
  for (size_t i = 0; i < p->fact_count; i++) {
    mem_free(p->facts[i].name);
    mem_free(p->facts[i].value);
  }
  mem_free(p->parts);
  mem_free(p->facts);
  mem_free(p->title);
  mem_free(p->verdict);
  mem_free(p->drawn_note);
  mem_free(p);
}

void paper_set_verdict(struct paper *p, enum paper_tone tone, const char *text)
{
  mem_free(p->verdict);
  p->verdict = mem_strdup(text);
  p->tone = tone;
}

const char *paper_verdict(const struct paper *p) { return p->verdict; }

void paper_add_fact_of(struct paper *p, const char *name, const char *value, const char *words)
{
  p->facts = mem_resize(p->facts, p->fact_count + 1, sizeof *p->facts);
  p->facts[p->fact_count++] = (struct paper_fact){mem_strdup(name), mem_strdup(value), words};
}

void paper_add_fact(struct paper *p, const char *name, const char *value) { paper_add_fact_of(p, name, value, NULL); }

void paper_add_time_fact(struct paper *p, const char *name, const char *instant)
{
  char text[48];
  size_t len = instant != NULL ? strlen(instant) : 0;
  if (instant == NULL) return;
  bool is_utc = len >= 20 && instant[10] == 'T' && instant[len - 1] == 'Z';
  if (is_utc) (void)snprintf(text, sizeof text, "%.10s %.8s UTC", instant, instant + 11);
  paper_add_fact(p, name, is_utc ? text : instant);
}

void paper_add_table(struct paper *p, const struct paper_table *table)
{
  p->parts = mem_resize(p->parts, p->part_count + 1, sizeof *p->parts);
  struct paper_part *part = &p->parts[p->part_count++];
  *part = (struct paper_part){
      .table = *table, .title = mem_strdup(table->title), .note = table->note != NULL ? mem_strdup(table->note) : NULL};
  while (table->columns[part->column_count].title != NULL) part->column_count++;
  REQUIRE(part->column_count > 0 && part->column_count <= PAPER_COLUMNS_MAX);
  part->columns = mem_zalloc(part->column_count, sizeof *part->columns);
  for (size_t i = 0; i < part->column_count; i++) {
    part->columns[i] = table->columns[i];
    part->columns[i].title = mem_strdup(table->columns[i].title);
  }
  part->table.columns = NULL;  // the caller's may be gone
}

static struct paper_part *open_part(const struct paper *p)
{
  REQUIRE(p->part_count > 0);
  return &p->parts[p->part_count - 1];
}

size_t paper_part_rows(const struct paper_part *part) { return part->cell_count / part->column_count; }
size_t paper_rows(const struct paper *p) { return paper_part_rows(open_part(p)); }

const struct paper_cell *paper_part_cell(const struct paper_part *part, size_t row, size_t column)
{
  return &part->cells[row * part->column_count + column];
}

static struct paper_cell *add_cell(struct paper *p, const char *text)
{
  struct paper_part *part = open_part(p);
  if (part->cell_count == part->room) {
    part->room = part->room > 0 ? part->room * 2 : CELLS_AT_FIRST;
    part->cells = mem_resize(part->cells, part->room, sizeof *part->cells);
  }
  struct paper_cell *cell = &part->cells[part->cell_count++];
  *cell = (struct paper_cell){.text = mem_strdup(text != NULL ? text : ""), .number = NAN};
  return cell;
}

void paper_text(struct paper *p, const char *text) { (void)add_cell(p, text); }
void paper_nothing(struct paper *p) { (void)add_cell(p, ""); }

// With a comma between thousands, as people read it; digits that may have a point.
static void put_digits(const char *digits, struct buf *out)
{
  size_t whole = strcspn(digits, ".");
  for (size_t i = 0; i < whole; i++) {
    if (i > 0 && (whole - i) % 3 == 0) buf_putc(out, ',');
    buf_putc(out, digits[i]);
  }
  buf_puts(out, digits + whole);
}

static void put_grouped(int64_t number, struct buf *out)
{
  char digits[24];
  (void)snprintf(digits, sizeof digits, "%llu",
                 number < 0 ? 0ull - (unsigned long long)number : (unsigned long long)number);
  if (number < 0) buf_putc(out, '-');
  put_digits(digits, out);
}

static struct paper_cell *add_number(struct paper *p, int64_t number, const char *before)
{
  struct buf text;
  char exact[24];
  buf_init(&text, 64);
  buf_puts(&text, before);
  put_grouped(number, &text);
  (void)snprintf(exact, sizeof exact, "%lld", (long long)number);
  struct paper_cell *cell = add_cell(p, buf_text(&text));
  cell->exact = mem_strdup(exact);
  cell->number = (double)number;
  cell->is_number = true;
  buf_release(&text);
  return cell;
}

void paper_number(struct paper *p, int64_t number) { (void)add_number(p, number, ""); }
void paper_change(struct paper *p, int64_t number) { (void)add_number(p, number, number > 0 ? "+" : ""); }

void paper_change_millis(struct paper *p, int64_t ms)
{
  struct buf text;
  buf_init(&text, 64);
  struct paper_cell *cell = add_number(p, ms, ms > 0 ? "+" : "");
  buf_printf(&text, "%s ms", cell->text);
  mem_free(cell->text);
  cell->text = buf_take(&text);
  (void)snprintf(cell->unit, sizeof cell->unit, "ms");
}

void paper_percent(struct paper *p, double number)
{
  char text[48];
  if (!isfinite(number)) {
    paper_nothing(p);
    return;
  }
  (void)snprintf(text, sizeof text, "%+.1f %%", number);
  struct paper_cell *cell = add_cell(p, text);
  (void)snprintf(text, sizeof text, "%.1f", number);
  cell->exact = mem_strdup(text);
  cell->number = number;
  cell->is_number = true;
  (void)snprintf(cell->unit, sizeof cell->unit, "%%");
}

void paper_millis(struct paper *p, int64_t ms)
{
  char text[48];
  if (ms < 0) {
    paper_nothing(p);
    return;
  }
  if (ms < 10000)
    (void)snprintf(text, sizeof text, "%lld ms", (long long)ms);
  else if (ms < 600000)
    (void)snprintf(text, sizeof text, "%.1f s", (double)ms / 1e3);
  else if (ms < 36000000)
    (void)snprintf(text, sizeof text, "%.1f min", (double)ms / 6e4);
  else
    (void)snprintf(text, sizeof text, "%.1f h", (double)ms / 3.6e6);
  struct paper_cell *cell = add_number(p, ms, "");
  mem_free(cell->text);
  cell->text = mem_strdup(text);
  (void)snprintf(cell->unit, sizeof cell->unit, "ms");
}

// Signs that people of that currency use and that mean no other; the code for all others.
static const char *sign_of(const char *currency)
{
  static const struct {
    const char *currency, *sign;
  } signs[] = {{"JPY", "\xC2\xA5"}, {"USD", "$"},          {"EUR", "\xE2\x82\xAC"}, {"GBP", "\xC2\xA3"},
               {"KWD", "KD "},      {"CNY", "CN\xC2\xA5"}, {"KRW", "\xE2\x82\xA9"}, {"INR", "\xE2\x82\xB9"}};
  for (size_t i = 0; i < ARRAY_LEN(signs); i++) {
    if (strcmp(signs[i].currency, currency) == 0) return signs[i].sign;
  }
  return NULL;
}

void paper_money(struct paper *p, int64_t amount, const char *currency)
{
  struct buf exact, text;
  if (currency == NULL) {
    paper_nothing(p);
    return;
  }
  buf_init(&exact, 64);
  buf_init(&text, 128);
  money_put(&exact, amount, currency);
  bool is_negative = buf_text(&exact)[0] == '-';
  if (is_negative) buf_putc(&text, '-');
  const char *sign = sign_of(currency);
  if (sign != NULL) {
    buf_puts(&text, sign);
  } else {
    buf_puts(&text, currency);
    buf_putc(&text, ' ');
  }
  put_digits(buf_text(&exact) + (is_negative ? 1 : 0), &text);
  struct paper_cell *cell = add_cell(p, buf_text(&text));
  cell->exact = buf_take(&exact);
  cell->number = (double)amount;
  cell->is_number = true;
  (void)snprintf(cell->unit, sizeof cell->unit, "%s", currency);
  buf_release(&exact);
  buf_release(&text);
}

void paper_put(const struct paper *p, enum report_format format, const char *doc, size_t len, struct buf *out)
{
  switch (format) {
    case REPORT_TEXT: paper_put_text(p, out); break;
    case REPORT_CSV: paper_put_csv(p, out); break;
    case REPORT_HTML: paper_put_html(p, out); break;
    case REPORT_JSON:
      buf_append(out, doc, len);
      buf_putc(out, '\n');
      break;
  }
}
