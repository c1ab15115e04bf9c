// SPDX-License-Identifier: Apache-2.0
// Writing CSV (RFC 4180) that a spreadsheet may open: what it would take for a formula becomes text, numbers stay
// numbers. Pure; any thread.
#include "common/csv_out.h"

#include <stdbool.h>
#include <string.h>

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static bool is_number(const char *text)
{
  if (*text == '-') text++;
  if (!is_digit(*text)) return false;
  while (is_digit(*text)) text++;
  if (*text == '.' && is_digit(text[1])) {
    for (text++; is_digit(*text);) text++;
  }
  return *text == '\0';
}

// Spreadsheets trim blanks before they look, and some know the full-width forms of these signs.
static bool is_formula(const char *text)
{
  static const char *const wide[] = {"\xEF\xBC\x9D", "\xEF\xBC\x8B", "\xEF\xBC\x8D", "\xEF\xBC\xA0"};
  const char *first = text + strspn(text, " ");
  if (*first == '\0') return false;
  if (strchr("=+-@\t\r\n", *first) != NULL) return !is_number(text);
  for (size_t i = 0; i < sizeof wide / sizeof wide[0]; i++) {
    if (strncmp(first, wide[i], 3) == 0) return true;
  }
  return false;
}

void csv_put_cell(struct buf *out, const char *text)
{
  size_t len = strlen(text);
  bool is_quoted = strpbrk(text, ",\"\r\n\t;") != NULL || (len > 0 && (text[0] == ' ' || text[len - 1] == ' '));
  if (is_quoted) buf_putc(out, '"');
  if (is_formula(text)) buf_putc(out, '\'');
  for (; *text != '\0'; text++) {
    if (*text == '"') buf_putc(out, '"');
    buf_putc(out, *text);
  }
  if (is_quoted) buf_putc(out, '"');
}

void csv_put_row(struct buf *out, const char *const *cells)
{
  for (size_t i = 0; cells[i] != NULL; i++) {
    if (i > 0) buf_putc(out, ',');
    csv_put_cell(out, cells[i]);
  }
  buf_puts(out, "\r\n");
}
