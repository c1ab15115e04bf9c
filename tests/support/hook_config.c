// SPDX-License-Identifier: Apache-2.0
// A configuration with webhook endpoints for a test; see hook_config.h.
#include "tests/support/hook_config.h"

#include <stdio.h>
#include <string.h>

#include "common/buf.h"
#include "common/mem.h"
#include "tests/support/provider_yaml.h"
#include "tests/support/support.h"

static const char provider[] =
    "  providers:\n"
    "    simulator:\n" SIMULATOR_ELSEWHERE SIMULATOR_DELIVER("") SIMULATOR_INQUIRE
    "      total_timeout: 2s\n"
    "      connect_timeout: 1s\n"
    "      not_found_after: 2s\n"
    "      ladder: [500ms, 2s]\n"
    "      attempts: 1000\n"
    "      breaker: { failure_ratio: 0 }\n"
    "    simulator-b: { base_url: 'http://127.0.0.1:1', repeat_is_safe: true, deliver: { path: /credits } }\n";

static void put_place(struct buf *out, const char **at, const char *dir, int port)
{
  if (strncmp(*at, "$PORT", 5) == 0) {
    buf_printf(out, "%d", port);
    *at += 5;
  } else if (strncmp(*at, "$DIR", 4) == 0) {
    buf_puts(out, dir);
    *at += 4;
  } else if (strncmp(*at, "$PROVIDER", 9) == 0) {
    buf_puts(out, provider);
    *at += 9;
  } else {
    buf_putc(out, *(*at)++);
  }
}

char *hook_config_write(const char *name, const char *text, int port)
{
  char *dir = support_log_dir(), *file = support_format("%s.yaml", name);
  struct buf out;
  buf_init(&out, 65536);
  while (*text != '\0') put_place(&out, &text, dir, port);
  char *path = support_write(file, SWEEPS_SOON "fulfiller:\n%s", buf_text(&out));
  buf_release(&out);
  mem_free(file);
  mem_free(dir);
  return path;
}

void hook_config_secret(const char *name, const char *content) { mem_free(support_write(name, "%s", content)); }
