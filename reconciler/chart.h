// SPDX-License-Identifier: Apache-2.0
// Figures drawn as SVG that stands inside a page: bars, stacked bars, lines. No script, no colours of its own: the
// page's style gives them by class, so that they follow light, dark and paper. Pure; any thread.
#pragma once

#include <stddef.h>

#include "common/buf.h"

enum chart_kind { CHART_NONE, CHART_BARS, CHART_STACKED, CHART_LINES };

struct chart_series {
  const char *name;
  const double *values;  // one per label; below nothing counts as nothing, NAN as not known
  int tone;              // 0 to CHART_TONES - 1: class "s0" …
};
#define CHART_TONES 8

struct chart {
  enum chart_kind kind;
  const char *title, *description;  // what is read out instead of the drawing
  const char *const *labels;        // of the points, from left to right
  size_t points;
  const struct chart_series *series;
  size_t series_count;
};

// id: of the drawing within its page, letters and digits. Without points there is an empty frame.
void chart_put_svg(const struct chart *c, const char *id, struct buf *out);
// A number as axes show it: "950", "1.2k", "3M".
void chart_put_short(double value, struct buf *out);
