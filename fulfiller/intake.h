// SPDX-License-Identifier: Apache-2.0
// From messages to jobs: bodies are read, claims gathered over messages, and taken from the database as many at a time
// as calls may begin. Owner: the loop thread.
#pragma once

#include "fulfiller/lane.h"

void intake_init(struct lane *lane);
void intake_release(struct lane *lane);
void intake_on_delivery(void *lane, const struct mq_delivery *d);  // mq_delivery_fn
void intake_poke(struct lane *lane);       // something became free: looks again at the end of the turn
void intake_give_back(struct lane *lane);  // claims that wait return to the queue
