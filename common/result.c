// SPDX-License-Identifier: Apache-2.0
// The English texts of enum result, generated from the one list in result.h.
// Pure; any thread.
#include "common/result.h"

const char *result_text(enum result r)
{
  static const char *const texts[] = {
#define X(name, text) [name] = (text),
      RESULT_LIST(X)
#undef X
  };
  // A number that came from a cast or a corrupted variable must not crash the line that reports it.
  if ((size_t)r >= ARRAY_LEN(texts)) return "unknown result";
  return texts[r];
}
