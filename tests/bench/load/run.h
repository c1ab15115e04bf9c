// SPDX-License-Identifier: Apache-2.0
// A run of the load generator: N virtual clients on one epoll, each with one connection and at most one click under
// way. One thread.
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/socket.h>

#include "common/clk.h"
#include "common/heap.h"
#include "common/list.h"
#include "common/result.h"
#include "tests/bench/load/answer.h"
#include "tests/bench/load/click.h"
#include "tests/bench/load/tally.h"

#define RUN_TARGETS_MAX      16
#define RUN_CLIENTS_MAX      16384
#define RUN_ANSWER_BYTES_MAX 16384

struct run_target {
  struct sockaddr_storage address;
  socklen_t address_len;
  struct buf head;  // of requests to it
};

struct run_conf {
  struct click_plan plan;
  struct run_target targets[RUN_TARGETS_MAX];
  size_t target_count;
  size_t clients;
  uint64_t first_number;  // of the first click
  uint64_t requests_max;  // clicks; 0: until the time is over
  struct span duration;   // 0: until all clicks are made
  struct span answer_timeout;
  struct span grace;  // for the clicks under way at the end
  double rate;        // clicks per second; 0: as fast as possible
  bool repeat_unanswered;
  FILE *record;  // NULL: none
};

enum run_state {
  CLIENT_IDLE,  // no click
  CLIENT_CONNECTING,
  CLIENT_SENDING,
  CLIENT_WAITING,  // for the answer
  CLIENT_PAUSED,   // before it tries again; in the heap
  CLIENT_DONE,
};

struct run;
struct run_client {
  struct run *run;
  struct heap_node pause;
  struct list idle;  // among the idle ones
  int fd;            // -1: not connected
  enum run_state state;
  size_t target;
  struct click click;
  struct mono_time begun;  // when the click was made, or should have been made at the given rate
  struct mono_time sent;   // of this try
  unsigned tries;          // of this click
  bool has_click;
  struct buf out;
  size_t out_sent;
  size_t in_len;
  char in[RUN_ANSWER_BYTES_MAX];
};

struct run {
  const struct run_conf *conf;
  struct tally tally;
  struct run_client *clients;
  struct list idle;
  struct heap pauses;
  int epoll_fd, signal_fd;
  struct mono_time now, started, next_scan, last_answer;
  uint64_t made;     // clicks
  size_t under_way;  // clients with a click
  bool stopping;     // no new clicks
  struct mono_time stopped_at;
};

// RESULT_IO: descriptors cannot be had (errno tells). The tally is filled in either case.
MUST_CHECK enum result run_load(const struct run_conf *conf, struct tally *out_tally);

// run_client.c
void run_client_begin(struct run_client *c, struct mono_time due);  // makes a new click and sends it
void run_client_on_event(struct run_client *c, uint32_t events);
void run_client_on_pause_over(struct run_client *c);
void run_client_on_timeout(struct run_client *c);
void run_client_give_up(struct run_client *c);  // the run is over
// run.c
void run_client_is_free(struct run_client *c);  // its click is finished
