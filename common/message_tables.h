// SPDX-License-Identifier: Apache-2.0
// The catalogue of texts that a main.c hands to daemon_main: the library's and, where app.h names them, the daemon's.
// It is made where this is included; words of closed sets where app.h names a table of them.
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

#ifdef DAEMON_WORDS
static const struct message_text message_words[] = {
#define WORD(name, chinese) {name, chinese},
#include DAEMON_WORDS
#undef WORD
};
#endif

static const struct message_catalogue message_catalogue = {
    .texts = message_texts,
    .titles = message_titles,
    .text_count = ARRAY_LEN(message_texts),
    .title_count = ARRAY_LEN(message_titles),
#ifdef DAEMON_WORDS
    .words = message_words,
    .word_count = ARRAY_LEN(message_words),
#endif
};
