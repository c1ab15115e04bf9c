// SPDX-License-Identifier: Apache-2.0
// The scheduler's table of HTTP routes; the handlers live in the *_api files.
// Owner: nobody; constant.
#include "scheduler/routes.h"

#include "common/compiler.h"
#include "common/sheet.h"
#include "scheduler/activity_api.h"
#include "scheduler/audience_api.h"
#include "scheduler/claim_action_api.h"
#include "scheduler/claim_api.h"
#include "scheduler/claim_read_api.h"
#include "scheduler/discount_api.h"
#include "scheduler/import_api.h"
#include "scheduler/points_api.h"
#include "scheduler/refusal_api.h"
#include "scheduler/reward_api.h"
#include "scheduler/user_api.h"
#include "scheduler/warm_up.h"

#define READERS   (WEB_READ | WEB_CLAIMS | WEB_ACTIVITIES | WEB_REVIEW | WEB_ADMIN)
#define OPERATORS (WEB_ACTIVITIES | WEB_ADMIN)
// Services that claim also tell what their users have reached and earned, one user at a time; lists are for operators.
#define SERVICES (WEB_CLAIMS | OPERATORS)

static const struct web_route items[] = {
    {"POST", "/v1/claims", WEB_CLAIMS, WEB_BODY_JSON, 0, claim_api_create, "claims_create"},
    {"GET", "/v1/claims/{claimId}", READERS, WEB_BODY_NONE, 0, claim_read_api_by_id, "claims_get"},
    {"GET", "/v1/claims/{activityCode}/{bizId}", READERS, WEB_BODY_NONE, 0, claim_read_api_by_biz, "claims_get_by_biz"},
    {"POST", "/v1/claims/{activityCode}/{bizId}/cancel", WEB_CLAIMS, WEB_BODY_JSON_OPTIONAL, 0, claim_action_api_cancel,
     "claims_cancel"},
    {"POST", "/v1/claims/{activityCode}/{bizId}/accept", WEB_CLAIMS, WEB_BODY_JSON_OPTIONAL, 0, claim_action_api_accept,
     "claims_accept"},
    {"GET", "/v1/users/{userId}/claims", READERS, WEB_BODY_NONE, 0, claim_read_api_of_user, "users_claims"},
    {"GET", "/v1/activities", READERS, WEB_BODY_NONE, 0, activity_api_list, "activities_list"},
    {"GET", "/v1/activities/{code}", READERS, WEB_BODY_NONE, 0, activity_api_get, "activities_get"},
    {"PUT", "/v1/activities/{code}", OPERATORS, WEB_BODY_JSON, 0, activity_api_put, "activities_put"},
    {"POST", "/v1/activities/{code}/publish", OPERATORS, WEB_BODY_JSON_OPTIONAL, 0, activity_api_publish,
     "activities_publish"},
    {"POST", "/v1/activities/{code}/pause", OPERATORS, WEB_BODY_JSON_OPTIONAL, 0, activity_api_pause,
     "activities_pause"},
    {"POST", "/v1/activities/{code}/resume", OPERATORS, WEB_BODY_JSON_OPTIONAL, 0, activity_api_resume,
     "activities_resume"},
    {"POST", "/v1/activities/{code}/finish", OPERATORS, WEB_BODY_JSON_OPTIONAL, 0, activity_api_finish,
     "activities_finish"},
    {"POST", "/v1/activities/{code}/archive", OPERATORS, WEB_BODY_JSON_OPTIONAL, 0, activity_api_archive,
     "activities_archive"},
    {"POST", "/v1/activities/{code}/warm-up", OPERATORS, WEB_BODY_JSON_OPTIONAL, 0, warm_up_api, "activities_warm_up"},
    {"GET", "/v1/activities/{code}/refusals", READERS, WEB_BODY_NONE, 0, refusal_api_list, "activities_refusals"},
    {"GET", "/v1/activities/{code}/history", READERS, WEB_BODY_NONE, 0, activity_api_history, "activities_history"},
    {"GET", "/v1/activities/{code}/claims", READERS, WEB_BODY_NONE, 0, claim_read_api_of_activity, "activities_claims"},
    {"POST", "/v1/activities/{code}/stock-adjustments", OPERATORS, WEB_BODY_JSON, 0, activity_api_adjust,
     "activities_adjust"},
    {"GET", "/v1/activities/{code}/numbers", READERS, WEB_BODY_NONE, 0, audience_api_numbers, "activities_numbers"},
    {"POST", "/v1/activities/{code}/numbers", OPERATORS, WEB_BODY_JSON_OR_CSV, SHEET_BYTES_MAX, import_api_numbers,
     "activities_numbers_add"},
    {"GET", "/v1/activities/{code}/qualifications", READERS, WEB_BODY_NONE, 0, audience_api_qualifications,
     "activities_qualifications"},
    {"POST", "/v1/activities/{code}/qualifications", OPERATORS, WEB_BODY_CSV, SHEET_BYTES_MAX,
     import_api_qualifications, "activities_qualifications_import"},
    {"GET", "/v1/activities/{code}/blocked-users", READERS, WEB_BODY_NONE, 0, audience_api_blocked,
     "activities_blocked"},
    {"PUT", "/v1/activities/{code}/blocked-users/{id}", OPERATORS, WEB_BODY_JSON_OPTIONAL, 0, audience_api_block,
     "activities_block"},
    {"DELETE", "/v1/activities/{code}/blocked-users/{id}", OPERATORS, WEB_BODY_NONE, 0, audience_api_unblock,
     "activities_unblock"},
    {"GET", "/v1/users/{id}/attributes", READERS, WEB_BODY_NONE, 0, user_api_attributes_get, "users_attributes"},
    {"PUT", "/v1/users/{id}/attributes", SERVICES, WEB_BODY_JSON, 0, user_api_attributes_put, "users_attributes_put"},
    {"GET", "/v1/users/{id}/progress", READERS, WEB_BODY_NONE, 0, user_api_progress_list, "users_progress_list"},
    {"GET", "/v1/users/{id}/progress/{task}", READERS, WEB_BODY_NONE, 0, user_api_progress_get, "users_progress"},
    {"PUT", "/v1/users/{id}/progress/{task}", SERVICES, WEB_BODY_JSON, 0, user_api_progress_put, "users_progress_put"},
    {"GET", "/v1/users/{id}/points", READERS, WEB_BODY_NONE, 0, points_api_show, "users_points"},
    {"POST", "/v1/users/{id}/points", SERVICES, WEB_BODY_JSON, 0, points_api_grant, "users_points_grant"},
    {"POST", "/v1/points", OPERATORS, WEB_BODY_CSV, SHEET_BYTES_MAX, import_api_points, "points_grant"},
    {"GET", "/v1/rewards", READERS, WEB_BODY_NONE, 0, reward_api_list, "rewards_list"},
    {"GET", "/v1/rewards/{code}", READERS, WEB_BODY_NONE, 0, reward_api_get, "rewards_get"},
    {"PUT", "/v1/rewards/{code}", OPERATORS, WEB_BODY_JSON, 0, reward_api_put, "rewards_put"},
    {"GET", "/v1/discount-rules", READERS, WEB_BODY_NONE, 0, discount_api_rules, "discount_rules_list"},
    {"GET", "/v1/discount-rules/{id}", READERS, WEB_BODY_NONE, 0, discount_api_rule_get, "discount_rules_get"},
    {"PUT", "/v1/discount-rules/{id}", OPERATORS, WEB_BODY_JSON, 0, discount_api_rule_put, "discount_rules_put"},
    {"POST", "/v1/discounts/quote", READERS, WEB_BODY_JSON, 0, discount_api_quote, "discounts_quote"},
    {"GET", "/v1/orders/{orderId}/redemption", READERS, WEB_BODY_NONE, 0, discount_api_redemption_get,
     "redemptions_get"},
    {"PUT", "/v1/orders/{orderId}/redemption", WEB_CLAIMS, WEB_BODY_JSON, 0, discount_api_redeem, "redemptions_put"},
    {"DELETE", "/v1/orders/{orderId}/redemption", WEB_CLAIMS, WEB_BODY_NONE, 0, discount_api_release,
     "redemptions_delete"},
};

const struct web_routes *scheduler_routes(void)
{
  static const struct web_routes routes = {items, ARRAY_LEN(items)};
  return &routes;
}
