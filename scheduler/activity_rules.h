// SPDX-License-Identifier: Apache-2.0
// The rules of an activity's document: who may claim, how payment, waiting and pace go; and which of them go together.
// A part of activity_doc. Pure; any thread.
#pragma once

#include <jansson.h>

#include "common/jsonx.h"

// Reads the members of all rules from r into doc, as activity_put takes them. Faults stay in r.
void activity_rules_read(struct jsonx_reader *r, json_t *doc);
// What a kind needs, and what goes with another kind only. doc: complete but for what r found to be faulty.
void activity_rules_check(struct jsonx_reader *r, const json_t *doc);
// {amount, currency} at path, in minor units of at least `least`. False with a fault in r.
bool activity_money_read(struct jsonx_reader *r, const json_t *money, const char *path, int64_t least,
                         int64_t *out_amount, const char **out_currency);
