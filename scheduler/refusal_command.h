// SPDX-License-Identifier: Apache-2.0
// `scheduler activity refusals`.
// Owner: the command; blocking.
#pragma once

struct log;
int refusal_command_list(const void *config, struct log *log, int argc, char **argv);
