// SPDX-License-Identifier: Apache-2.0
// Inside redact*.c only: what the name of a member says about its value, and which texts speak for themselves. Pure.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "fulfiller/redact.h"

#define REDACT_NAME_BYTES 128

// Lower case, letters and digits (and bytes above ASCII) only; the rest is left out.
void redact_name_put(char name[REDACT_NAME_BYTES], size_t *len, unsigned char c);
bool redact_name_is_sensitive(const struct redact *r, const char *name);
// The value identifies something: an id, a reference, a time, an amount. Its digits are no phone number.
bool redact_name_is_id(const char *name);
// Of a header whose value goes to the end of the line.
bool redact_name_takes_line(const char *name);

// Bytes of the number at text that looks like a card, an identity card or a phone; 0: it does not.
size_t redact_number_at(const char *text, size_t len, size_t at);
// A word that is a credential by its looks: a JWT, a key with a known beginning.
bool redact_is_token(const char *word, size_t len);
