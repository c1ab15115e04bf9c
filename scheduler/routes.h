// SPDX-License-Identifier: Apache-2.0
// The scheduler's table of HTTP routes.
// Owner: nobody; constant.
#pragma once

#include "common/web_route.h"

const struct web_routes *scheduler_routes(void);
