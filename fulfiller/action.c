// SPDX-License-Identifier: Apache-2.0
// Names of actions. Pure; any thread.
#include "fulfiller/action.h"

#include <stddef.h>
#include <string.h>

#include "common/contract.h"

struct action_row {
  const char *call, *inquiry, *suffix;
};

static struct action_row row_of(enum provider_action action)
{
  static const struct action_row rows[] = {
#define X(action, name, inquiry, suffix) [action] = {(name), (inquiry), (suffix)},
      PROVIDER_ACTION_LIST(X)
#undef X
  };
  REQUIRE((size_t)action < ACTION_COUNT);
  return rows[action];
}

const char *action_request_name(enum provider_action action, enum call_kind kind)
{
  if (kind == CALL_CLOSE) {
    REQUIRE(action == ACTION_CHARGE);
    return "close";
  }
  return kind == CALL_ACT ? row_of(action).call : row_of(action).inquiry;
}

bool action_of_step(const char *step, enum provider_action *out_action, enum call_kind *out_kind)
{
  for (int i = 0; i < ACTION_COUNT; i++) {
    enum provider_action action = (enum provider_action)i;
    bool is_call = strcmp(step, row_of(action).call) == 0;
    if (!is_call && strcmp(step, row_of(action).inquiry) != 0) continue;
    *out_action = action;
    *out_kind = is_call ? CALL_ACT : CALL_INQUIRE;
    return true;
  }
  return false;
}

const char *action_suffix(enum provider_action action) { return row_of(action).suffix; }
