// SPDX-License-Identifier: Apache-2.0
// Requests and answers as they are recorded with an attempt: what a person needs to see, secrets and personal data
// masked, at most REDACT_TEXT_BYTES_MAX bytes of valid UTF-8. Pure; any thread.
#pragma once

#include "common/http_client.h"
#include "fulfiller/redact.h"

// Free with mem_free. redact NULL: the built-in names.
char *transcript_request(const struct redact *redact, const struct http_request *request);
char *transcript_answer(const struct redact *redact, const struct http_answer *answer);  // NULL: there was none
// Words of the provider, in place: they go to logs, letters and users.
void transcript_mask(const struct redact *redact, char *words, size_t size);
