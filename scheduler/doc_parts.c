// SPDX-License-Identifier: Apache-2.0
// What the shapes of all documents share: see doc_parts.h.
// Owner: nobody; pure.
#include "scheduler/doc_parts.h"

#include <stdio.h>
#include <string.h>

#include "common/limits.h"
#include "common/text.h"

const char *doc_parts_read_code(struct jsonx_reader *r, const char *name, bool required)
{
  const char *code = jsonx_read_text(r, name, required, CODE_BYTES_MAX);
  if (code != NULL && !text_is_code(code, strlen(code))) {
    jsonx_reader_fail(
        r, name, "must be 1 to 64 letters, digits, dots, underscores or hyphens, beginning with a letter or digit");
  }
  return code;
}

const char *doc_parts_read_own_code(struct jsonx_reader *r, const char *name, const char *given)
{
  char reason[64];
  const char *code = doc_parts_read_code(r, name, given == NULL);
  if (given == NULL) return code;
  (void)snprintf(reason, sizeof reason, "is no valid %s", name);
  if (!text_is_code(given, strlen(given))) jsonx_reader_fail(r, name, reason);
  (void)snprintf(reason, sizeof reason, "differs from the %s in the path", name);
  if (code != NULL && strcmp(code, given) != 0) jsonx_reader_fail(r, name, reason);
  return given;
}

void doc_parts_put_text(json_t *doc, const char *name, const char *text)
{
  if (text != NULL) (void)json_object_set_new(doc, name, json_string(text));
}

enum result doc_parts_finish(struct jsonx_reader *r, json_t *doc, json_t **out_doc, char out_fault[JSONX_WHY_BYTES])
{
  enum result result = jsonx_reader_finish(r);
  if (result == RESULT_OK) {
    *out_doc = doc;
  } else {
    memcpy(out_fault, r->fault, JSONX_WHY_BYTES);
    json_decref(doc);
  }
  return result;
}
