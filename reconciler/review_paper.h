// SPDX-License-Identifier: Apache-2.0
// The review of an activity or an event for people. Pure; any thread.
#pragma once

#include <jansson.h>

#include "reconciler/paper.h"

// doc: as the database gives it (review_end). For paper_free.
struct paper *review_paper_new(const json_t *doc);
