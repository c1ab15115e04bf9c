// SPDX-License-Identifier: Apache-2.0
// A paper in another language: texts by the catalogue of messages, words by its closed sets, data as it is.
// Pure; any thread.
#include <stdio.h>
#include <string.h>

#include "common/mem.h"
#include "reconciler/paper_internal.h"

#define TEXT_BYTES_MAX (1u << 20)
#define SET_BYTES_MAX  32

static void replace(char **io_text, char *told)
{
  mem_free(*io_text);
  *io_text = told;
}

static void tell_text(const struct message_catalogue *c, char **io_text)
{
  struct buf told;
  buf_init(&told, TEXT_BYTES_MAX);
  if (message_put_chinese(c, *io_text, &told))
    replace(io_text, buf_take(&told));
  else
    buf_release(&told);
}

// The first of the sets, with a space between, that has the word.
static void tell_word(const struct message_catalogue *c, const char *sets, char **io_text)
{
  char set[SET_BYTES_MAX];
  for (const char *at = sets; *at != '\0'; at += strspn(at, " ")) {
    size_t len = strcspn(at, " ");
    (void)snprintf(set, sizeof set, "%.*s", (int)len, at);
    at += len;
    const char *word = message_word(c, set, *io_text);
    if (word == NULL) continue;
    replace(io_text, mem_strdup(word));
    return;
  }
}

static void tell(const struct message_catalogue *c, const char *words, char **io_text)
{
  if (words == NULL || *io_text == NULL) return;
  if (words[0] == '\0')
    tell_text(c, io_text);
  else
    tell_word(c, words, io_text);
}

// The commonest reasons of refusals are columns too.
static void tell_column(const struct message_catalogue *c, struct paper_column *column)
{
  char *title = mem_strdup(column->title);
  tell_word(c, PAPER_WORDS " code", &title);
  mem_free((char *)(uintptr_t)column->title);
  column->title = title;
}

static void tell_part(const struct message_catalogue *c, struct paper_part *part)
{
  tell(c, PAPER_WORDS, &part->title);
  tell(c, PAPER_WORDS, &part->note);
  for (size_t i = 0; i < part->column_count; i++) tell_column(c, &part->columns[i]);
  for (size_t i = 0; i < part->cell_count; i++)
    tell(c, part->columns[i % part->column_count].words, &part->cells[i].text);
}

void paper_tell_chinese(struct paper *p, const struct message_catalogue *catalogue)
{
  p->is_chinese = true;
  tell(catalogue, "", &p->title);
  tell(catalogue, "", &p->verdict);
  tell(catalogue, PAPER_WORDS, &p->drawn_note);
  for (size_t i = 0; i < p->fact_count; i++) {
    tell(catalogue, PAPER_WORDS, &p->facts[i].name);
    tell(catalogue, p->facts[i].words, &p->facts[i].value);
  }
  for (size_t i = 0; i < p->part_count; i++) tell_part(catalogue, &p->parts[i]);
}
