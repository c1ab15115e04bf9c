// SPDX-License-Identifier: Apache-2.0
// `scheduler discounts list|show|quote`.
// Owner: the command; blocking.
#pragma once

struct log;
int discount_command_list(const void *config, struct log *log, int argc, char **argv);
int discount_command_show(const void *config, struct log *log, int argc, char **argv);
int discount_command_quote(const void *config, struct log *log, int argc, char **argv);
