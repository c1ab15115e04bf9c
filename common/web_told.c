// SPDX-License-Identifier: Apache-2.0
// Documents with texts for people, in the language of the request.
// Owner: the handler of the request; loop thread.
#include <string.h>

#include "common/jsonx.h"
#include "common/web_call.h"

static void tell(const struct web_request *req, json_t *item, const char *member)
{
  const char *english = json_string_value(json_object_get(item, member));
  struct buf text;
  if (english == NULL) return;
  buf_init(&text, WEB_REPLY_BYTES_MAX);
  web_put_text(&text, req, english);
  (void)json_object_set_new(item, member, json_string(buf_text(&text)));
  buf_release(&text);
}

void web_put_told(struct buf *b, const struct web_request *req, const char *json, const char *list, const char *member)
{
  json_t *document = NULL;
  if (!web_wants_chinese(req) || jsonx_parse(json, strlen(json), &document, NULL) != RESULT_OK) {
    buf_puts(b, json);
    return;
  }
  json_t *items = list != NULL ? json_object_get(document, list) : document;
  for (size_t i = 0; i < json_array_size(items); i++) tell(req, json_array_get(items, i), member);
  jsonx_write(document, b);
  json_decref(document);
}
