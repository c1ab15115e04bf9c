// SPDX-License-Identifier: Apache-2.0
// Figures drawn as SVG: a frame with lines at round numbers, then the marks of each series, each with its number as a
// tooltip. Pure; any thread.
#include "reconciler/chart.h"

#include <math.h>

#include "common/html_out.h"

#define WIDTH      720.0
#define HEIGHT     240.0
#define LEFT       52.0
#define RIGHT      8.0
#define TOP        10.0
#define BOTTOM     28.0
#define TICKS      4
#define LABELS_MAX 8
#define DOTS_MAX   40

struct frame {
  const struct chart *chart;
  struct buf *out;
  double top;   // the value at the upper edge
  double step;  // width of a point
};

static double value_at(const struct chart_series *s, size_t i)
{
  double v = s->values[i];
  return isfinite(v) && v > 0 ? v : 0;
}

static double greatest(const struct chart *c)
{
  double most = 0;
  for (size_t i = 0; i < c->points; i++) {
    double sum = 0;
    for (size_t k = 0; k < c->series_count; k++) {
      double v = value_at(&c->series[k], i);
      sum = c->kind == CHART_STACKED ? sum + v : fmax(sum, v);
    }
    most = fmax(most, sum);
  }
  return most;
}

// The smallest of 1, 2, 2.5, 5, 10 times a power of ten that reaches the value in so many steps; whole numbers where
// the value is a count.
static double round_step(double most)
{
  static const double nice[] = {1, 2, 2.5, 5, 10};
  double raw = most / TICKS;
  if (raw <= 1) return 1;
  double power = pow(10, floor(log10(raw)));
  for (size_t i = 0; i < sizeof nice / sizeof *nice; i++) {
    double step = nice[i] * power;
    if (step >= raw && step == floor(step)) return step;
  }
  return 10 * power;
}

static double y_of(const struct frame *f, double value)
{
  return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * (value / f->top);
}
static double x_of(const struct frame *f, size_t i) { return LEFT + f->step * (double)i; }

void chart_put_short(double value, struct buf *out)
{
  static const struct {
    double from;
    const char *unit;
  } units[] = {{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}};
  for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
    if (value < units[i].from) continue;
    double in_units = value / units[i].from;
    bool is_whole = in_units == floor(in_units) || in_units >= 100;
    buf_printf(out, is_whole ? "%.0f%s" : "%.1f%s", in_units, units[i].unit);
    return;
  }
  buf_printf(out, "%.0f", value);
}

static void put_grid(const struct frame *f, double step)
{
  for (double v = 0; v <= f->top + step / 2; v += step) {
    double y = y_of(f, v);
    buf_printf(f->out,
               "<line class=\"%s\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/><text class=\"tick\" x=\"%.1f\" "
               "y=\"%.1f\" text-anchor=\"end\">",
               v > 0 ? "grid" : "axis", LEFT, y, WIDTH - RIGHT, y, LEFT - 6, y + 4);
    chart_put_short(v, f->out);
    buf_puts(f->out, "</text>\n");
  }
}

static void put_labels(const struct frame *f)
{
  size_t every = (f->chart->points + LABELS_MAX - 1) / LABELS_MAX;
  for (size_t i = 0; i < f->chart->points; i += every) {
    buf_printf(f->out, "<text class=\"tick\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">", x_of(f, i) + f->step / 2,
               HEIGHT - 8);
    html_put_text(f->out, f->chart->labels[i]);
    buf_puts(f->out, "</text>\n");
  }
}

static void put_tooltip(const struct frame *f, const struct chart_series *s, size_t i)
{
  buf_puts(f->out, "<title>");
  html_put_text(f->out, f->chart->labels[i]);
  buf_puts(f->out, ", ");
  html_put_text(f->out, s->name);
  buf_printf(f->out, ": %.0f</title>", s->values[i]);
}

static void put_bar(const struct frame *f, const struct chart_series *s, size_t i, double x, double width, double from)
{
  double value = value_at(s, i);
  if (value <= 0) return;
  double y = y_of(f, from + value), height = y_of(f, from) - y;
  buf_printf(f->out, "<rect class=\"mark s%d\" x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\">", s->tone, x, y,
             width, fmax(height, 0.75));
  put_tooltip(f, s, i);
  buf_puts(f->out, "</rect>\n");
}

static void put_bars(const struct frame *f)
{
  const struct chart *c = f->chart;
  bool is_stacked = c->kind == CHART_STACKED;
  double room = f->step * 0.8, width = is_stacked ? room : room / (double)c->series_count;
  for (size_t i = 0; i < c->points; i++) {
    double from = 0;
    for (size_t k = 0; k < c->series_count; k++) {
      double x = x_of(f, i) + f->step * 0.1 + (is_stacked ? 0 : width * (double)k);
      put_bar(f, &c->series[k], i, x, width, from);
      if (is_stacked) from += value_at(&c->series[k], i);
    }
  }
}

static void put_dots(const struct frame *f, const struct chart_series *s)
{
  for (size_t i = 0; i < f->chart->points; i++) {
    if (!isfinite(s->values[i])) continue;
    buf_printf(f->out, "<circle class=\"mark s%d\" cx=\"%.2f\" cy=\"%.2f\" r=\"%s\">", s->tone,
               x_of(f, i) + f->step / 2, y_of(f, value_at(s, i)), f->chart->points > DOTS_MAX ? "1.2" : "2.6");
    put_tooltip(f, s, i);
    buf_puts(f->out, "</circle>\n");
  }
}

// What is not known leaves a gap.
static void put_line(const struct frame *f, const struct chart_series *s)
{
  bool is_down = false;
  buf_printf(f->out, "<path class=\"line s%d\" d=\"", s->tone);
  for (size_t i = 0; i < f->chart->points; i++) {
    if (isfinite(s->values[i]))
      buf_printf(f->out, "%s%.2f %.2f", is_down ? " L" : " M", x_of(f, i) + f->step / 2, y_of(f, value_at(s, i)));
    is_down = isfinite(s->values[i]);
  }
  buf_puts(f->out, "\"/>\n");
  put_dots(f, s);
}

void chart_put_svg(const struct chart *c, const char *id, struct buf *out)
{
  double most = greatest(c), step = round_step(most);
  struct frame f = {.chart = c,
                    .out = out,
                    .top = fmax(ceil(most / step), 1) * step,
                    .step = c->points > 0 ? (WIDTH - LEFT - RIGHT) / (double)c->points : 0};
  buf_printf(out,
             "<svg class=\"chart\" viewBox=\"0 0 %.0f %.0f\" role=\"img\" aria-labelledby=\"%s-t %s-d\" "
             "xmlns=\"http://www.w3.org/2000/svg\">\n<title id=\"%s-t\">",
             WIDTH, HEIGHT, id, id, id);
  html_put_text(out, c->title);
  buf_printf(out, "</title><desc id=\"%s-d\">", id);
  html_put_text(out, c->description);
  buf_puts(out, "</desc>\n");
  put_grid(&f, step);
  if (c->points > 0) put_labels(&f);
  if (c->kind == CHART_LINES) {
    for (size_t k = 0; k < c->series_count; k++) put_line(&f, &c->series[k]);
  } else if (c->series_count > 0) {
    put_bars(&f);
  }
  buf_puts(out, "</svg>\n");
}
