// SPDX-License-Identifier: Apache-2.0
// Answers of calls that change something, as their statements tell it.
// Owner: the handler of the request; loop thread.
#pragma once

#include "common/web_call.h"

// One row with the columns outcome, detail, and where they apply version, doc and extra. Outcomes: created (201 with
// Location), updated and ok (200), unchanged (200), replayed (200 with Idempotent-Replayed); doc is the body, without
// one it is 204; version becomes the ETag. Any other outcome is a refusal's code, with detail and with extra as further
// members. What has changed something is told to call->on_changed first.
void web_answer_change(struct web_call *call, const struct db_rows *rows);
// The first column of the only row is the document; 404 where there is none.
void web_answer_doc(struct web_call *call, const struct db_rows *rows);
// 200 and a JSON object with one member more: a problem in the words of an answer, without being one.
void web_reply_doc_with(struct web_request *req, const char *doc, size_t len, const char *member,
                        const struct web_problem *p);
// Columns doc and version: the document with its ETag; 404 where there is no row.
void web_answer_versioned(struct web_call *call, const struct db_rows *rows);
