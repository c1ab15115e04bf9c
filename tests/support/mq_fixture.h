// SPDX-License-Identifier: Apache-2.0
// What the tests of common/mq share: a server for the program, and for each test a virtual host of its own with a rig.
#pragma once

#include "tests/support/mq_probe.h"
#include "tests/support/server.h"

struct mq_fixture {
  struct server *server;
  char *url;
  struct mq_rig rig;
  struct mq_publisher *p;  // the test's to make; closed with the rig
  struct mq_consumer *c;
};

// For cmocka: set-up and tear-down of the group, and of each test.
int mq_fixture_start(void **state);
int mq_fixture_stop(void **state);
int mq_fixture_open(void **state);
int mq_fixture_close(void **state);

void mq_fixture_turn(struct mq_fixture *f, int ms);
// Counts what comes; with hold, acks are the test's business. out_sub may be NULL. The caller frees the result with
// mem_free.
struct mq_received *mq_fixture_subscribe(struct mq_fixture *f, const char *queue, uint16_t prefetch, bool hold,
                                         struct mq_subscription **out_sub);
