// SPDX-License-Identifier: Apache-2.0
// What a profile means: words, amounts, times, request ids. Pure; any thread.
#include "reconciler/statement_profile.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "common/compiler.h"
#include "common/text.h"

#define FAIL(fault, ...) (snprintf((fault)->text, sizeof(fault)->text, __VA_ARGS__), RESULT_INVALID)

static const char *const kinds[] = {"by_request_id", "credit", "reverse", "payment", "refund", "ignored"};
static const char *const statuses[] = {"done", "pending", "failed", "ignored"};

const char *statement_kind_name(enum statement_kind kind) { return kinds[kind]; }
const char *statement_status_name(enum statement_status status) { return statuses[status]; }

// --- the profile

static int index_of(const char *word, const char *const *words, size_t count)
{
  for (size_t i = 0; i < count; i++) {
    if (strcmp(word, words[i]) == 0) return (int)i;
  }
  return -1;
}

static enum result read_words(const struct conf_pairs *pairs, const char *key, const char *const *meanings,
                              size_t count, const char *choices, struct statement_words *out, struct conf_fault *fault)
{
  out->count = 0;
  out->others = -1;
  if (pairs->count > STATEMENT_WORDS_MAX) return FAIL(fault, "%s: more than %d words", key, STATEMENT_WORDS_MAX);
  for (size_t i = 0; i < pairs->count; i++) {
    int meaning = index_of(pairs->items[i].value, meanings, count);
    fault->line = conf_pair_line(pairs, i);
    if (meaning < 0) return FAIL(fault, "%s: '%.60s' must be %s", key, pairs->items[i].name, choices);
    if (strcmp(pairs->items[i].name, "*") == 0) {
      out->others = meaning;
      continue;
    }
    out->words[out->count] = pairs->items[i].name;
    out->meanings[out->count++] = meaning;
  }
  fault->line = 0;
  return RESULT_OK;
}

static enum result check_texts(const struct conf_texts *texts, const char *key, const char *const *known, size_t count,
                               const char *choices, struct conf_fault *fault)
{
  for (size_t i = 0; i < texts->count; i++) {
    if (index_of(texts->items[i], known, count) < 0)
      return FAIL(fault, "%s: '%.32s' is none of %s", key, texts->items[i], choices);
  }
  return RESULT_OK;
}

static enum result check_columns(const struct statement_conf *c, struct conf_fault *fault)
{
  if (c->columns[STATEMENT_REQUEST_ID] == NULL && c->fallback.count == 0)
    return FAIL(fault, "columns.request_id: is missing, and there is no fallback");
  if (c->columns[STATEMENT_TYPE] != NULL && c->types.count == 0)
    return FAIL(fault, "types: must say what the words of the type column mean");
  if (c->columns[STATEMENT_STATUS] != NULL && c->statuses.count == 0)
    return FAIL(fault, "statuses: must say what the words of the status column mean");
  if (strchr(c->encoding, '/') != NULL)
    return FAIL(fault, "encoding: must be a name alone: what is not of the encoding refuses the file");
  int exponent;
  if (c->currency != NULL && !money_exponent(c->currency, &exponent))
    return FAIL(fault, "currency: must be three capital letters");
  if (c->unit == 1 && c->columns[STATEMENT_AMOUNT] != NULL && c->currency == NULL &&
      c->columns[STATEMENT_CURRENCY] == NULL)
    return FAIL(fault, "unit: amounts in major units need a currency, or a column with it");
  for (size_t i = 0; i < STATEMENT_FIELDS; i++) {
    const char *column = c->columns[i];
    if (column == NULL || c->format != STATEMENT_CSV || c->header) continue;
    int64_t number = 0;
    if (text_to_i64(column, strlen(column), &number) != RESULT_OK || number < 1 || number > 128)
      return FAIL(fault, "columns: '%.60s' must be a number from 1 to 128 where there is no header", column);
  }
  return RESULT_OK;
}

static enum result check_signs(const struct statement_conf *c, struct statement_profile *p, struct conf_fault *fault)
{
  if (strcmp(c->decimal, ".") != 0 && strcmp(c->decimal, ",") != 0) return FAIL(fault, "decimal: must be . or ,");
  if (strcmp(c->decimal, c->grouping) == 0) return FAIL(fault, "grouping: must not be the decimal sign");
  if (strpbrk(c->grouping, "0123456789+-") != NULL)
    return FAIL(fault, "grouping: must be no digit and no plus or minus");
  p->signs = (struct money_signs){c->decimal[0], c->grouping};
  bool is_tab = strcmp(c->delimiter, "tab") == 0;
  if (!is_tab && (strlen(c->delimiter) != 1 || strchr("\"\r\n", c->delimiter[0]) != NULL))
    return FAIL(fault, "delimiter: must be one character, or tab");
  p->delimiter = is_tab ? '\t' : c->delimiter[0];
  if (c->trailer.row > c->footer_rows && (c->trailer.count > 0 || c->trailer.total > 0))
    return FAIL(fault, "trailer.row: there are only %d footer_rows", (int)c->footer_rows);
  return RESULT_OK;
}

static bool is_time_of_day(const char *text)
{
  static const char digits[] = "0123456789";
  if (strlen(text) != 5 || strspn(text, digits) != 2 || text[2] != ':' || strspn(text + 3, digits) != 2) return false;
  return (text[0] < '2' || (text[0] == '2' && text[1] < '4')) && text[3] < '6';
}

static enum result check_times(const struct statement_conf *c, struct statement_profile *p, struct conf_fault *fault)
{
  static const char *const fixed[] = {"rfc3339", "unix", "unix_ms"};
  const char *format = c->time_format;
  if (c->time_zone[0] == '\0') return FAIL(fault, "time_zone: must be a zone such as Europe/Berlin");
  if (!is_time_of_day(c->fetch.at)) return FAIL(fault, "fetch.at: must be a time of day such as 01:00");
  if (c->fetch.url != NULL && strncmp(c->fetch.url, "http://", 7) != 0 && strncmp(c->fetch.url, "https://", 8) != 0)
    return FAIL(fault, "fetch.url: must begin with http:// or https://");
  if (index_of(format, fixed, ARRAY_LEN(fixed)) >= 0) return RESULT_OK;
  if (strchr(format, '%') == NULL)
    return FAIL(fault, "time_format: must be rfc3339, unix, unix_ms, or have %%Y and so on");
  p->is_local = strstr(format, "%z") == NULL && strstr(format, "%s") == NULL;
  return RESULT_OK;
}

enum result statement_profile_compile(const char *name, const struct statement_conf *conf,
                                      struct statement_profile *out_profile, struct conf_fault *out_fault)
{
  static const char *const keys[] = {"reference", "user_amount_date"};
  enum result result;
  struct statement_profile p = {.name = name, .conf = conf};
  TRY(check_columns(conf, out_fault));
  TRY(check_signs(conf, &p, out_fault));
  TRY(check_times(conf, &p, out_fault));
  TRY(read_words(&conf->types, "types", kinds, ARRAY_LEN(kinds), "credit, reverse, payment, refund or ignored",
                 &p.types, out_fault));
  TRY(read_words(&conf->statuses, "statuses", statuses, ARRAY_LEN(statuses), "done, pending, failed or ignored",
                 &p.statuses, out_fault));
  TRY(check_texts(&conf->covers, "covers", kinds + 1, 4, "credit, reverse, payment, refund", out_fault));
  TRY(check_texts(&conf->fallback, "fallback", keys, ARRAY_LEN(keys), "reference, user_amount_date", out_fault));
  *out_profile = p;
cleanup:
  return result;
}

enum result statement_profile_check_all(const struct conf_map *profiles, const char *file, struct conf_fault *out_fault)
{
  for (size_t i = 0; i < profiles->count; i++) {
    const struct conf_entry *entry = &profiles->items[i];
    struct statement_profile p;
    struct conf_fault inner = {.text = ""};
    if (statement_profile_compile(entry->name, entry->block, &p, &inner) == RESULT_OK) continue;
    int line = inner.line != 0 ? inner.line : conf_entry_line(statement_conf_table(), entry, inner.text);
    if (line < 0) line = entry->line;  // out of the environment, which has no lines
    return FAIL(out_fault, "%.100s:%d: reconciler.statements.%.64s.%.200s", file == NULL ? "configuration" : file, line,
                entry->name, inner.text);
  }
  return RESULT_OK;
}

const struct statement_conf *statement_profile_find(const struct conf_map *profiles, const char *name)
{
  for (size_t i = 0; i < profiles->count; i++) {
    if (strcmp(profiles->items[i].name, name) == 0) return profiles->items[i].block;
  }
  return NULL;
}

bool statement_is_date(const char *text)
{
  char whole[32];
  struct wall_time at;
  (void)snprintf(whole, sizeof whole, "%.11sT00:00:00Z", text);
  return strlen(text) == 10 && text_to_time(whole, strlen(whole), &at) == RESULT_OK;
}
