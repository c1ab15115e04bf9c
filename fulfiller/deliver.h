// SPDX-License-Identifier: Apache-2.0
// Drives a job through its calls: its action, or an inquiry about it and then perhaps the action under the same lease.
// Owner: the loop thread.
#pragma once

#include "fulfiller/job.h"

// The job is JOB_TAKEN; when its calls are over it is handed to the settler.
void deliver_start(struct job *job);
