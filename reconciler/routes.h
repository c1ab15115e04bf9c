// SPDX-License-Identifier: Apache-2.0
// The reconciler's table of HTTP routes.
// Owner: nobody; constant.
#pragma once

#include "common/web_route.h"

const struct web_routes *reconciler_routes(void);
