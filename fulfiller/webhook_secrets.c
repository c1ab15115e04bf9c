// SPDX-License-Identifier: Apache-2.0
// The secrets that sign the webhooks of one endpoint: see webhook_secrets.h.
// Blocking file access; owned by the worker.
#include "fulfiller/webhook_secrets.h"

#include <stdio.h>
#include <string.h>

#include "common/limits.h"
#include "common/mem.h"
#include "common/signature.h"

static enum result read_one(const char *path, struct buf *out, struct conf_fault *fault)
{
  enum result result = conf_read_secret(path, out);
  const char *why = conf_secret_why(result);
  if (result == RESULT_OK && out->len >= 6 && memcmp(out->data, "whsec_", 6) == 0 &&
      signature_webhook_is_whole(out->data, out->len))
    return RESULT_OK;
  if (result == RESULT_OK) why = "is not whsec_ and the base64 of 24 to 64 bytes";
  snprintf(fault->text, sizeof fault->text, "secrets: %.200s %s", path, why);
  return RESULT_INVALID;
}

enum result webhook_secrets_read(const struct conf_texts *files, struct webhook_secrets *out_secrets,
                                 struct conf_fault *out_fault)
{
  enum result result = RESULT_OK;
  struct webhook_secrets s = {.items = MEM_ARRAY(struct buf, files->count + 1)};
  for (; s.count < files->count && result == RESULT_OK; s.count++) {
    buf_init(&s.items[s.count], CONF_SECRET_BYTES_MAX);
    result = read_one(files->items[s.count], &s.items[s.count], out_fault);
  }
  if (result == RESULT_OK)
    *out_secrets = s;
  else
    webhook_secrets_release(&s);
  return result;
}

void webhook_secrets_release(struct webhook_secrets *s)
{
  for (size_t i = 0; i < s->count; i++) buf_wipe(&s->items[i]);
  mem_free(s->items);
  *s = (struct webhook_secrets){0};
}
