// SPDX-License-Identifier: Apache-2.0
// Allocation that ends the process instead of returning NULL.
// Any thread.
#include "common/mem.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static NO_RETURN void give_up(void)
{
  static const char text[] = "out of memory\n";
  ssize_t ignored = write(STDERR_FILENO, text, sizeof(text) - 1);
  (void)ignored;
  abort();
}

void *mem_zalloc(size_t count, size_t size)
{
  // calloc checks the product. Zero items still get an address, since callers never look for NULL.
  void *p = count == 0 || size == 0 ? calloc(1, 1) : calloc(count, size);
  if (p == NULL) give_up();
  return p;
}

void *mem_resize(void *old, size_t count, size_t size)
{
  if (count == 0 || size == 0) count = size = 1;
  void *p = reallocarray(old, count, size);
  if (p == NULL) give_up();
  return p;
}

char *mem_strndup(const char *bytes, size_t len)
{
  if (len == SIZE_MAX) give_up();
  char *copy = mem_zalloc(len + 1, 1);
  if (len > 0) memcpy(copy, bytes, len);
  return copy;
}

char *mem_strdup(const char *text) { return mem_strndup(text, strlen(text)); }

void mem_free(void *p) { free(p); }
