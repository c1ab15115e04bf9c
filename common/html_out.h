// SPDX-License-Identifier: Apache-2.0
// Text inside HTML: content of elements and of quoted attributes.
// Pure; any thread.
#pragma once

#include "common/buf.h"

void html_put_text(struct buf *out, const char *text);
