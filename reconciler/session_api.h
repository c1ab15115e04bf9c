// SPDX-License-Identifier: Apache-2.0
// Who is asking, and signing in and out of the console. Owner: web routes; loop thread.
#pragma once

struct web_request;

void session_api_show(struct web_request *web);
void session_api_begin(struct web_request *web);
void session_api_end(struct web_request *web);
