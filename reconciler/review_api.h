// SPDX-License-Identifier: Apache-2.0
// Reading over HTTP: dead letters, operations, findings, runs of the audit. Lists are {items, next}.
// Owner: web routes; loop thread.
#pragma once

#include "common/web_route.h"

web_handler review_api_audits, review_api_audit_definitions, review_api_dead_letters, review_api_dead_letter_groups,
    review_api_dead_letter, review_api_findings, review_api_finding, review_api_operations, review_api_operation,
    review_api_operation_items;
