// SPDX-License-Identifier: Apache-2.0
// A configuration with webhook endpoints for a test; see hook_config.h.
#include "tests/support/hook_config.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/mem.h"
#include "tests/support/support.h"

static const char provider[] =
    "  providers:\n"
    "    simulator:\n"
    "      base_url: http://127.0.0.1:1\n"
    "      request_id_header: Idempotency-Key\n"
    "      deliver:\n"
    "        path: /credits\n"
    "        body: '{\"requestId\": \"${claim.requestId}\", \"userId\": \"${claim.userId}\", \"rewardCode\": "
    "\"${reward.code}\","
    " \"amount\": ${reward.amount}, \"currency\": ${reward.currency}, \"quantity\": ${claim.quantity}}'\n"
    "        answers: {'2xx /status=SUCCESS': done, '2xx /status=PENDING': pending, '2xx': unknown}\n"
    "      inquire: { path: '/credits/${claim.requestId}' }\n"
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

static void write_file(const char *path, const char *content, mode_t mode)
{
  (void)unlink(path);
  int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);
  if (fd < 0 || write(fd, content, strlen(content)) != (ssize_t)strlen(content) || close(fd) != 0)
    support_die("cannot write %s", path);
}

char *hook_config_write(const char *name, const char *text, int port)
{
  char *dir = support_log_dir(), *path = support_format("%s/%s.yaml", dir, name);
  struct buf out;
  buf_init(&out, 65536);
  buf_puts(&out, "scheduler:\n  claims: { sweep_after: 2s }\n  sweep: { every: 200ms, base: 1s }\nfulfiller:\n");
  while (*text != '\0') put_place(&out, &text, dir, port);
  write_file(path, buf_text(&out), 0644);
  buf_release(&out);
  mem_free(dir);
  return path;
}

void hook_config_secret(const char *name, const char *content)
{
  char *dir = support_log_dir(), *path = support_format("%s/%s", dir, name);
  write_file(path, content, 0600);
  mem_free(path);
  mem_free(dir);
}
