// SPDX-License-Identifier: Apache-2.0
// What can be imported from CSV: its columns, and the statement that takes them all in one transaction.
// Owner: nobody; constant.
#pragma once

#include "common/web_import.h"

enum import_what { IMPORT_NUMBERS, IMPORT_QUALIFICATIONS, IMPORT_POINTS };

const struct web_import *import_target_of(enum import_what what);
