// SPDX-License-Identifier: Apache-2.0
// The texts of the reconciler in Chinese (messages.def, words.def), for what it answers and what its commands print.
// Owner: nobody; constant.
#pragma once

#include "common/message.h"

const struct message_catalogue *reconciler_messages(void);
