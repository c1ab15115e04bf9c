// SPDX-License-Identifier: Apache-2.0
// One webhook endpoint as configured, checked: where it is, what it is told, which addresses it may have.
// Pure; any thread.
#pragma once

#include "common/net_guard.h"
#include "fulfiller/config.h"
#include "fulfiller/webhook_config.h"

struct webhook_profile {
  const char *name;                 // the configuration's
  const struct webhook_conf *conf;  // the same
  char *origin;                     // "https://host:port"; the rest of an address may be a secret
  char *types;                      // separated by spaces
  struct net_block *allowed;
  struct net_guard guard;
};
// A fault is one line that names the key below the endpoint.
MUST_CHECK enum result webhook_profile_compile(const struct conf_entry *entry, struct webhook_profile *out_profile,
                                               struct conf_fault *out_fault);
void webhook_profile_release(struct webhook_profile *p);
MUST_CHECK enum result webhook_check_all(const struct fulfiller_conf *conf, const char *file, bool reads_files,
                                         struct conf_fault *out_fault);
