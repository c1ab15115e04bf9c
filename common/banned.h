// SPDX-License-Identifier: Apache-2.0
// Functions nobody may call: using one is a compile error that names it. Numbers are read with common/text.h, text is
// gathered in struct buf. The system headers come first, so that only our own code meets the macros.
// Included by compiler.h, hence by every file.
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define BANNED(function) sorry_##function##_is_a_banned_function

// No bound on what is written.
#undef strcpy
#define strcpy(...) BANNED(strcpy)
#undef stpcpy
#define stpcpy(...) BANNED(stpcpy)
#undef strcat
#define strcat(...) BANNED(strcat)
#undef sprintf
#define sprintf(...) BANNED(sprintf)
#undef vsprintf
#define vsprintf(...) BANNED(vsprintf)
#undef gets
#define gets(...) BANNED(gets)
#undef alloca
#define alloca(...) BANNED(alloca)

// A bound, but surprising NULs: missing, or counted wrongly.
#undef strncpy
#define strncpy(...) BANNED(strncpy)
#undef strncat
#define strncat(...) BANNED(strncat)

// Hidden static state.
#undef strtok
#define strtok(...) BANNED(strtok)
#undef gmtime
#define gmtime(...) BANNED(gmtime)
#undef localtime
#define localtime(...) BANNED(localtime)
#undef ctime
#define ctime(...) BANNED(ctime)
#undef asctime
#define asctime(...) BANNED(asctime)
#undef rand
#define rand(...) BANNED(rand)
#undef srand
#define srand(...) BANNED(srand)
#undef tmpnam
#define tmpnam(...) BANNED(tmpnam)

// Junk after the number, wrap-around and locale pass unnoticed.
#undef atoi
#define atoi(...) BANNED(atoi)
#undef atol
#define atol(...) BANNED(atol)
#undef atoll
#define atoll(...) BANNED(atoll)
#undef atof
#define atof(...) BANNED(atof)
#undef strtol
#define strtol(...) BANNED(strtol)
#undef strtoll
#define strtoll(...) BANNED(strtoll)
#undef strtoul
#define strtoul(...) BANNED(strtoul)
#undef strtoull
#define strtoull(...) BANNED(strtoull)
#undef scanf
#define scanf(...) BANNED(scanf)
#undef sscanf
#define sscanf(...) BANNED(sscanf)
#undef fscanf
#define fscanf(...) BANNED(fscanf)
