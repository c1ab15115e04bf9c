// SPDX-License-Identifier: Apache-2.0
// Allocation that cannot return NULL: out of memory ends the process with one line on stderr. That is safe here,
// since everything accepted is in the database before anybody is told (see README, "what a crash costs").
#pragma once

#include <stddef.h>

#include "common/compiler.h"

// Zeroed memory for count items of size bytes; the product is checked for overflow. Free with mem_free.
void *mem_zalloc(size_t count, size_t size);
// Like realloc for an array; new bytes are not zeroed.
void *mem_resize(void *old, size_t count, size_t size);
char *mem_strdup(const char *text);
// Copies len bytes and adds a NUL.
char *mem_strndup(const char *bytes, size_t len);
// NULL is allowed.
void mem_free(void *p);

#define MEM_NEW(type)          ((type *)mem_zalloc(1, sizeof(type)))
#define MEM_ARRAY(type, count) ((type *)mem_zalloc((count), sizeof(type)))
