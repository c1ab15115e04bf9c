// SPDX-License-Identifier: Apache-2.0
// Compiler attributes under names of our own, so that the code reads the same with gcc and clang.
// Owner: every file includes this; it declares no code.
#pragma once

#include <stddef.h>

#include "common/banned.h"

#define MUST_CHECK                      __attribute__((warn_unused_result))
#define PRINTF_LIKE(format_at, args_at) __attribute__((format(printf, format_at, args_at)))
#define NO_RETURN                       __attribute__((noreturn))
#define UNUSED                          __attribute__((unused))

#define ARRAY_LEN(array) (sizeof(array) / sizeof((array)[0]))

// Recovers the struct that embeds a member, from a pointer to that member.
#define CONTAINER_OF(member_ptr, type, member) ((type *)(void *)((char *)(member_ptr)-offsetof(type, member)))
