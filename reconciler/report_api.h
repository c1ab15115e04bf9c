// SPDX-License-Identifier: Apache-2.0
// Reports over HTTP in the form that is asked for, and reviews of activities and events. Owner: web routes; loop
// thread.
#pragma once

#include <jansson.h>

#include "common/web_call.h"
#include "reconciler/paper.h"

typedef struct paper *report_api_paper_fn(const json_t *doc);

// The parameter `format`: json (also left out), csv, html, text; and `language`, for links, which have no header.
// False after a 400.
bool report_api_format(struct web_request *web, enum report_format *out_format);
// How a document is answered.
struct report_api_kind {
  report_api_paper_fn *paper_fn;
  const struct web_told *told;  // its texts; NULL: there are none
};
// Answers with the document in that form, in the language of the request; CSV is English. name: of the file that a
// browser would keep, without its ending.
void report_api_reply(struct web_request *web, enum report_format format, const char *doc, size_t len,
                      const struct report_api_kind *kind, const char *name);

void report_api_activity(struct web_request *web);
void report_api_event(struct web_request *web);
