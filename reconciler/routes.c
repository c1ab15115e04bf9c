// SPDX-License-Identifier: Apache-2.0
// The reconciler's table of HTTP routes. What changes something needs more than the right to read.
// Owner: nobody; constant.
#include "reconciler/routes.h"

#include "common/compiler.h"
#include "reconciler/assets.h"
#include "reconciler/log_api.h"
#include "reconciler/night_api.h"
#include "reconciler/now.h"
#include "reconciler/operation_api.h"
#include "reconciler/provider_api.h"
#include "reconciler/report_api.h"
#include "reconciler/review_api.h"
#include "reconciler/session_api.h"
#include "reconciler/webhook_api.h"

#define READERS           (WEB_READ | WEB_ACTIVITIES | WEB_REVIEW | WEB_ADMIN)
#define ANYBODY           (READERS | WEB_CLAIMS)
#define REVIEWERS         (WEB_REVIEW | WEB_ADMIN)
#define ORDER_BODY_MAX    (256u * 1024u)
#define PROVIDER_BODY_MAX (16u * 1024u)
#define SESSION_BODY_MAX  1024u

static const struct web_route items[] = {
    {"GET", "/", WEB_OPEN, WEB_BODY_NONE, 0, assets_page, "page"},
    {"GET", "/assets/{version}/{file}", WEB_OPEN, WEB_BODY_NONE, 0, assets_file, "assets"},
    {"GET", "/v1/activities/{code}/review", READERS, WEB_BODY_NONE, 0, report_api_activity, "activities_review"},
    {"GET", "/v1/audits", READERS, WEB_BODY_NONE, 0, review_api_audits, "audits_list"},
    {"GET", "/v1/audits/definitions", READERS, WEB_BODY_NONE, 0, review_api_audit_definitions, "audits_definitions"},
    {"POST", "/v1/claims/{claimId}/roll-back", REVIEWERS, WEB_BODY_JSON_OPTIONAL, 0, operation_api_roll_back,
     "claims_roll_back"},
    {"GET", "/v1/dead-letters", READERS, WEB_BODY_NONE, 0, review_api_dead_letters, "dead_letters_list"},
    {"GET", "/v1/dead-letters/groups", READERS, WEB_BODY_NONE, 0, review_api_dead_letter_groups, "dead_letters_groups"},
    {"GET", "/v1/dead-letters/{id}", READERS, WEB_BODY_NONE, 0, review_api_dead_letter, "dead_letters_show"},
    {"POST", "/v1/dead-letters/refund", REVIEWERS, WEB_BODY_JSON, ORDER_BODY_MAX, operation_api_refund,
     "dead_letters_refund"},
    {"POST", "/v1/dead-letters/resolve", REVIEWERS, WEB_BODY_JSON, ORDER_BODY_MAX, operation_api_resolve,
     "dead_letters_resolve"},
    {"POST", "/v1/dead-letters/retry", REVIEWERS, WEB_BODY_JSON, ORDER_BODY_MAX, operation_api_retry,
     "dead_letters_retry"},
    {"GET", "/v1/events/{code}/review", READERS, WEB_BODY_NONE, 0, report_api_event, "events_review"},
    {"GET", "/v1/findings", READERS, WEB_BODY_NONE, 0, review_api_findings, "findings_list"},
    {"GET", "/v1/findings/{key}", READERS, WEB_BODY_NONE, 0, review_api_finding, "findings_show"},
    {"POST", "/v1/findings/repair", REVIEWERS, WEB_BODY_JSON, ORDER_BODY_MAX, operation_api_repair, "findings_repair"},
    {"POST", "/v1/findings/resolve", REVIEWERS, WEB_BODY_JSON, ORDER_BODY_MAX, operation_api_explain,
     "findings_resolve"},
    {"GET", "/v1/log", READERS, WEB_BODY_NONE, 0, log_api_list, "log_list"},
    {"GET", "/v1/now", READERS, WEB_BODY_NONE, 0, now_api, "now"},
    {"GET", "/v1/operations", READERS, WEB_BODY_NONE, 0, review_api_operations, "operations_list"},
    {"GET", "/v1/operations/{id}", READERS, WEB_BODY_NONE, 0, review_api_operation, "operations_show"},
    {"GET", "/v1/operations/{id}/items", READERS, WEB_BODY_NONE, 0, review_api_operation_items, "operations_items"},
    {"POST", "/v1/operations/{id}/cancel", REVIEWERS, WEB_BODY_JSON_OPTIONAL, 0, operation_api_cancel,
     "operations_cancel"},
    {"GET", "/v1/providers", READERS, WEB_BODY_NONE, 0, provider_api_list, "providers_list"},
    {"GET", "/v1/providers/{name}/history", READERS, WEB_BODY_NONE, 0, provider_api_history, "providers_history"},
    {"POST", "/v1/providers/{name}/pause", REVIEWERS, WEB_BODY_JSON_OPTIONAL, PROVIDER_BODY_MAX, provider_api_pause,
     "providers_pause"},
    {"POST", "/v1/providers/{name}/resume", REVIEWERS, WEB_BODY_JSON_OPTIONAL, PROVIDER_BODY_MAX, provider_api_resume,
     "providers_resume"},
    {"POST", "/v1/providers/{name}/set", REVIEWERS, WEB_BODY_JSON, PROVIDER_BODY_MAX, provider_api_set,
     "providers_set"},
    {"GET", "/v1/reports", READERS, WEB_BODY_NONE, 0, night_api_list, "reports_list"},
    {"GET", "/v1/reports/{date}", READERS, WEB_BODY_NONE, 0, night_api_show, "reports_show"},
    {"GET", "/v1/reports/{date}/comparison", READERS, WEB_BODY_NONE, 0, night_api_compare, "reports_compare"},
    {"GET", "/v1/session", ANYBODY, WEB_BODY_NONE, 0, session_api_show, "session_show"},
    {"POST", "/v1/session", WEB_OPEN, WEB_BODY_JSON, SESSION_BODY_MAX, session_api_begin, "session_begin"},
    {"DELETE", "/v1/session", ANYBODY, WEB_BODY_NONE, 0, session_api_end, "session_end"},
    {"GET", "/v1/webhooks", READERS, WEB_BODY_NONE, 0, webhook_api_list, "webhooks_list"},
    {"GET", "/v1/webhooks/{name}/deliveries", READERS, WEB_BODY_NONE, 0, webhook_api_deliveries, "webhooks_deliveries"},
    {"POST", "/v1/webhooks/{name}/disable", REVIEWERS, WEB_BODY_JSON, PROVIDER_BODY_MAX, webhook_api_disable,
     "webhooks_disable"},
    {"POST", "/v1/webhooks/{name}/enable", REVIEWERS, WEB_BODY_JSON, PROVIDER_BODY_MAX, webhook_api_enable,
     "webhooks_enable"},
    {"POST", "/v1/webhooks/{name}/replay", REVIEWERS, WEB_BODY_JSON, PROVIDER_BODY_MAX, webhook_api_replay,
     "webhooks_replay"},
};

const struct web_routes *reconciler_routes(void)
{
  static const struct web_routes routes = {items, ARRAY_LEN(items)};
  return &routes;
}
