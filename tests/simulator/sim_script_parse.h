// SPDX-License-Identifier: Apache-2.0
// From the JSON of POST /sim/script to a struct sim_script. Strict: unknown members and wrong types are faults with a
// path. Pure; any thread.
#pragma once

#include "tests/simulator/sim_script.h"

// The caller holds the script once (sim_script_drop). RESULT_INVALID and one line in out_why otherwise.
MUST_CHECK enum result sim_script_parse(const json_t *object, struct sim_script **out_script,
                                        char out_why[JSONX_WHY_BYTES]);
