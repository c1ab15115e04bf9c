// SPDX-License-Identifier: Apache-2.0
// The exchanges and queues of the fulfiller, by the names of the contract.
// Owner: the loop thread.
#pragma once

#include "common/clk.h"
#include "common/mq.h"
#include "fulfiller/provider.h"

#define TOPOLOGY_NAME_BYTES  128
#define TOPOLOGY_EXCHANGE    "largesse.fulfilment"
#define TOPOLOGY_LANE_PREFIX "largesse.issuing."
#define TOPOLOGY_RUNG_PREFIX "largesse.retry."
#define TOPOLOGY_DEAD        "largesse.dead"

void topology_lane_name(const char *provider, char out[TOPOLOGY_NAME_BYTES]);
void topology_rung_name(struct span delay, char out[TOPOLOGY_NAME_BYTES]);  // exchange and queue
// A lane and the rungs of its ladder, on both connections. Equal declarations are harmless.
void topology_declare_common(struct mq_publisher *publisher, struct mq_consumer *consumer);
void topology_declare_lane(struct mq_publisher *publisher, struct mq_consumer *consumer, const struct provider *p);
