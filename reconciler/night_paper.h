// SPDX-License-Identifier: Apache-2.0
// A night's report, and one held against another, for people. Pure; any thread.
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "reconciler/paper.h"

// A day that exists, as "2026-11-29".
bool night_is_date(const char *text);
// doc: as the database gives it (night_show, night_compare). For paper_free.
struct paper *night_paper_new(const json_t *doc);
struct paper *night_paper_new_comparison(const json_t *doc);
