// SPDX-License-Identifier: Apache-2.0
// A report before it has a form: a verdict, facts, sections of tables, some of which are drawn. Filled once, it is told
// as text fit for mail, as CSV, or as a page with charts, so that all forms say the same. Pure; any thread; texts are
// copied.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/buf.h"
#include "common/message.h"
#include "reconciler/chart.h"
#include "reconciler/report.h"

#define PAPER_COLUMNS_MAX 16
#define PAPER_TEXT_WIDTH  72
#define PAPER_WORDS       "paper"  // the set of its names and titles: "paper.claims"

enum paper_tone { PAPER_PLAIN, PAPER_GOOD, PAPER_BAD };

struct paper_column {
  const char *title;
  bool is_key;        // says what the row is about; the others are figures of it
  bool is_drawn;      // a series of the chart
  bool is_minor;      // left out of a mail
  int tone;           // of that series
  const char *words;  // what its cells are in another language, see paper_add_fact_of
};                    // an array of them ends with {NULL}; constant, or as long as the paper

struct paper_table {
  const char *id;     // "totals": the section in CSV, an anchor in the page; constant
  const char *title;  // constant
  const char *note;   // what the figures mean; constant, NULL: nothing
  const struct paper_column *columns;
  enum chart_kind chart;  // drawn: from the first column and those that say so
  bool is_tiles;          // two columns, name and figure: shown large
  bool is_listed;         // each row as a block of lines, for long texts
  bool is_not_mailed;     // too long for a mail
};

struct paper;
struct paper *paper_new(const char *title);
void paper_free(struct paper *p);
void paper_set_verdict(struct paper *p, enum paper_tone tone, const char *text);
const char *paper_verdict(const struct paper *p);
void paper_add_fact(struct paper *p, const char *name, const char *value);  // name: constant
// The same of a value that can be told in another language. words: "": it is a text (message.h); "claim kind": a word
// of one of these closed sets; NULL: it is data and stays as it is. Constant.
void paper_add_fact_of(struct paper *p, const char *name, const char *value, const char *words);

// "2027-03-28T00:30:00.000000Z" as "2027-03-28 00:30:00 UTC"; other texts as they are. NULL: nothing.
void paper_add_time_fact(struct paper *p, const char *name, const char *instant);

// Opens a table; then the cells of its rows from left to right. One without rows is not shown.
void paper_add_table(struct paper *p, const struct paper_table *table);
void paper_text(struct paper *p, const char *text);  // NULL: empty
void paper_number(struct paper *p, int64_t number);
void paper_change(struct paper *p, int64_t number);  // with its sign
void paper_change_millis(struct paper *p, int64_t ms);
void paper_percent(struct paper *p, double number);  // with its sign; NAN: empty
void paper_millis(struct paper *p, int64_t ms);      // negative: empty
// Minor units; shown with the sign of the currency where it is known ("¥500", "$5.00", "KD 0.500"). NULL: none.
void paper_money(struct paper *p, int64_t amount, const char *currency);
void paper_nothing(struct paper *p);
size_t paper_rows(const struct paper *p);  // of the table that is open

// The three forms.
void paper_put_text(const struct paper *p, struct buf *out);
void paper_put_csv(const struct paper *p, struct buf *out);
void paper_put_html(const struct paper *p, struct buf *out);
// The style sheet inside the page, for a Content-Security-Policy that allows it and nothing else.
const char *paper_style(void);

// Tells everything in Chinese that is not data, for a page or a text; names and titles are words of the set "paper".
// Programs read CSV by its English names: a paper that was told is not put as CSV.
void paper_tell_chinese(struct paper *p, const struct message_catalogue *catalogue);

// In a form; JSON is doc, from which the paper was made.
void paper_put(const struct paper *p, enum report_format format, const char *doc, size_t len, struct buf *out);
