// SPDX-License-Identifier: Apache-2.0
// The operator log over HTTP. Owner: web routes; loop thread.
#pragma once

struct web_request;

void log_api_list(struct web_request *web);
