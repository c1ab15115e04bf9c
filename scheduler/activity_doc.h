// SPDX-License-Identifier: Apache-2.0
// Checks the shape of activities and rewards of event files, which are read, and refused with file and line, before
// there is a database. Calls are checked by activity_doc_fault and reward_doc_fault in SQL in the same words:
// tests/sql/doc_faults.sql has every case of this module's unit test. What may change when, and whether names exist, is
// judged by SQL (activity_put). Pure; any thread.
#pragma once

#include <jansson.h>

#include "common/conf.h"
#include "common/jsonx.h"
#include "common/result.h"

// path_code: the code in the URL, which may then be left out of the body and must not differ; NULL: required in the
// body. *out_doc: a new object for activity_put. RESULT_INVALID: out_fault names the path of the fault and the rule.
MUST_CHECK enum result activity_doc_check(const json_t *body, const char *path_code, json_t **out_doc,
                                          char out_fault[JSONX_WHY_BYTES]);

// Whether its paymentProvider may take payments. known: all that are configured (none: anybody may), charging: those of
// them that can charge. doc: of activity_doc_check. RESULT_INVALID: as there.
MUST_CHECK enum result activity_doc_check_provider(const json_t *doc, const struct conf_texts *known,
                                                   const struct conf_texts *charging, char out_fault[JSONX_WHY_BYTES]);

// providers: names a reward may use; count 0: any.
struct reward_terms {
  const char *code;      // into body or path_code
  const char *provider;  // into body
  bool has_amount;
  int64_t amount;
  const char *currency;  // into body
  const json_t *params;  // into body; NULL: none
};
MUST_CHECK enum result reward_doc_check(const json_t *body, const char *path_code, char *const *providers,
                                        size_t provider_count, struct reward_terms *out_terms,
                                        char out_fault[JSONX_WHY_BYTES]);
