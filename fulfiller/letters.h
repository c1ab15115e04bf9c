// SPDX-License-Identifier: Apache-2.0
// Dead letters: unreadable messages are recorded and then acknowledged; what went to review is announced on a queue.
// Owner: the loop thread.
#pragma once

#include "common/db.h"
#include "common/mq.h"
#include "fulfiller/job.h"

struct letters;
struct letters *letters_new(struct runtime *rt, struct db_pool *db, struct mq_publisher *publisher,
                            struct mq_consumer *consumer);
// Records the message, announces it, and acknowledges it when both are done. The row is the dead letter.
void letters_add(struct letters *l, const char *provider, const struct mq_delivery *d, const char *why);
void letters_announce_claim(struct letters *l, const struct job *job);
// A callback that opened a letter: what it was, as callback_apply says.
void letters_announce_callback(struct letters *l, const char *provider, int64_t letter_id, const char *verdict);
size_t letters_open(const struct letters *l);
void letters_stop(struct letters *l);
void letters_free(struct letters *l);  // what was not recorded stays unacknowledged
