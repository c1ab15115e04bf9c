// SPDX-License-Identifier: Apache-2.0
// What the daemon*.c files share and nobody else may include: options and command lookup, and talking to systemd.
#pragma once

#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "common/daemon.h"

struct daemon_options {
  const char *config_file;  // NULL: the default one is missing, built-in defaults hold
  bool is_check;            // -t
  int command_at;           // index into argv; argc if no command was given
};
// True: go on. False: the program ends with *out_exit (help and version are printed, faults are told on stderr).
bool daemon_options_parse(const struct daemon_spec *spec, int argc, char **argv, struct daemon_options *out_options,
                          int *out_exit);
void daemon_print_help(const struct daemon_spec *spec, FILE *to);
// The commands that begin with these words (argv may have more, a command's arguments); their number.
int daemon_print_commands(const struct daemon_spec *spec, int argc, char **argv, FILE *to);
// Whether a command's words, or the first of them, are followed by -h or --help. *out_words: those before it.
bool daemon_is_help(int argc, char **argv, int *out_words);
// Number of leading words of argv that are the words of a command; 0 if they are not.
int daemon_match_words(const char *words, int argc, char **argv);
// What is printed for `config print`, `config keys` (config NULL) and `routes`. The program's status.
int daemon_print_config(const struct daemon_spec *spec, const void *config);
int daemon_print_routes(const struct daemon_spec *spec);

// The service manager's notification socket, if there is one.
struct daemon_notify {
  int fd;  // -1: nobody listens
  struct sockaddr_un address;
  socklen_t address_len;
  struct span watchdog;  // 0: not wanted
  struct mono_time next_watchdog;
};
void daemon_notify_init(struct daemon_notify *n);
void daemon_notify_release(struct daemon_notify *n);
void daemon_notify_send(const struct daemon_notify *n, const char *message);
void daemon_notify_turn(struct daemon_notify *n,
                        struct mono_time now);  // once per turn of the loop: that is what the watchdog watches
