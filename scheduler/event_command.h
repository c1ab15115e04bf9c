// SPDX-License-Identifier: Apache-2.0
// `scheduler events parked|retry|discard`: what the relay could not send.
// Owner: the command; blocking.
#pragma once

struct log;
int event_command_parked(const void *config, struct log *log, int argc, char **argv);
int event_command_retry(const void *config, struct log *log, int argc, char **argv);
int event_command_discard(const void *config, struct log *log, int argc, char **argv);
