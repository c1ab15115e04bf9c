// SPDX-License-Identifier: Apache-2.0
// What a paper is made of, for the files of its module only. Pure; any thread.
#pragma once

#include "reconciler/paper.h"

struct paper_cell {
  char *text;      // as people read it
  char *exact;     // as programs read it; NULL: the same
  char unit[8];    // of what is exact: "ms", "%", a currency; "": none
  double number;   // NAN: no number
  bool is_number;  // stands to the right
};

// Stands for a drawing where it is read out.
#define PAPER_DRAWN_NOTE "The figures stand in the table beside it."

struct paper_part {
  struct paper_table table;  // but for its columns, and with texts of its own:
  char *title, *note;        // note NULL: nothing
  struct paper_column *columns;
  size_t column_count, cell_count, room;
  struct paper_cell *cells;
};

struct paper_fact {
  char *name, *value;
  const char *words;
};

struct paper {
  char *title, *verdict;
  enum paper_tone tone;
  struct paper_fact *facts;
  struct paper_part *parts;
  size_t fact_count, part_count;
  bool is_chinese;
  char *drawn_note;
};

size_t paper_part_rows(const struct paper_part *part);
const struct paper_cell *paper_part_cell(const struct paper_part *part, size_t row, size_t column);
