// SPDX-License-Identifier: Apache-2.0
// The reconciler's table of HTTP routes. What changes something needs more than the right to read.
// Owner: nobody; constant.
#include "reconciler/routes.h"

#include "common/compiler.h"
#include "common/sheet.h"
#include "reconciler/assets.h"
#include "reconciler/desk_activity.h"
#include "reconciler/desk_audience.h"
#include "reconciler/desk_claim.h"
#include "reconciler/desk_import.h"
#include "reconciler/desk_terms.h"
#include "reconciler/desk_user.h"
#include "reconciler/log_api.h"
#include "reconciler/night_api.h"
#include "reconciler/now.h"
#include "reconciler/operation_api.h"
#include "reconciler/provider_api.h"
#include "reconciler/report_api.h"
#include "reconciler/review_api.h"
#include "reconciler/session_api.h"
#include "reconciler/statement_api.h"
#include "reconciler/webhook_api.h"

#define READERS            (WEB_READ | WEB_ACTIVITIES | WEB_REVIEW | WEB_ADMIN)
#define ANYBODY            (READERS | WEB_CLAIMS)
#define REVIEWERS          (WEB_REVIEW | WEB_ADMIN)
#define ORDER_BODY_MAX     (256u * 1024u)
#define PROVIDER_BODY_MAX  (16u * 1024u)
#define SESSION_BODY_MAX   1024u
#define STATEMENT_BODY_MAX (256u * 1024u * 1024u)

// Who may call what the scheduler serves too stands in its table; both are held against openapi.yaml.
#define ALL_READERS (READERS | WEB_CLAIMS)
#define OPERATORS   (WEB_ACTIVITIES | WEB_ADMIN)

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
    {"GET", "/v1/statements", READERS, WEB_BODY_NONE, 0, statement_api_list, "statements_list"},
    {"GET", "/v1/statements/{id}", READERS, WEB_BODY_NONE, 0, statement_api_show, "statements_show"},
    {"GET", "/v1/statements/{id}/lines", READERS, WEB_BODY_NONE, 0, statement_api_lines, "statements_lines"},
    {"POST", "/v1/statements/{provider}", REVIEWERS, WEB_BODY_ANY, STATEMENT_BODY_MAX, statement_api_import,
     "statements_import"},
    {"GET", "/v1/webhooks", READERS, WEB_BODY_NONE, 0, webhook_api_list, "webhooks_list"},
    {"GET", "/v1/webhooks/{name}/deliveries", READERS, WEB_BODY_NONE, 0, webhook_api_deliveries, "webhooks_deliveries"},
    {"POST", "/v1/webhooks/{name}/disable", REVIEWERS, WEB_BODY_JSON, PROVIDER_BODY_MAX, webhook_api_disable,
     "webhooks_disable"},
    {"POST", "/v1/webhooks/{name}/enable", REVIEWERS, WEB_BODY_JSON, PROVIDER_BODY_MAX, webhook_api_enable,
     "webhooks_enable"},
    {"POST", "/v1/webhooks/{name}/replay", REVIEWERS, WEB_BODY_JSON, PROVIDER_BODY_MAX, webhook_api_replay,
     "webhooks_replay"},
    // --- what the scheduler serves too
    {"POST", "/v1/claims", ALL_READERS, WEB_BODY_JSON, 0, desk_claim_dry_run, "claims_create"},
    {"GET", "/v1/claims/{claimId}", ALL_READERS, WEB_BODY_NONE, 0, desk_claim_get, "claims_get"},
    {"GET", "/v1/claims/{claimId}/trail", READERS, WEB_BODY_NONE, 0, desk_claim_trail, "claims_trail"},
    {"GET", "/v1/claims/{activityCode}/{bizId}", ALL_READERS, WEB_BODY_NONE, 0, desk_claim_get_by_biz,
     "claims_get_by_biz"},
    {"GET", "/v1/users/{userId}/claims", ALL_READERS, WEB_BODY_NONE, 0, desk_user_claims, "users_claims"},
    {"GET", "/v1/activities", ALL_READERS, WEB_BODY_NONE, 0, desk_activity_list, "activities_list"},
    {"GET", "/v1/activities/{code}", ALL_READERS, WEB_BODY_NONE, 0, desk_activity_get, "activities_get"},
    {"PUT", "/v1/activities/{code}", OPERATORS, WEB_BODY_JSON, 0, desk_activity_put, "activities_put"},
    {"POST", "/v1/activities/{code}/publish", OPERATORS, WEB_BODY_JSON_OPTIONAL, 0, desk_activity_publish,
     "activities_publish"},
    {"POST", "/v1/activities/{code}/pause", OPERATORS, WEB_BODY_JSON_OPTIONAL, 0, desk_activity_pause,
     "activities_pause"},
    {"POST", "/v1/activities/{code}/resume", OPERATORS, WEB_BODY_JSON_OPTIONAL, 0, desk_activity_resume,
     "activities_resume"},
    {"POST", "/v1/activities/{code}/finish", OPERATORS, WEB_BODY_JSON_OPTIONAL, 0, desk_activity_finish,
     "activities_finish"},
    {"POST", "/v1/activities/{code}/archive", OPERATORS, WEB_BODY_JSON_OPTIONAL, 0, desk_activity_archive,
     "activities_archive"},
    {"POST", "/v1/activities/{code}/warm-up", OPERATORS, WEB_BODY_JSON_OPTIONAL, 0, desk_activity_warm_up,
     "activities_warm_up"},
    {"GET", "/v1/activities/{code}/refusals", ALL_READERS, WEB_BODY_NONE, 0, desk_activity_refusals,
     "activities_refusals"},
    {"GET", "/v1/activities/{code}/history", ALL_READERS, WEB_BODY_NONE, 0, desk_activity_history,
     "activities_history"},
    {"GET", "/v1/activities/{code}/claims", ALL_READERS, WEB_BODY_NONE, 0, desk_claim_of_activity, "activities_claims"},
    {"POST", "/v1/activities/{code}/stock-adjustments", OPERATORS, WEB_BODY_JSON, 0, desk_activity_adjust,
     "activities_adjust"},
    {"GET", "/v1/activities/{code}/numbers", ALL_READERS, WEB_BODY_NONE, 0, desk_audience_numbers,
     "activities_numbers"},
    {"POST", "/v1/activities/{code}/numbers", OPERATORS, WEB_BODY_JSON_OR_CSV, SHEET_BYTES_MAX, desk_import_numbers,
     "activities_numbers_add"},
    {"GET", "/v1/activities/{code}/qualifications", ALL_READERS, WEB_BODY_NONE, 0, desk_audience_qualifications,
     "activities_qualifications"},
    {"POST", "/v1/activities/{code}/qualifications", OPERATORS, WEB_BODY_CSV, SHEET_BYTES_MAX,
     desk_import_qualifications, "activities_qualifications_import"},
    {"GET", "/v1/activities/{code}/blocked-users", ALL_READERS, WEB_BODY_NONE, 0, desk_audience_blocked,
     "activities_blocked"},
    {"PUT", "/v1/activities/{code}/blocked-users/{id}", OPERATORS, WEB_BODY_JSON_OPTIONAL, 0, desk_audience_block,
     "activities_block"},
    {"DELETE", "/v1/activities/{code}/blocked-users/{id}", OPERATORS, WEB_BODY_NONE, 0, desk_audience_unblock,
     "activities_unblock"},
    {"GET", "/v1/users/{id}/attributes", ALL_READERS, WEB_BODY_NONE, 0, desk_user_attributes, "users_attributes"},
    {"GET", "/v1/users/{id}/progress", ALL_READERS, WEB_BODY_NONE, 0, desk_user_progress_list, "users_progress_list"},
    {"GET", "/v1/users/{id}/progress/{task}", ALL_READERS, WEB_BODY_NONE, 0, desk_user_progress, "users_progress"},
    {"GET", "/v1/users/{id}/points", ALL_READERS, WEB_BODY_NONE, 0, desk_user_points, "users_points"},
    {"POST", "/v1/points", OPERATORS, WEB_BODY_CSV, SHEET_BYTES_MAX, desk_import_points, "points_grant"},
    {"GET", "/v1/rewards", ALL_READERS, WEB_BODY_NONE, 0, desk_terms_rewards, "rewards_list"},
    {"GET", "/v1/rewards/{code}", ALL_READERS, WEB_BODY_NONE, 0, desk_terms_reward, "rewards_get"},
    {"PUT", "/v1/rewards/{code}", OPERATORS, WEB_BODY_JSON, 0, desk_terms_reward_put, "rewards_put"},
    {"GET", "/v1/discount-rules", ALL_READERS, WEB_BODY_NONE, 0, desk_terms_rules, "discount_rules_list"},
    {"GET", "/v1/discount-rules/{id}", ALL_READERS, WEB_BODY_NONE, 0, desk_terms_rule, "discount_rules_get"},
    {"PUT", "/v1/discount-rules/{id}", OPERATORS, WEB_BODY_JSON, 0, desk_terms_rule_put, "discount_rules_put"},
};

const struct web_routes *reconciler_routes(void)
{
  static const struct web_routes routes = {items, ARRAY_LEN(items)};
  return &routes;
}
