// SPDX-License-Identifier: Apache-2.0
// Documents with texts for people, in the language of the request.
// Owner: the handler of the request; loop thread.
#include <stdio.h>
#include <string.h>

#include "common/jsonx.h"
#include "common/web_call.h"

static void tell(const struct web_request *req, json_t *item, const char *member)
{
  char outer[32];
  struct buf text;
  const char *point = strchr(member, '.');
  if (point != NULL) {
    (void)snprintf(outer, sizeof outer, "%.*s", (int)(point - member), member);
    tell(req, json_object_get(item, outer), point + 1);
    return;
  }
  const char *english = json_string_value(json_object_get(item, member));
  if (english == NULL) return;
  buf_init(&text, WEB_REPLY_BYTES_MAX);
  web_put_text(&text, req, english);
  (void)json_object_set_new(item, member, json_string(buf_text(&text)));
  buf_release(&text);
}

static void tell_members(const struct web_request *req, json_t *item, const char *const *members)
{
  for (; *members != NULL; members++) tell(req, item, *members);
}

void web_put_told(struct buf *b, const struct web_request *req, const char *json, size_t len,
                  const struct web_told *told)
{
  json_t *document = NULL;
  if (told == NULL || !web_wants_chinese(req) || jsonx_parse(json, len, &document, NULL) != RESULT_OK) {
    buf_append(b, json, len);
    return;
  }
  json_t *place = told->at[0] == '\0' ? document : (json_t *)(uintptr_t)jsonx_pointer(document, told->at);
  for (size_t i = 0; i < json_array_size(place); i++) tell_members(req, json_array_get(place, i), told->members);
  tell_members(req, place, told->members);
  jsonx_write(document, b);
  json_decref(document);
}

void web_reply_told(struct web_request *req, int status, const char *json, size_t len, const struct web_told *told)
{
  struct buf b;
  if (told == NULL) {
    web_reply_json(req, status, json, len);
    return;
  }
  buf_init(&b, WEB_REPLY_BYTES_MAX);
  web_put_told(&b, req, json, len, told);
  web_reply_language(req);
  web_reply_json(req, status, buf_text(&b), b.len);
  buf_release(&b);
}
