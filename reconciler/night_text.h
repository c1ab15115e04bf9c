// SPDX-License-Identifier: Apache-2.0
// A night's report in words, fit for a mail. Pure; any thread.
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "common/buf.h"

// A day that exists, as "2026-11-29".
bool night_is_date(const char *text);
// doc: the report as the database gives it.
void night_put_text(const json_t *doc, struct buf *out);
