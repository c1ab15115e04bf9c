// SPDX-License-Identifier: Apache-2.0
// The fulfiller's HTTP interface.
// Owner: nobody; constant.
#pragma once

#include "common/web_route.h"

const struct web_routes *fulfiller_routes(void);  // the server's context is the struct app
