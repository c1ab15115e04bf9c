// SPDX-License-Identifier: Apache-2.0
// How each kind of provider wants its callbacks answered. Loop thread.
#pragma once

#include "common/web.h"
#include "fulfiller/callback_profile.h"

// Safe with us: it need not be sent again.
void callback_reply_taken(struct web_request *req, enum callback_scheme scheme);
// 400, 401, 415: not taken; 503: send it again. detail is for people.
void callback_reply_not_taken(struct web_request *req, enum callback_scheme scheme, int status, const char *detail);
