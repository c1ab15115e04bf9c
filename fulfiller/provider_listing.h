// SPDX-License-Identifier: Apache-2.0
// The profiles of a configuration, listed without asking anybody. Pure; any thread.
#pragma once

#include <stdbool.h>

#include "fulfiller/provider.h"

// RESULT_INVALID: a profile does not compile; out_fault says why.
MUST_CHECK enum result provider_listing(const struct fulfiller_conf *conf, bool is_json, struct buf *out,
                                        struct conf_fault *out_fault);
