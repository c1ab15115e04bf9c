// SPDX-License-Identifier: Apache-2.0
// POST /v1/dead-letters/retry {ids | filter, reason?, dryRun?}: statement by statement until all that is meant was
// looked at. Owner: web routes; loop thread.
#pragma once

#include "common/web_route.h"

web_handler retry_api_dead_letters;
