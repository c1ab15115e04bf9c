// SPDX-License-Identifier: Apache-2.0
// RFC 3339 instants and durations with a unit. No time zone database: PostgreSQL does zones.
// Pure; any thread.
#include <string.h>

#include "common/text.h"

#define US_PER_SECOND   INT64_C(1000000)
#define US_PER_DAY      (86400 * US_PER_SECOND)
#define DAYS_TO_1970    719468                       // from 0000-03-01
#define LAST_INSTANT_US INT64_C(253402300799999999)  // 9999-12-31T23:59:59.999999Z

// Proleptic Gregorian calendar with years that begin in March, so that the leap day is the last of its year.
static int64_t days_from_civil(int64_t year, int64_t month, int64_t day)
{
  int64_t y = month <= 2 ? year - 1 : year;
  int64_t day_of_year = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
  return y * 365 + y / 4 - y / 100 + y / 400 + day_of_year - DAYS_TO_1970;
}

static void civil_from_days(int64_t days, int *year, int *month, int *day)
{
  int64_t since = days + DAYS_TO_1970;
  int64_t era = since / 146097;
  int64_t day_of_era = since % 146097;
  int64_t year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
  int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  int64_t shifted = (5 * day_of_year + 2) / 153;
  *day = (int)(day_of_year - (153 * shifted + 2) / 5 + 1);
  *month = (int)(shifted < 10 ? shifted + 3 : shifted - 9);
  *year = (int)(era * 400 + year_of_era + (*month <= 2));
}

static int64_t days_in_month(int64_t year, int64_t month)
{
  static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  bool is_leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
  return month == 2 && is_leap ? 29 : days[month - 1];
}

// What is left of the text to read; the first fault empties `ok` and stays.
struct cursor {
  const char *at;
  const char *end;
  bool ok;
};

static int64_t take_digits(struct cursor *c, int count)
{
  int64_t value = 0;
  for (int i = 0; i < count; i++) {
    if (!c->ok || c->at == c->end || *c->at < '0' || *c->at > '9') {
      c->ok = false;
      return 0;
    }
    value = value * 10 + (*c->at++ - '0');
  }
  return value;
}

static void take_literal(struct cursor *c, char literal)
{
  if (c->ok && c->at < c->end && *c->at == literal)
    c->at++;
  else
    c->ok = false;
}

static int64_t take_date(struct cursor *c)
{
  int64_t year = take_digits(c, 4);
  take_literal(c, '-');
  int64_t month = take_digits(c, 2);
  take_literal(c, '-');
  int64_t day = take_digits(c, 2);
  if (!c->ok || month < 1 || month > 12 || day < 1 || day > days_in_month(year, month)) {
    c->ok = false;
    return 0;
  }
  return days_from_civil(year, month, day);
}

static int64_t take_fraction_us(struct cursor *c)
{
  if (!c->ok || c->at == c->end || *c->at != '.') return 0;
  c->at++;
  int64_t value = 0;
  int digits = 0;
  while (c->at < c->end && *c->at >= '0' && *c->at <= '9') {
    value = value * 10 + (*c->at++ - '0');
    if (++digits > 6) {
      c->ok = false;
      return 0;
    }
  }
  if (digits == 0) c->ok = false;
  for (; digits < 6; digits++) value *= 10;
  return value;
}

static int64_t take_time_of_day_us(struct cursor *c)
{
  int64_t hour = take_digits(c, 2);
  take_literal(c, ':');
  int64_t minute = take_digits(c, 2);
  take_literal(c, ':');
  int64_t second = take_digits(c, 2);
  int64_t fraction = take_fraction_us(c);
  if (hour > 23 || minute > 59 || second > 59) c->ok = false;
  return ((hour * 60 + minute) * 60 + second) * US_PER_SECOND + fraction;
}

static int64_t take_offset_us(struct cursor *c)
{
  if (!c->ok || c->at == c->end) {
    c->ok = false;
    return 0;
  }
  char sign = *c->at++;
  if (sign == 'Z') return 0;
  if (sign != '+' && sign != '-') c->ok = false;
  int64_t hour = take_digits(c, 2);
  take_literal(c, ':');
  int64_t minute = take_digits(c, 2);
  if (hour > 23 || minute > 59) c->ok = false;
  int64_t offset = (hour * 60 + minute) * 60 * US_PER_SECOND;
  return sign == '-' ? -offset : offset;
}

enum result text_to_time(const char *bytes, size_t len, struct wall_time *out_time)
{
  if (len == 0) return RESULT_INVALID;
  struct cursor c = {bytes, bytes + len, true};
  int64_t days = take_date(&c);
  take_literal(&c, 'T');
  int64_t time_of_day = take_time_of_day_us(&c);
  int64_t offset = take_offset_us(&c);
  if (!c.ok || c.at != c.end) return RESULT_INVALID;
  int64_t us = days * US_PER_DAY + time_of_day - offset;
  if (us < 0 || us > LAST_INSTANT_US) return RESULT_INVALID;
  out_time->us = us;
  return RESULT_OK;
}

static void put_digits(char *at, int count, int64_t value)
{
  for (int i = count - 1; i >= 0; i--) {
    at[i] = (char)('0' + value % 10);
    value /= 10;
  }
}

void text_from_time(struct wall_time t, char out_text[TEXT_TIME_BYTES])
{
  // Only a broken host clock leaves this range; a log line with a clamped time beats none.
  int64_t us = t.us < 0 ? 0 : t.us > LAST_INSTANT_US ? LAST_INSTANT_US : t.us;
  int year, month, day;
  civil_from_days(us / US_PER_DAY, &year, &month, &day);
  int64_t second = us % US_PER_DAY / US_PER_SECOND;
  memcpy(out_text, "0000-00-00T00:00:00.000000Z", TEXT_TIME_BYTES);
  put_digits(out_text, 4, year);
  put_digits(out_text + 5, 2, month);
  put_digits(out_text + 8, 2, day);
  put_digits(out_text + 11, 2, second / 3600);
  put_digits(out_text + 14, 2, second / 60 % 60);
  put_digits(out_text + 17, 2, second % 60);
  put_digits(out_text + 20, 6, us % US_PER_SECOND);
}

// Longest unit first; that is also the order in which text_from_span tries them.
static const struct {
  const char *unit;
  int64_t us;
} span_units[] = {
    {"d", US_PER_DAY}, {"h", 3600 * US_PER_SECOND}, {"m", 60 * US_PER_SECOND}, {"s", US_PER_SECOND}, {"ms", 1000},
    {"us", 1}};

enum result text_to_span(const char *bytes, size_t len, struct span *out_span)
{
  size_t digits = 0;
  while (digits < len && bytes[digits] >= '0' && bytes[digits] <= '9') digits++;
  int64_t count = 0;
  if (text_to_i64(bytes, digits, &count) != RESULT_OK) return RESULT_INVALID;
  size_t unit_len = len - digits;
  if (unit_len == 0 && count == 0) {
    out_span->us = 0;
    return RESULT_OK;
  }
  for (size_t i = 0; i < ARRAY_LEN(span_units); i++) {
    if (strlen(span_units[i].unit) != unit_len || memcmp(span_units[i].unit, bytes + digits, unit_len) != 0) continue;
    if (count > INT64_MAX / span_units[i].us) return RESULT_INVALID;
    out_span->us = count * span_units[i].us;
    return RESULT_OK;
  }
  return RESULT_INVALID;
}

void text_from_span(struct span s, struct buf *out)
{
  if (s.us == 0) {
    buf_puts(out, "0s");
    return;
  }
  for (size_t i = 0; i < ARRAY_LEN(span_units); i++) {
    if (s.us % span_units[i].us != 0) continue;
    buf_put_i64(out, s.us / span_units[i].us);
    buf_puts(out, span_units[i].unit);
    return;
  }
}
