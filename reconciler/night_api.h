// SPDX-License-Identifier: Apache-2.0
// The nights' reports over HTTP. Owner: web routes; loop thread.
#pragma once

#include "common/web.h"

void night_api_list(struct web_request *web);
void night_api_show(struct web_request *web);
void night_api_compare(struct web_request *web);
