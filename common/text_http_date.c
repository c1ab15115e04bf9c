// SPDX-License-Identifier: Apache-2.0
// HTTP dates (RFC 9110, 5.6.7): the form of today and the two obsolete ones that recipients must understand.
// Pure; any thread.
#include <stdio.h>
#include <string.h>

#include "common/text.h"

#define US_PER_YEAR (INT64_C(31556952) * 1000000)  // mean Gregorian

// What is left of the text; the first fault ends the reading.
struct http_date_reader {
  const char *at, *end;
  bool ok;
};

static void skip(struct http_date_reader *r, const char *literal)
{
  size_t len = strlen(literal);
  r->ok = r->ok && (size_t)(r->end - r->at) >= len && memcmp(r->at, literal, len) == 0;
  if (r->ok) r->at += len;
}

static int digits(struct http_date_reader *r, int count)
{
  int value = 0;
  for (int i = 0; i < count; i++) {
    r->ok = r->ok && r->at < r->end && *r->at >= '0' && *r->at <= '9';
    if (!r->ok) return 0;
    value = value * 10 + (*r->at++ - '0');
  }
  return value;
}

// The index of the name that stands here, or -1.
static int name_of(struct http_date_reader *r, const char *const *names, int count)
{
  for (int i = 0; r->ok && i < count; i++) {
    size_t len = strlen(names[i]);
    if ((size_t)(r->end - r->at) < len || memcmp(r->at, names[i], len) != 0) continue;
    r->at += len;
    return i;
  }
  r->ok = false;
  return -1;
}

static int month_of(struct http_date_reader *r)
{
  static const char *const names[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                      "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  return name_of(r, names, ARRAY_LEN(names)) + 1;
}

struct http_date {
  int year, month, day, hour, minute, second;
};

static void time_of_day(struct http_date_reader *r, struct http_date *d)
{
  d->hour = digits(r, 2);
  skip(r, ":");
  d->minute = digits(r, 2);
  skip(r, ":");
  d->second = digits(r, 2);
  if (d->second == 60) d->second = 59;  // a leap second may be written
}

// "Sun, 06 Nov 1994 08:49:37 GMT"
static bool read_fixdate(struct http_date_reader r, struct http_date *d)
{
  static const char *const days[] = {"Mon, ", "Tue, ", "Wed, ", "Thu, ", "Fri, ", "Sat, ", "Sun, "};
  (void)name_of(&r, days, ARRAY_LEN(days));
  d->day = digits(&r, 2);
  skip(&r, " ");
  d->month = month_of(&r);
  skip(&r, " ");
  d->year = digits(&r, 4);
  skip(&r, " ");
  time_of_day(&r, d);
  skip(&r, " GMT");
  return r.ok && r.at == r.end;
}

// "Sunday, 06-Nov-94 08:49:37 GMT"; more than 50 years ahead means the last century.
static bool read_rfc850(struct http_date_reader r, int64_t year_now, struct http_date *d)
{
  static const char *const days[] = {"Monday, ", "Tuesday, ",  "Wednesday, ", "Thursday, ",
                                     "Friday, ", "Saturday, ", "Sunday, "};
  (void)name_of(&r, days, ARRAY_LEN(days));
  d->day = digits(&r, 2);
  skip(&r, "-");
  d->month = month_of(&r);
  skip(&r, "-");
  d->year = (int)(year_now / 100 * 100) + digits(&r, 2);
  if (d->year > year_now + 50) d->year -= 100;
  skip(&r, " ");
  time_of_day(&r, d);
  skip(&r, " GMT");
  return r.ok && r.at == r.end;
}

// "Sun Nov  6 08:49:37 1994"
static bool read_asctime(struct http_date_reader r, struct http_date *d)
{
  static const char *const days[] = {"Mon ", "Tue ", "Wed ", "Thu ", "Fri ", "Sat ", "Sun "};
  (void)name_of(&r, days, ARRAY_LEN(days));
  d->month = month_of(&r);
  skip(&r, " ");
  bool is_short = r.at < r.end && *r.at == ' ';
  if (is_short) r.at++;
  d->day = digits(&r, is_short ? 1 : 2);
  skip(&r, " ");
  time_of_day(&r, d);
  skip(&r, " ");
  d->year = digits(&r, 4);
  return r.ok && r.at == r.end;
}

enum result text_to_http_date(const char *bytes, size_t len, struct wall_time now, struct wall_time *out_time)
{
  char text[TEXT_TIME_BYTES * 3];
  struct http_date d = {0};
  const struct http_date_reader r = {bytes, bytes + len, true};
  int64_t year_now = 1970 + now.us / US_PER_YEAR;
  if (!read_fixdate(r, &d) && !read_rfc850(r, year_now, &d) && !read_asctime(r, &d)) return RESULT_INVALID;
  snprintf(text, sizeof text, "%04d-%02d-%02dT%02d:%02d:%02dZ", d.year, d.month, d.day, d.hour, d.minute, d.second);
  return text_to_time(text, strlen(text), out_time);
}
