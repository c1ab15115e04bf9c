// SPDX-License-Identifier: Apache-2.0
// The configuration of one webhook endpoint.
// Plain data; owned by the configuration.
#pragma once

#include "common/conf.h"

struct webhook_conf {
  char *url;
  struct conf_texts types, secrets, allow;
  struct conf_spans ladder;
  int64_t attempts, concurrency;
  struct span total_timeout, connect_timeout, retry_after_max, disable_after;
};
