// SPDX-License-Identifier: Apache-2.0
// One webhook endpoint as configured, checked: see webhook_profile.h.
// Pure; any thread.
#include "fulfiller/webhook_profile.h"

#include <stdio.h>
#include <string.h>

#include "common/mem.h"
#include "fulfiller/webhook_secrets.h"

#define TYPES_BYTES_MAX 8192
#define NAME_CHARS      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-"
#define TYPE_CHARS      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_"

#define FAIL(fault, ...) (snprintf((fault)->text, sizeof(fault)->text, __VA_ARGS__), RESULT_INVALID)

static bool is_name(const char *text)
{
  size_t len = strlen(text);
  return len > 0 && len <= 64 && strspn(text, NAME_CHARS) == len;
}

// Events are about claims, activities, reports and the endpoints themselves.
static bool has_subject(const char *text)
{
  static const char *const subjects[] = {"claim.", "activity.", "report.", "webhook."};
  for (size_t i = 0; i < sizeof subjects / sizeof *subjects; i++)
    if (strncmp(text, subjects[i], strlen(subjects[i])) == 0) return true;
  return false;
}

// Words joined by dots; the last one may be a star.
static bool is_type(const char *text)
{
  if (strcmp(text, "*") == 0) return true;
  if (!has_subject(text)) return false;
  for (;;) {
    size_t word = strspn(text, TYPE_CHARS);
    if (word == 0) return strcmp(text, "*") == 0;
    if (text[word] == '\0') return true;
    if (text[word] != '.') return false;
    text += word + 1;
  }
}

static enum result put_origin(const char *url, struct webhook_profile *p, struct conf_fault *fault)
{
  size_t scheme = strncmp(url, "https://", 8) == 0 ? 8 : strncmp(url, "http://", 7) == 0 ? 7 : 0;
  size_t host = scheme == 0 ? 0 : strcspn(url + scheme, "/?#");
  if (host == 0) return FAIL(fault, "url: must begin with http:// or https:// and a host");
  if (memchr(url + scheme, '@', host) != NULL) return FAIL(fault, "url: must not hold a user or a password");
  if (strpbrk(url, " \t\r\n#") != NULL) return FAIL(fault, "url: must not hold spaces or a fragment");
  p->origin = mem_strndup(url, scheme + host);
  return RESULT_OK;
}

static enum result put_types(const struct conf_texts *types, struct webhook_profile *p, struct conf_fault *fault)
{
  struct buf joined;
  if (types->count == 0) return FAIL(fault, "types: must name at least one");
  buf_init(&joined, TYPES_BYTES_MAX);
  for (size_t i = 0; i < types->count; i++) {
    if (!is_type(types->items[i])) {
      buf_release(&joined);
      return FAIL(fault, "types: '%.100s' is no event type such as claim.succeeded, claim.* or *", types->items[i]);
    }
    buf_printf(&joined, "%s%s", i == 0 ? "" : " ", types->items[i]);
  }
  p->types = buf_take(&joined);
  return RESULT_OK;
}

static enum result put_allowed(const struct conf_texts *allow, struct webhook_profile *p, struct conf_fault *fault)
{
  p->allowed = MEM_ARRAY(struct net_block, allow->count + 1);
  for (size_t i = 0; i < allow->count; i++) {
    if (net_block_parse(allow->items[i], &p->allowed[i]) != RESULT_OK)
      return FAIL(fault, "allow: '%.100s' is no block of addresses such as 10.1.0.0/16", allow->items[i]);
  }
  p->guard = (struct net_guard){p->allowed, allow->count};
  return RESULT_OK;
}

enum result webhook_profile_compile(const struct conf_entry *entry, struct webhook_profile *out_profile,
                                    struct conf_fault *out_fault)
{
  enum result result;
  const struct webhook_conf *conf = entry->block;
  struct webhook_profile p = {.name = entry->name, .conf = conf};
  result = is_name(entry->name) ? RESULT_OK : FAIL(out_fault, "a name has 1 to 64 characters of A-Z a-z 0-9 . _ -");
  if (result == RESULT_OK && conf->secrets.count == 0) result = FAIL(out_fault, "secrets: must name at least one file");
  if (result == RESULT_OK && conf->ladder.count == 0) result = FAIL(out_fault, "ladder: must have at least one pause");
  TRY(result);
  TRY(put_origin(conf->url, &p, out_fault));
  TRY(put_types(&conf->types, &p, out_fault));
  TRY(put_allowed(&conf->allow, &p, out_fault));
  *out_profile = p;
  return RESULT_OK;
cleanup:
  webhook_profile_release(&p);
  return result;
}

void webhook_profile_release(struct webhook_profile *p)
{
  mem_free(p->origin);
  mem_free(p->types);
  mem_free(p->allowed);
}

static enum result fault_of(const struct conf_entry *entry, const char *file, const struct conf_fault *inner,
                            struct conf_fault *out_fault)
{
  int line = conf_entry_line(fulfiller_webhook_table(), entry, inner->text);
  if (line < 0) line = entry->line;  // out of the environment, which has no lines
  return FAIL(out_fault, "%.100s:%d: fulfiller.webhooks.%.64s.%.200s", file == NULL ? "configuration" : file, line,
              entry->name, inner->text);
}

enum result webhook_check_all(const struct fulfiller_conf *conf, const char *file, bool reads_files,
                              struct conf_fault *out_fault)
{
  for (size_t i = 0; i < conf->webhooks.count; i++) {
    const struct conf_entry *entry = &conf->webhooks.items[i];
    struct webhook_profile p;
    struct conf_fault inner = {.text = ""};
    if (webhook_profile_compile(entry, &p, &inner) != RESULT_OK) return fault_of(entry, file, &inner, out_fault);
    webhook_profile_release(&p);
    if (!reads_files) continue;
    struct webhook_secrets secrets;
    const struct webhook_conf *block = entry->block;
    if (webhook_secrets_read(&block->secrets, &secrets, &inner) != RESULT_OK)
      return fault_of(entry, file, &inner, out_fault);
    webhook_secrets_release(&secrets);
  }
  return RESULT_OK;
}
