// SPDX-License-Identifier: Apache-2.0
// One line of a statement: its fields by the words, signs and times of the profile. Pure; any thread.
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "common/compiler.h"
#include "common/text.h"
#include "reconciler/statement_profile.h"

#define SHOWN_BYTES 40
#define TIME_BYTES  80
#define US_PER_S    INT64_C(1000000)
#define US_MAX      (INT64_C(253402300800) * US_PER_S - 1)  // the end of the year 9999, as in texts

static const char *const names[] = {"request_id", "user", "type", "status", "amount", "currency", "at", "ref"};

// "Betrag (amount) "(33.52)": parentheses are ambiguous"
static enum result refuse(const struct statement_profile *p, enum statement_field field, struct statement_text text,
                          const char *why, char out_why[STATEMENT_WHY_BYTES])
{
  char shown[SHOWN_BYTES + 1];
  size_t len = text.len < SHOWN_BYTES ? text.len : SHOWN_BYTES;
  while (len > 0 && len < text.len && ((unsigned char)text.bytes[len] & 0xc0) == 0x80) len--;  // no half character
  if (len > 0) memcpy(shown, text.bytes, len);
  shown[len] = '\0';
  for (size_t i = 0; i < len; i++) {
    if ((unsigned char)shown[i] < 0x20 || shown[i] == 0x7f) shown[i] = '?';
  }
  (void)snprintf(out_why, STATEMENT_WHY_BYTES, "%.60s (%s) \"%s\": %s", p->conf->columns[field], names[field], shown,
                 why);
  return RESULT_INVALID;
}

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

// Without blanks around it, and without what the profile says is no part of it.
static struct statement_text trimmed(const struct statement_profile *p, struct statement_text text)
{
  const char *strip = p->conf->strip;
  while (text.len > 0 && text.bytes[0] != '\0' && (is_blank(text.bytes[0]) || strchr(strip, text.bytes[0]) != NULL)) {
    text.bytes++;
    text.len--;
  }
  while (text.len > 0 && is_blank(text.bytes[text.len - 1])) text.len--;
  return text;
}

static bool equals(struct statement_text text, const char *word)
{
  return strlen(word) == text.len && memcmp(text.bytes, word, text.len) == 0;
}

static int meaning_of(const struct statement_words *words, struct statement_text text)
{
  for (size_t i = 0; i < words->count; i++) {
    if (equals(text, words->words[i])) return words->meanings[i];
  }
  return words->others;
}

// --- the request id

static bool take_number(const char **at, const char *end, int64_t *out)
{
  const char *begin = *at;
  while (*at < end && **at >= '0' && **at <= '9') (*at)++;
  return text_to_i64(begin, (size_t)(*at - begin), out) == RESULT_OK && *out > 0;
}

// "12-345", and behind it which of our requests it was.
static void read_request_id(struct statement_line *l, char *out_suffix)
{
  const char *at = l->request_id.bytes, *end = at + l->request_id.len;
  *out_suffix = '\0';
  int64_t activity = 0, claim = 0;
  if (at == NULL || !take_number(&at, end, &activity) || at == end || *at++ != '-' || !take_number(&at, end, &claim))
    return;
  if (end - at == 2 && at[0] == '-' && strchr("pfr", at[1]) != NULL)
    *out_suffix = at[1];
  else if (at != end)
    return;
  l->has_claim = true;
  l->activity_id = activity;
  l->claim_id = claim;
}

static enum statement_kind kind_by(enum statement_kind told, char suffix)
{
  if (told == KIND_IGNORED) return KIND_IGNORED;
  if (suffix == 'f') return KIND_REFUND;
  if (suffix == 'r') return KIND_REVERSE;
  if (suffix == 'p') return told == KIND_REVERSE || told == KIND_REFUND ? KIND_REFUND : KIND_PAYMENT;
  return told;
}

// What it is by the sign, where no word says it: what goes back is below zero.
static enum statement_kind kind_by_sign(const struct statement_profile *p, const struct statement_line *l, char suffix)
{
  bool is_negative = l->has_amount && l->signed_amount < 0;
  enum statement_kind told = (enum statement_kind)(is_negative ? p->conf->negative : p->conf->positive);
  if (told != KIND_BY_REQUEST_ID) return told;
  if (is_negative) return suffix == 'p' ? KIND_REFUND : KIND_REVERSE;
  return suffix == 'p' ? KIND_PAYMENT : KIND_CREDIT;
}

// --- amounts

static enum result read_currency(const struct statement_profile *p, struct statement_text text,
                                 struct statement_line *l, char out_why[STATEMENT_WHY_BYTES])
{
  int exponent;
  if (text.len == 0) {
    if (p->conf->currency != NULL) memcpy(l->currency, p->conf->currency, STATEMENT_CURRENCY_SIZE);
    return RESULT_OK;
  }
  if (text.len != 3) return refuse(p, STATEMENT_CURRENCY, text, "is no currency code", out_why);
  for (size_t i = 0; i < 3; i++) {
    char c = text.bytes[i];
    l->currency[i] = c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c;
  }
  if (!money_exponent(l->currency, &exponent))
    return refuse(p, STATEMENT_CURRENCY, text, "is no currency code", out_why);
  return RESULT_OK;
}

static enum result parse_amount(const struct statement_profile *p, struct statement_text text, const char *currency,
                                int64_t *out_amount, const char **out_fault)
{
  int exponent = 0;
  *out_fault = "its currency is not known";
  if (p->conf->unit == 1 && !money_exponent(currency, &exponent)) return RESULT_INVALID;
  enum result result = money_parse(text.bytes, text.len, &p->signs, exponent, out_amount, out_fault);
  bool has_places = text.len > 0 && memchr(text.bytes, p->signs.decimal, text.len) != NULL;
  if (result != RESULT_OK && p->conf->unit == 0 && has_places) *out_fault = "is no whole number of minor units";
  return result;
}

static enum result read_amount(const struct statement_profile *p, struct statement_text text, struct statement_line *l,
                               char out_why[STATEMENT_WHY_BYTES])
{
  const char *fault = NULL;
  if (parse_amount(p, text, l->currency, &l->signed_amount, &fault) != RESULT_OK)
    return refuse(p, STATEMENT_AMOUNT, text, fault, out_why);
  if (l->signed_amount == INT64_MIN) return refuse(p, STATEMENT_AMOUNT, text, "does not fit", out_why);
  l->has_amount = true;
  l->amount = l->signed_amount < 0 ? -l->signed_amount : l->signed_amount;
  return RESULT_OK;
}

enum result statement_profile_total(const struct statement_profile *p, struct statement_text text, const char *currency,
                                    int64_t *out_total, char out_why[STATEMENT_WHY_BYTES])
{
  const char *fault = NULL;
  if (parse_amount(p, trimmed(p, text), currency, out_total, &fault) == RESULT_OK) return RESULT_OK;
  (void)snprintf(out_why, STATEMENT_WHY_BYTES, "the total of the trailer %s", fault);
  return RESULT_INVALID;
}

// --- times

static enum result read_number_time(struct statement_text text, int64_t unit_us, int64_t *out_us)
{
  int64_t n = 0;
  if (text_to_i64(text.bytes, text.len, &n) != RESULT_OK || n < 0 || n > US_MAX / unit_us) return RESULT_INVALID;
  *out_us = n * unit_us;
  return RESULT_OK;
}

// Up to six digits behind a decimal point count; further ones do not.
static const char *take_fraction(const char *at, int64_t *out_us)
{
  *out_us = 0;
  if ((*at != '.' && *at != ',') || at[1] < '0' || at[1] > '9') return at;
  int64_t unit = US_PER_S / 10;
  for (at++; *at >= '0' && *at <= '9'; at++, unit /= 10) *out_us += (*at - '0') * unit;
  return at;
}

static enum result read_formatted_time(const struct statement_profile *p, struct statement_text text, int64_t *out_us)
{
  char whole[TIME_BYTES];
  int64_t fraction_us = 0;
  if (text.len >= sizeof whole || memchr(text.bytes, '\0', text.len) != NULL) return RESULT_INVALID;
  memcpy(whole, text.bytes, text.len);
  whole[text.len] = '\0';
  struct tm parts = {.tm_isdst = 0, .tm_mday = 1, .tm_year = 70};
  const char *end = strptime(whole, p->conf->time_format, &parts);
  if (end == NULL || *take_fraction(end, &fraction_us) != '\0') return RESULT_INVALID;
  long offset = p->is_local ? 0 : parts.tm_gmtoff;
  struct tm again = parts;
  time_t at = timegm(&again);
  // A day that does not exist would be another one.
  if (at < 0 || again.tm_mday != parts.tm_mday || again.tm_hour != parts.tm_hour) return RESULT_INVALID;
  *out_us = ((int64_t)at - offset) * US_PER_S + fraction_us;
  return RESULT_OK;
}

static enum result read_time(const struct statement_profile *p, struct statement_text text, int64_t *out_us)
{
  struct wall_time at;
  const char *format = p->conf->time_format;
  if (strcmp(format, "unix") == 0) return read_number_time(text, US_PER_S, out_us);
  if (strcmp(format, "unix_ms") == 0) return read_number_time(text, 1000, out_us);
  if (strcmp(format, "rfc3339") != 0) return read_formatted_time(p, text, out_us);
  enum result result = text_to_time(text.bytes, text.len, &at);
  if (result == RESULT_OK) *out_us = at.us;
  return result;
}

// --- the line

static enum result read_words(const struct statement_profile *p, const struct statement_text *f,
                              struct statement_line *l, char out_why[STATEMENT_WHY_BYTES])
{
  int kind = KIND_BY_REQUEST_ID, status = STATUS_DONE;
  if (p->conf->columns[STATEMENT_TYPE] != NULL) kind = meaning_of(&p->types, f[STATEMENT_TYPE]);
  if (p->conf->columns[STATEMENT_STATUS] != NULL) status = meaning_of(&p->statuses, f[STATEMENT_STATUS]);
  if (kind < 0) return refuse(p, STATEMENT_TYPE, f[STATEMENT_TYPE], "is none of the profile's types", out_why);
  if (status < 0) return refuse(p, STATEMENT_STATUS, f[STATEMENT_STATUS], "is none of the profile's statuses", out_why);
  l->kind = (enum statement_kind)kind;
  l->status = (enum statement_status)status;
  return RESULT_OK;
}

static enum result read_texts(const struct statement_profile *p, const struct statement_text *f,
                              struct statement_line *l, char out_why[STATEMENT_WHY_BYTES])
{
  static const enum statement_field kept[] = {STATEMENT_REQUEST_ID, STATEMENT_USER, STATEMENT_REF};
  for (size_t i = 0; i < ARRAY_LEN(kept); i++) {
    struct statement_text text = f[kept[i]];
    if (text.len > STATEMENT_TEXT_MAX) return refuse(p, kept[i], text, "is longer than any id", out_why);
    if (text.len > 0 && memchr(text.bytes, '\0', text.len) != NULL)
      return refuse(p, kept[i], text, "has a NUL", out_why);
  }
  l->request_id = f[STATEMENT_REQUEST_ID];
  l->user = f[STATEMENT_USER];
  l->ref = f[STATEMENT_REF];
  return RESULT_OK;
}

static enum result read_at(const struct statement_profile *p, const struct statement_text *f, struct statement_line *l,
                           char out_why[STATEMENT_WHY_BYTES])
{
  struct statement_text at = f[STATEMENT_AT];
  bool is_needed = l->kind != KIND_IGNORED && l->status != STATUS_IGNORED;
  if (p->conf->columns[STATEMENT_AT] == NULL || (at.len == 0 && !is_needed)) return RESULT_OK;
  if (read_time(p, at, &l->at_us) != RESULT_OK)
    return refuse(p, STATEMENT_AT, at, "is no time as the profile writes it", out_why);
  l->has_at = true;
  return RESULT_OK;
}

enum result statement_profile_line(const struct statement_profile *p,
                                   const struct statement_text fields[STATEMENT_FIELDS], int64_t line,
                                   struct statement_line *out_line, char out_why[STATEMENT_WHY_BYTES])
{
  enum result result;
  struct statement_text f[STATEMENT_FIELDS];
  struct statement_line l = {.line = line};
  char suffix = '\0';
  for (size_t i = 0; i < STATEMENT_FIELDS; i++) f[i] = trimmed(p, fields[i]);
  TRY(read_words(p, f, &l, out_why));
  TRY(read_texts(p, f, &l, out_why));
  TRY(read_currency(p, f[STATEMENT_CURRENCY], &l, out_why));
  if (p->conf->columns[STATEMENT_AMOUNT] != NULL && l.kind != KIND_IGNORED && l.status != STATUS_IGNORED)
    TRY(read_amount(p, f[STATEMENT_AMOUNT], &l, out_why));
  TRY(read_at(p, f, &l, out_why));
  read_request_id(&l, &suffix);
  if (l.kind == KIND_BY_REQUEST_ID) l.kind = kind_by_sign(p, &l, suffix);
  l.kind = kind_by(l.kind, suffix);
  *out_line = l;
cleanup:
  return result;
}
