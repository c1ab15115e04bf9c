// SPDX-License-Identifier: Apache-2.0
// The catalogue of texts that a main.c hands to daemon_main: the library's and, where app.h names them, the daemon's.
// It is made where this is included.
#pragma once

#include "common/compiler.h"
#include "common/message.h"

// Texts and titles stand in the same files, each row in one of the two tables.
static const struct message_text message_texts[] = {
#define MESSAGE(english, chinese) {english, chinese},
#define TITLE(code, chinese)
#include "common/messages.def"
#ifdef DAEMON_MESSAGES
#include DAEMON_MESSAGES
#endif
#undef MESSAGE
#undef TITLE
};

static const struct message_text message_titles[] = {
#define MESSAGE(english, chinese)
#define TITLE(code, chinese) {code, chinese},
#include "common/messages.def"
#ifdef DAEMON_MESSAGES
#include DAEMON_MESSAGES
#endif
#undef MESSAGE
#undef TITLE
};

static const struct message_catalogue message_catalogue = {message_texts, message_titles, ARRAY_LEN(message_texts),
                                                           ARRAY_LEN(message_titles)};
