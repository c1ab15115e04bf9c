// SPDX-License-Identifier: Apache-2.0
// Names of actions. Pure; any thread.
#include "fulfiller/action.h"

#include <stddef.h>

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
  return kind == CALL_ACT ? row_of(action).call : row_of(action).inquiry;
}

const char *action_suffix(enum provider_action action) { return row_of(action).suffix; }
