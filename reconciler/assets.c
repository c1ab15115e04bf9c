// SPDX-License-Identifier: Apache-2.0
// The operator console's files, embedded at build: the page at / and what it loads. No data is in them.
// Owner: web routes; loop thread.
#include "reconciler/assets.h"

#include <string.h>

#include "common/web.h"

struct asset {
  const char *name, *type;
  const unsigned char *plain;
  size_t plain_len;
  const unsigned char *gzip;
  size_t gzip_len;
};

#include "assets.inc"

#define PAGE "index.html"
#define TAG  "\"" ASSETS_VERSION "\""

static const struct asset *find(const char *name)
{
  for (size_t i = 0; i < ARRAY_LEN(assets); i++)
    if (strcmp(assets[i].name, name) == 0) return &assets[i];
  return NULL;
}

// "gzip" as a whole word that is not refused by a weight of 0.
static bool takes_gzip(const char *accepted)
{
  const char *at = accepted != NULL ? strstr(accepted, "gzip") : NULL;
  if (at == NULL || (at > accepted && strchr(" ,\t", at[-1]) == NULL)) return false;
  at += strlen("gzip");
  at += strspn(at, " \t");
  if (*at == '\0' || *at == ',') return true;
  if (*at != ';') return false;
  at += 1 + strspn(at + 1, " \t");
  return strncmp(at, "q=0", 3) != 0 || (at[3] == '.' && strspn(at + 4, "0") < strcspn(at + 4, ", \t"));
}

static bool is_known(const char *if_none_match)
{
  return if_none_match != NULL && (strcmp(if_none_match, "*") == 0 || strstr(if_none_match, TAG) != NULL);
}

static void answer(struct web_request *web, const struct asset *asset, const char *caching)
{
  web_reply_header(web, "Cache-Control", caching);
  web_reply_header(web, "ETag", TAG);
  web_reply_header(web, "Vary", "Accept-Encoding");
  if (is_known(web_header(web, "If-None-Match"))) {
    web_reply_empty(web, 304);
  } else if (takes_gzip(web_header(web, "Accept-Encoding"))) {
    web_reply_header(web, "Content-Encoding", "gzip");
    web_reply(web, 200, asset->type, (const char *)asset->gzip, asset->gzip_len);
  } else {
    web_reply(web, 200, asset->type, (const char *)asset->plain, asset->plain_len);
  }
}

void assets_page(struct web_request *web) { answer(web, find(PAGE), "no-cache"); }

void assets_file(struct web_request *web)
{
  const struct asset *asset = find(web_param(web, "file"));
  if (asset == NULL || strcmp(asset->name, PAGE) == 0 || strcmp(web_param(web, "version"), ASSETS_VERSION) != 0)
    web_reply_problem(
        web, &(struct web_problem){
                 .code = "NOT_FOUND", .status = 404, .detail = "no such file in this build; load the page again"});
  else
    answer(web, asset, "public, max-age=31536000, immutable");
}
