// SPDX-License-Identifier: Apache-2.0
// What every system test and benchmark needs first: where the binaries are, free ports, waiting, and giving up with a
// reason. Test support may be blocking and may end the process; it is never linked into a daemon.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "common/compiler.h"

// Prints one line and ends the test program with status 70. Everything it started ends with it.
NO_RETURN void support_die(const char *format, ...) PRINTF_LIKE(1, 2);

// The checkout ("/…/largesse") and a built program ("…/build/<variant>/bin/<name>"), from the place of this executable,
// or from LARGESSE_ROOT and LARGESSE_BIN. Heap; free with mem_free.
char *support_root(void);
char *support_bin(const char *name);
char *support_format(const char *format, ...) PRINTF_LIKE(1, 2);
// Folder for the logs of what this program starts: build/<variant>/log/<program>. Created.
char *support_log_dir(void);
// Writes a file of that folder, readable by its owner only, in place of an earlier one. Its path; heap.
char *support_write(const char *name, const char *format, ...) PRINTF_LIKE(2, 3);
// A port nobody listens on, outside the kernel's range for outgoing connections. Programs that run side by side get
// different ones; `offset` from 0 tells the ports of one program apart.
int support_free_port(int *next_offset);

double support_now(void);  // monotonic seconds
void support_sleep(double seconds);

// What a promise of the product is measured with: on a machine that is busy with other things, the time in which
// something had to wait for a processor or for the disk does not count, up to three quarters of it. Where the kernel
// does not tell (/proc/pressure) all of it counts.
struct stopwatch {
  double begin, stalled;
};
struct stopwatch stopwatch_start(void);
double stopwatch_seconds(const struct stopwatch *w);
double stopwatch_slowness(const struct stopwatch *w);  // 1 to 4: how much longer than that it really took

// Waiting for something to become true, without fixed sleeps:
//   WAIT_FOR(sql_int(db, "select count(*) from …") == 10, 5);     inside a cmocka test
// The seconds of WAIT_FOR are patience, enough on a quiet machine; a slow or busy one gets more, which costs time only
// where a test fails. WITHIN asserts a promise of the product: its seconds are those of a stopwatch.
struct waiting {
  struct stopwatch watch;
  double seconds, step;
};
struct waiting waiting_start(double seconds);
bool waiting_more(struct waiting *w);     // sleeps a little longer each time; false when the time is over
double waiting_patience(double seconds);  // four times as long, up to a minute; never less than given
#define WAIT_FOR(condition, seconds) WITHIN(condition, waiting_patience(seconds))
#define WITHIN(condition, seconds)                                                                          \
  do {                                                                                                      \
    struct waiting w_ = waiting_start(seconds);                                                             \
    bool held_;                                                                                             \
    while (!(held_ = (condition)) && waiting_more(&w_)) {}                                                  \
    if (!held_) print_error("waited %.1f s in vain for: %s\n", support_now() - w_.watch.begin, #condition); \
    assert_true(held_);                                                                                     \
  } while (0)
bool wait_until(bool (*holds)(void *ctx), void *ctx,
                double seconds);  // the same as a function, for programs without cmocka
