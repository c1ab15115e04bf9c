// SPDX-License-Identifier: Apache-2.0
// Programs that a test starts: daemons with a log file and a readiness check, and commands with their output.
// Each child leads its own process group and is killed by the kernel when the test program ends, however it ends.
// Start them from the main thread.
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "common/buf.h"

struct process_spec {
  const char *name;         // for the log file's name
  const char *const *argv;  // argv[0] is the program's path; ended by NULL
  const char *const *env;   // "NAME=value" on top of this program's environment; ended by NULL; NULL: none
  int ready_port;           // wait until GET ready_path answers 200; 0: do not wait
  const char *ready_path;   // NULL: "/readyz"
  double ready_seconds;     // 0: 60
  int death_signal;         // what the child gets if this program ends first; 0: SIGKILL
};
struct process;

// Ends the test program, after the log's last lines, if the child is not ready in time.
struct process *process_start(const struct process_spec *spec);
// The same without waiting; then process_wait_ready says whether it came up.
struct process *process_spawn(const struct process_spec *spec);
bool process_wait_ready(struct process *p);

pid_t process_pid(const struct process *p);
bool process_is_alive(struct process *p);
int process_port(const struct process *p);  // ready_port
const char *process_log_path(const struct process *p);
// The whole log so far. Release the buffer yourself.
void process_read_log(const struct process *p, struct buf *out);
bool process_log_has(const struct process *p, const char *text);
void process_show_log(const struct process *p, int lines);  // to stderr
void process_signal(struct process *p, int signal);
// Exit status, 128 + signal if it was killed, -1 if it still runs after `seconds`.
int process_wait(struct process *p, double seconds);
int process_stop(struct process *p, double seconds);  // SIGTERM and process_wait
void process_kill(struct process *p);                 // SIGKILL and process_wait
void process_free(struct process *p);                 // kills what still runs; NULL is allowed

// Runs a command to its end and returns its exit status as above (-1: killed after `seconds`). Standard output is
// appended to out, standard error to out_errors; one buffer may serve for both, NULL drops it.
int process_run(const char *const *argv, const char *const *env, double seconds, struct buf *out,
                struct buf *out_errors);
