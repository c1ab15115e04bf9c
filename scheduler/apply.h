// SPDX-License-Identifier: Apache-2.0
// `scheduler apply FILE…`: event files become events, rewards and activities; each file in one transaction, all or
// nothing. Owner: the command; blocking.
#pragma once

#include "common/log.h"

int apply_command(const void *config, struct log *log, int argc, char **argv);
