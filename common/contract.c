// SPDX-License-Identifier: Apache-2.0
// The end of a process whose own code is wrong. Alone in its file, so that a test can link its own version instead.
// Any thread.
#include "common/contract.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

void contract_failed(const char *kind, const char *condition, const char *file, int line)
{
  // Not stdio: another thread may hold its lock, or may be the one that is broken.
  char text[512];
  int len = snprintf(text, sizeof(text), "%s:%d: %s(%s) failed; this is a bug\n", file, line, kind, condition);
  if (len > 0) {
    size_t bytes = (size_t)len < sizeof(text) ? (size_t)len : sizeof(text) - 1;
    ssize_t ignored = write(STDERR_FILENO, text, bytes);
    (void)ignored;
  }
  abort();
}
