// SPDX-License-Identifier: Apache-2.0
// A compiled provider for unit tests: out of YAML in which @NAME@ stands for a secret file of a folder of its own, with
// fixed moment and nonce. Owner: unit tests.
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/mem.h"
#include "fulfiller/provider.h"

#define PROVIDER_FIXTURE_FILES 4

static const struct render_moment fixture_moment = {.now = {INT64_C(1795953600123456)},  // 2026-11-29T12:00:00Z
                                                    .nonce = "593bec0c930bf1afeb40b4a08c8fb242"};

struct provider_fixture {
  char folder[64];
  char *paths[PROVIDER_FIXTURE_FILES];
  size_t path_count;
  struct fulfiller_conf *conf;
  struct provider provider;
  struct provider_call call;
};

static inline void provider_fixture_begin(struct provider_fixture *f)
{
  *f = (struct provider_fixture){.folder = "/tmp/test_provider_XXXXXX"};
  assert_non_null(mkdtemp(f->folder));
  provider_call_init(&f->call);
}

static inline void provider_fixture_file(struct provider_fixture *f, const char *name, const char *content)
{
  char *path = NULL;
  assert_true(f->path_count < PROVIDER_FIXTURE_FILES);
  assert_true(asprintf(&path, "%s/%s", f->folder, name) > 0);
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  assert_true(fputs(content, file) >= 0);
  assert_int_equal(fclose(file), 0);
  assert_int_equal(chmod(path, 0600), 0);
  f->paths[f->path_count++] = path;
}

// @ in the YAML is the folder of the secret files.
static inline void provider_fixture_compile(struct provider_fixture *f, const char *yaml)
{
  struct conf_fault fault = {.text = ""};
  void *conf = NULL;
  struct buf text;
  buf_init(&text, 64 * 1024);
  for (const char *c = yaml; *c != '\0'; c++) {
    if (*c == '@')
      buf_puts(&text, f->folder);
    else
      buf_putc(&text, *c);
  }
  if (conf_parse(fulfiller_conf_table(), "x.yaml", buf_text(&text), text.len, &conf, &fault) != RESULT_OK)
    fail_msg("%s", fault.text);
  buf_release(&text);
  f->conf = conf;
  const struct conf_entry *entry = &f->conf->providers.items[0];
  if (provider_compile(entry->name, entry->block, &f->provider, &fault) != RESULT_OK) fail_msg("%s", fault.text);
  if (provider_load_keys(&f->provider, &f->provider.conf->secrets, &fault) != RESULT_OK) fail_msg("%s", fault.text);
}

static inline const char *provider_fixture_header(const struct provider_fixture *f, const char *name)
{
  for (size_t i = 0; i < f->call.request.header_count; i++) {
    if (strcmp(f->call.request.headers[i].name, name) == 0) return f->call.request.headers[i].value;
  }
  return NULL;
}

static inline void provider_fixture_render(struct provider_fixture *f, enum provider_action action, enum call_kind kind,
                                           const struct claim_facts *facts)
{
  assert_int_equal(provider_render_at(&f->provider, action, kind, facts, "", &fixture_moment, &f->call), RESULT_OK);
}

static inline void provider_fixture_end(struct provider_fixture *f)
{
  for (size_t i = 0; i < f->path_count; i++) {
    unlink(f->paths[i]);
    free(f->paths[i]);
  }
  assert_int_equal(rmdir(f->folder), 0);
  provider_call_release(&f->call);
  provider_release(&f->provider);
  conf_free(fulfiller_conf_table(), f->conf);
}
