// SPDX-License-Identifier: Apache-2.0
// The reconciler's table of HTTP routes. What changes something needs more than the right to read.
// Owner: nobody; constant.
#include "reconciler/routes.h"

#include "common/compiler.h"
#include "reconciler/page.h"
#include "reconciler/retry_api.h"
#include "reconciler/review_api.h"

#define READERS        (WEB_READ | WEB_ACTIVITIES | WEB_REVIEW | WEB_ADMIN)
#define RETRY_BODY_MAX (256u * 1024u)

static const struct web_route items[] = {
    {"GET", "/", READERS, WEB_BODY_NONE, 0, page_show, "page"},
    {"GET", "/page.css", WEB_OPEN, WEB_BODY_NONE, 0, page_style, "page_style"},
    {"GET", "/v1/audits", READERS, WEB_BODY_NONE, 0, review_api_audits, "audits_list"},
    {"GET", "/v1/dead-letters", READERS, WEB_BODY_NONE, 0, review_api_dead_letters, "dead_letters_list"},
    {"GET", "/v1/dead-letters/{id}", READERS, WEB_BODY_NONE, 0, review_api_dead_letter, "dead_letters_show"},
    {"POST", "/v1/dead-letters/retry", WEB_REVIEW | WEB_ADMIN, WEB_BODY_JSON, RETRY_BODY_MAX, retry_api_dead_letters,
     "dead_letters_retry"},
    {"GET", "/v1/findings", READERS, WEB_BODY_NONE, 0, review_api_findings, "findings_list"},
    {"GET", "/v1/findings/{key}", READERS, WEB_BODY_NONE, 0, review_api_finding, "findings_show"},
};

const struct web_routes *reconciler_routes(void)
{
  static const struct web_routes routes = {items, ARRAY_LEN(items)};
  return &routes;
}
