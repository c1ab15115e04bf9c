// SPDX-License-Identifier: Apache-2.0
// Masks secrets and personal data in requests and answers that are recorded: members of JSON, fields of forms, headers
// and elements by their names at whatever depth, also inside encoded texts; numbers that look like cards, identity
// cards or phones, addresses of mail, and tokens wherever they stand. Works on what is cut off or no JSON at all.
// Pure; any thread while nobody changes the struct.
#pragma once

#include <stddef.h>

#include "common/buf.h"
#include "common/conf.h"

#define REDACT_TEXT_BYTES_MAX 2048  // of what is appended for one text

// A text that is masked wherever it stands, in one of its spellings.
struct redact_secret {
  char *bytes;
  size_t len;
};
struct redact {
  char **names;  // in lower case, letters and digits only
  size_t name_count;
  struct redact_secret *secrets;
  size_t secret_count;
};

// names: further members to mask, in any case and with or without '_' and '-'; NULL: none.
void redact_init(struct redact *r, const struct conf_texts *names);
// The content of a secret is masked as it is, as JSON has it and as a form has it. Short ones (under 6 bytes) are left
// to their names, for they would hide everything.
void redact_add_secret(struct redact *r, const char *bytes, size_t len);
void redact_release(struct redact *r);
// Appends at most REDACT_TEXT_BYTES_MAX bytes of valid UTF-8 without NUL; what was cut off ends in "…". Never fails.
// r NULL: the built-in names.
void redact_text(const struct redact *r, const char *text, size_t len, struct buf *out);
