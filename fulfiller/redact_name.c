// SPDX-License-Identifier: Apache-2.0
// Names and numbers that give away secrets or persons. Pure; any thread.
#include "fulfiller/redact_name.h"

#include <string.h>

#define GROUPS_MAX 6
#define DIGITS_MAX 19

void redact_name_put(char name[REDACT_NAME_BYTES], size_t *len, unsigned char c)
{
  if (c >= 'A' && c <= 'Z') c = (unsigned char)(c - 'A' + 'a');
  bool counts = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c >= 0x80;
  if (!counts || *len + 1 >= REDACT_NAME_BYTES) return;
  name[(*len)++] = (char)c;
  name[*len] = '\0';
}

static bool ends_with(const char *name, const char *end)
{
  size_t len = strlen(name), end_len = strlen(end);
  return len >= end_len && strcmp(name + len - end_len, end) == 0;
}

static bool contains_one_of(const char *name, const char *const *parts, size_t count)
{
  for (size_t i = 0; i < count; i++) {
    if (strstr(name, parts[i]) != NULL) return true;
  }
  return false;
}

static bool ends_with_one_of(const char *name, const char *const *ends, size_t count)
{
  for (size_t i = 0; i < count; i++) {
    if (ends_with(name, ends[i])) return true;
  }
  return false;
}

static bool is_one_of(const char *name, const char *const *names, size_t count)
{
  for (size_t i = 0; i < count; i++) {
    if (strcmp(name, names[i]) == 0) return true;
  }
  return false;
}

// The names of things, which are not the names of people.
static bool is_name_of_thing(const char *name)
{
  static const char *const things[] = {"rewardname",  "activityname", "campaignname", "productname", "goodsname",
                                       "couponname",  "vouchername",  "itemname",     "skuname",     "stockname",
                                       "filename",    "hostname",     "eventname",    "typename",    "servicename",
                                       "methodname",  "fieldname",    "paramname",    "planname",    "currencyname",
                                       "channelname", "providername", "statusname"};
  return ends_with_one_of(name, things, ARRAY_LEN(things));
}

bool redact_name_is_sensitive(const struct redact *r, const char *name)
{
  static const char *const anywhere[] = {
      "authorization", "token",    "secret",     "passw",   "passphrase", "pwd",     "phone",       "mobile",
      "email",         "mailbox",  "openid",     "unionid", "cvv",        "cvc",     "idcard",      "idnumber",
      "address",       "cookie",   "credential", "apikey",  "privatekey", "bankacc", "cardno",      "cardnum",
      "birthda",       "passport", "certno",     "logonid", "buyerid",    "payerid", "手机",        "电话",
      "姓名",          "密码",     "身份证",     "地址",    "邮箱",       "银行卡",  "identitycard"};
  static const char *const at_end[] = {"key", "card", "name", "addr", "tel", "pan", "ssn", "pin", "mail", "msisdn"};
  static const char *const ours[] = {"idempotencykey", "idempotentkey", "requestkey"};
  if (name[0] == '\0' || ends_with_one_of(name, ours, ARRAY_LEN(ours))) return false;
  for (size_t i = 0; r != NULL && i < r->name_count; i++) {
    if (strcmp(r->names[i], name) == 0) return true;
  }
  if (contains_one_of(name, anywhere, ARRAY_LEN(anywhere))) return true;
  return ends_with_one_of(name, at_end, ARRAY_LEN(at_end)) && !is_name_of_thing(name);
}

bool redact_name_is_id(const char *name)
{
  static const char *const ends[] = {"id",   "no",     "ref",   "reference", "time", "timestamp", "at", "amount",
                                     "code", "serial", "nonce", "noncestr",  "sign", "signature", "key"};
  return ends_with_one_of(name, ends, ARRAY_LEN(ends));
}

bool redact_name_takes_line(const char *name)
{
  static const char *const names[] = {"authorization", "proxyauthorization", "cookie", "setcookie"};
  return is_one_of(name, names, ARRAY_LEN(names));
}

// --- numbers

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static bool is_alnum(char c) { return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// Digits in groups, as people write long numbers.
struct number {
  char digits[DIGITS_MAX + 1];
  size_t count, groups;
  size_t group_min, group_max;
  size_t end;  // behind the last digit
  bool has_plus;
};

static bool is_luhn(const char *digits, size_t count)
{
  int sum = 0;
  for (size_t i = 0; i < count; i++) {
    int digit = digits[count - 1 - i] - '0';
    if (i % 2 == 1) digit = digit > 4 ? digit * 2 - 9 : digit * 2;
    sum += digit;
  }
  return sum % 10 == 0;
}

static bool is_mobile(const char *digits, size_t count)
{
  if (count == 13 && digits[0] == '8' && digits[1] == '6') {
    digits += 2;
    count -= 2;
  }
  return count == 11 && digits[0] == '1' && digits[1] >= '3';
}

// GB 11643: the last of 18 places checks the others and may be an X.
static bool is_identity_card(const char *digits, char last)
{
  static const int weights[17] = {7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2};
  int sum = 0;
  for (int i = 0; i < 17; i++) sum += weights[i] * (digits[i] - '0');
  char expected = "10X98765432"[sum % 11];
  return (last == 'x' ? 'X' : last) == expected;
}

static size_t add_group(struct number *n, const char *text, size_t len, size_t at)
{
  size_t from = at;
  while (at < len && is_digit(text[at])) {
    if (n->count < DIGITS_MAX) n->digits[n->count] = text[at];
    n->count++;
    at++;
  }
  size_t digits = at - from;
  n->groups++;
  if (n->groups == 1) n->group_min = n->group_max = digits;
  if (digits < n->group_min) n->group_min = digits;
  if (digits > n->group_max) n->group_max = digits;
  n->end = at;
  return at;
}

static void read_number(struct number *n, const char *text, size_t len, size_t at, size_t groups_max)
{
  *n = (struct number){0};
  n->has_plus = text[at] == '+';
  if (n->has_plus) at++;
  while (n->groups < groups_max) {
    at = add_group(n, text, len, at);
    bool goes_on = at + 1 < len && (text[at] == ' ' || text[at] == '-') && is_digit(text[at + 1]);
    if (!goes_on) break;
    at++;
  }
}

static bool looks_personal(const struct number *n, char next)
{
  if (n->count > DIGITS_MAX || n->count < 8) return false;
  if (n->has_plus && n->count <= 15) return true;
  if (n->groups > 1 && (n->groups < 3 || n->group_min < 3 || n->group_max > 6)) return false;  // 12-345 is a claim
  if (is_mobile(n->digits, n->count)) return true;
  if (n->groups == 1 && n->count == 18 && is_identity_card(n->digits, n->digits[17])) return true;
  if (n->groups == 1 && n->count == 17 && (next == 'X' || next == 'x')) return is_identity_card(n->digits, next);
  return n->count >= 13 && is_luhn(n->digits, n->count);
}

size_t redact_number_at(const char *text, size_t len, size_t at)
{
  struct number n;
  bool starts = is_digit(text[at]) || (text[at] == '+' && at + 1 < len && is_digit(text[at + 1]));
  if (!starts || (at > 0 && is_alnum(text[at - 1]))) return 0;
  if (at > 1 && text[at - 1] == '-' && is_digit(text[at - 2])) return 0;  // the second half of a claim's id
  for (size_t groups = GROUPS_MAX; groups > 0; groups--) {
    read_number(&n, text, len, at, groups);
    char next = n.end < len ? text[n.end] : '\0';
    if (!looks_personal(&n, next)) continue;
    bool has_x = n.count == 17 && (next == 'X' || next == 'x');
    size_t end = n.end + (has_x ? 1 : 0);
    if (end < len && is_alnum(text[end])) continue;
    return end - at;
  }
  return 0;
}

bool redact_is_token(const char *word, size_t len)
{
  static const char *const beginnings[] = {"sk_live_", "sk_test_", "rk_live_", "rk_test_", "whsec_", "whsk_", "eyJ"};
  for (size_t i = 0; i < ARRAY_LEN(beginnings); i++) {
    size_t begin_len = strlen(beginnings[i]);
    if (len >= begin_len + 12 && memcmp(word, beginnings[i], begin_len) == 0) return true;
  }
  return false;
}
