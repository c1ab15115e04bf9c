// SPDX-License-Identifier: Apache-2.0
// What the shapes of all documents share: codes, members that are carried over, and the end of reading.
// Pure; any thread.
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "common/jsonx.h"
#include "common/result.h"

// The member as a code of at most CODE_BYTES_MAX; NULL when missing. Into the object; with a fault in r, whatever
// stands there.
const char *doc_parts_read_code(struct jsonx_reader *r, const char *name, bool required);
// The document's own code, in the member `name`. given: what the path of the call or the key in a file says, which the
// member may then leave out and must not differ from; NULL: the member is required. Into the object, or given.
const char *doc_parts_read_own_code(struct jsonx_reader *r, const char *name, const char *given);
// Text NULL: nothing.
void doc_parts_put_text(json_t *doc, const char *name, const char *text);
// Finishes r. RESULT_OK: doc is the caller's, in *out_doc; otherwise it is freed, and out_fault is that of r.
MUST_CHECK enum result doc_parts_finish(struct jsonx_reader *r, json_t *doc, json_t **out_doc,
                                        char out_fault[JSONX_WHY_BYTES]);
