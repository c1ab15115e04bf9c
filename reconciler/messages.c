// SPDX-License-Identifier: Apache-2.0
// The texts of the reconciler in Chinese. Owner: nobody; constant.
#include "reconciler/messages.h"

#include "reconciler/app.h"
// made of what app.h names
#include "common/message_tables.h"

const struct message_catalogue *reconciler_messages(void) { return &message_catalogue; }
