// SPDX-License-Identifier: Apache-2.0
// Callbacks for unit tests: a profile out of a few lines of YAML, keys made in memory, requests with a list of headers.
// Owner: unit tests.
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include <cmocka.h>

#include "common/mem.h"
#include "common/text.h"
#include "fulfiller/callback_read.h"

#define FIXTURE_NOW_S   1764417600  // 2025-11-29T12:00:00Z
#define FIXTURE_SECRET  "the secret of the provider"
#define FIXTURE_HEADERS 8
#define FIXTURE_YAML_HEAD \
  "fulfiller:\n  providers:\n    p:\n      base_url: http://127.0.0.1\n      deliver: {path: /x}\n"

// A configuration whose only provider has these lines, six spaces deep. Ends the test if it has a fault.
static inline struct fulfiller_conf *fixture_conf(const char *lines)
{
  void *conf = NULL;
  struct conf_fault fault;
  char yaml[4096];
  snprintf(yaml, sizeof yaml, FIXTURE_YAML_HEAD "%s", lines);
  if (conf_parse(fulfiller_conf_table(), "test.yaml", yaml, strlen(yaml), &conf, &fault) != RESULT_OK)
    fail_msg("%s", fault.text);
  return conf;
}

static inline const struct provider_conf *fixture_provider(const struct fulfiller_conf *conf)
{
  return conf->providers.items[0].block;
}

struct fixture {
  struct signature *signature;
  struct fulfiller_conf *conf;
  struct callback_profile profile;
  struct callback_keys keys;
  struct http_header headers[FIXTURE_HEADERS];
  size_t header_count;
  const char *content_type;
  struct callback_event event;
  const char *why;
};

static inline struct fixture fixture_new(const char *lines)
{
  struct fixture f = {.signature = signature_new(), .conf = fixture_conf(lines), .content_type = "application/json"};
  struct conf_fault fault;
  if (callback_profile_compile(fixture_provider(f.conf), &f.profile, &fault) != RESULT_OK) fail_msg("%s", fault.text);
  return f;
}

static inline void fixture_add_secret(struct fixture *f, const char *name, const char *secret)
{
  f->keys.items[f->keys.count].name = mem_strdup(name);
  f->keys.secrets[f->keys.count++] = (struct signature_secret){mem_strdup(secret), strlen(secret)};
}

static inline void fixture_add_key(struct fixture *f, const char *name, const char *pem)
{
  f->keys.items[f->keys.count].name = mem_strdup(name);
  assert_int_equal(signature_key_public(pem, strlen(pem), &f->keys.items[f->keys.count++].rsa), RESULT_OK);
}

static inline void fixture_free(struct fixture *f)
{
  callback_keys_release(&f->keys);
  conf_free(fulfiller_conf_table(), f->conf);
  signature_free(f->signature);
}

// Borrowed until the next reading. Setting one again replaces it; NULL takes it away.
static inline void fixture_header(struct fixture *f, const char *name, const char *value)
{
  size_t at = 0;
  while (at < f->header_count && strcasecmp(f->headers[at].name, name) != 0) at++;
  assert_true(at < FIXTURE_HEADERS);
  f->headers[at] = (struct http_header){name, value};
  if (at == f->header_count) f->header_count++;
}

static inline const char *fixture_find(const void *ctx, const char *name)
{
  const struct fixture *f = ctx;
  for (size_t i = 0; i < f->header_count; i++) {
    if (strcasecmp(f->headers[i].name, name) == 0) return f->headers[i].value;
  }
  return NULL;
}

static inline enum result fixture_read(struct fixture *f, const char *body, size_t len, int64_t now_s)
{
  const struct callback_request r = {
      .content_type = f->content_type, .body = body, .body_len = len, .header = fixture_find, .ctx = f};
  f->why = NULL;
  enum result result =
      callback_read(&f->profile, &f->keys, f->signature, &r, (struct wall_time){now_s * 1000000}, &f->event, &f->why);
  if (result != RESULT_OK) assert_non_null(f->why);
  return result;
}
