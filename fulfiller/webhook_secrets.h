// SPDX-License-Identifier: Apache-2.0
// The secrets that sign the webhooks of one endpoint.
// Blocking file access, at start and on SIGHUP only; owned by the worker.
#pragma once

#include "common/buf.h"
#include "common/conf.h"

struct webhook_secrets {
  struct buf *items;
  size_t count;
};
// All of the files, or none: a fault is one line that names the file, never what it holds.
MUST_CHECK enum result webhook_secrets_read(const struct conf_texts *files, struct webhook_secrets *out_secrets,
                                            struct conf_fault *out_fault);
void webhook_secrets_release(struct webhook_secrets *s);  // wipes them
