// SPDX-License-Identifier: Apache-2.0
// One row of event_out in memory: see event_batch.h.
// Pure; any thread.
#include "scheduler/event_batch.h"

#include <string.h>

#include "common/mem.h"

static size_t count_lines(const char *text)
{
  size_t count = 1;
  for (const char *at = text; (at = strchr(at, '\n')) != NULL; at++) count++;
  return count;
}

static char *place(char **at, const char *text)
{
  size_t size = strlen(text) + 1;
  char *to = memcpy(*at, text, size);
  *at += size;
  return to;
}

static const char *take_line(char **cursor)
{
  char *line = *cursor, *end = strchr(line, '\n');
  if (end) *end++ = '\0';
  *cursor = end;
  return line;
}

struct event_batch *event_batch_new(const struct event_row *row)
{
  const char *const columns[] = {row->event_ids, row->subjects, row->traces, row->docs};
  size_t bytes = strlen(row->type) + strlen(row->at) + 2, count = count_lines(row->event_ids);
  bool is_sound = true;
  for (size_t i = 0; i < ARRAY_LEN(columns); i++) {
    bytes += strlen(columns[i]) + 1;
    is_sound = is_sound && count_lines(columns[i]) == count;
  }
  struct event_batch *b = mem_zalloc(1, sizeof *b + bytes);
  char *at = b->bytes, *cursors[ARRAY_LEN(columns)];
  list_init(&b->node);
  b->id = row->id;
  b->count = count;
  b->items = MEM_ARRAY(struct event_item, count);
  b->type = place(&at, row->type);
  b->at = place(&at, row->at);
  for (size_t i = 0; i < ARRAY_LEN(columns); i++) cursors[i] = place(&at, columns[i]);
  for (size_t i = 0; i < count; i++) {
    b->items[i].batch = b;
    if (is_sound)
      b->items[i] = (struct event_item){
          take_line(&cursors[0]), take_line(&cursors[1]), take_line(&cursors[2]), take_line(&cursors[3]), b, false};
    else
      event_batch_fail(&b->items[i], "the columns of the row do not go together");
  }
  if (!is_sound) b->next = count;
  return b;
}

void event_batch_free(struct event_batch *b)
{
  if (!b) return;
  mem_free(b->items);
  mem_free(b);
}

struct event_item *event_batch_next(struct event_batch *b) { return b->next < b->count ? &b->items[b->next++] : NULL; }

void event_batch_fail(struct event_item *item, const char *fault)
{
  if (item->is_failed) return;
  item->is_failed = true;
  item->batch->failed++;
  item->batch->fault = fault;
}

void event_header_encode(const char *text, char *out, size_t out_size)
{
  static const char hex[] = "0123456789ABCDEF";
  size_t used = 0;
  for (const unsigned char *c = (const unsigned char *)text; *c != '\0'; c++) {
    bool is_plain = *c > 0x20 && *c < 0x7f && *c != '"' && *c != '%';
    if (used + (is_plain ? 1 : 3) >= out_size) break;
    if (is_plain) {
      out[used++] = (char)*c;
      continue;
    }
    out[used++] = '%';
    out[used++] = hex[*c >> 4];
    out[used++] = hex[*c & 15];
  }
  out[used] = '\0';
}
