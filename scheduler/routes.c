// SPDX-License-Identifier: Apache-2.0
// The scheduler's table of HTTP routes; the handlers live in the *_api files.
// Owner: nobody; constant.
#include "scheduler/routes.h"

#include "common/compiler.h"
#include "scheduler/activity_api.h"
#include "scheduler/claim_action_api.h"
#include "scheduler/claim_api.h"
#include "scheduler/claim_read_api.h"
#include "scheduler/reward_api.h"

#define READERS   (WEB_READ | WEB_CLAIMS | WEB_ACTIVITIES | WEB_REVIEW | WEB_ADMIN)
#define OPERATORS (WEB_ACTIVITIES | WEB_ADMIN)

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
    {"GET", "/v1/activities/{code}/history", READERS, WEB_BODY_NONE, 0, activity_api_history, "activities_history"},
    {"GET", "/v1/activities/{code}/claims", READERS, WEB_BODY_NONE, 0, claim_read_api_of_activity, "activities_claims"},
    {"POST", "/v1/activities/{code}/stock-adjustments", OPERATORS, WEB_BODY_JSON, 0, activity_api_adjust,
     "activities_adjust"},
    {"GET", "/v1/rewards/{code}", READERS, WEB_BODY_NONE, 0, reward_api_get, "rewards_get"},
    {"PUT", "/v1/rewards/{code}", OPERATORS, WEB_BODY_JSON, 0, reward_api_put, "rewards_put"},
};

const struct web_routes *scheduler_routes(void)
{
  static const struct web_routes routes = {items, ARRAY_LEN(items)};
  return &routes;
}
