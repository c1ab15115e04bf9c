// SPDX-License-Identifier: Apache-2.0
// Texts for people in a second language. A message is named by its English text, wherever that is made: in C, with
// printf, or in SQL. What differs from time to time is %1 … %9 in its row of messages.def, and stands in the Chinese
// text where its mark is; what a text ends with may have a row of its own. So no text is written twice, and one without
// a row is shown in English. In a Chinese text "%1(claim)" stands for the word of a closed set, "claim.held", where
// there is one, and "%1()" for a text with a row of its own. Pure; any thread.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "common/buf.h"

struct message_text {
  const char *english, *chinese;  // of a title: the code, of a word: "claim.held", and its words
};
struct message_catalogue {
  const struct message_text *texts, *titles;
  size_t text_count, title_count;
  const struct message_text *words;
  size_t word_count;
};

// The Chinese words of a code; NULL: there are none. c may be NULL.
const char *message_title(const struct message_catalogue *c, const char *code);
// The Chinese word of a member of a closed set; NULL: there is none. c may be NULL.
const char *message_word(const struct message_catalogue *c, const char *set, const char *value);
// Appends the Chinese text of an English one; "path: text" has its path left as it is. False: there is none for it, and
// out has nothing of it. c may be NULL.
bool message_put_chinese(const struct message_catalogue *c, const char *english, struct buf *out);
