// SPDX-License-Identifier: Apache-2.0
// A blocking database session for asserts and set-up in tests. Any error ends the test program with the server's
// message, except through sql_try.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/compiler.h"

struct sql;

struct sql *sql_open(const char *conninfo);  // tries again for 90 s: a server may have much to recover
void sql_close(struct sql *s);               // NULL is allowed

// The query text is a printf format: numbers and trusted text only; quote with %s and sql_quote otherwise.
void sql_exec(struct sql *s, const char *format, ...) PRINTF_LIKE(2, 3);    // may hold several statements
int64_t sql_int(struct sql *s, const char *format, ...) PRINTF_LIKE(2, 3);  // first field of the only row; null is 0
bool sql_bool(struct sql *s, const char *format, ...) PRINTF_LIKE(2, 3);
char *sql_text(struct sql *s, const char *format, ...) PRINTF_LIKE(2, 3);  // heap; null is ""; no row is NULL
// All rows as text, one line each, fields joined by '|' (null: empty), for comparing whole tables. Heap.
char *sql_table(struct sql *s, const char *format, ...) PRINTF_LIKE(2, 3);
// The SQLSTATE of the error, "" without one. Static per session; valid until its next use.
const char *sql_try(struct sql *s, const char *format, ...) PRINTF_LIKE(2, 3);
const char *sql_error(struct sql *s);              // the server's message about the last statement, "" without one
void sql_file(struct sql *s, const char *path);    // runs a file of statements; the path begins at the checkout
char *sql_quote(struct sql *s, const char *text);  // 'text'; heap
