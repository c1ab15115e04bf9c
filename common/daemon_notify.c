// SPDX-License-Identifier: Apache-2.0
// The notification protocol of systemd, without its library: datagrams to the socket that NOTIFY_SOCKET names.
// Owner: the daemon; loop thread.
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/daemon_internal.h"
#include "common/text.h"

static bool read_address(struct daemon_notify *n)
{
  const char *path = getenv("NOTIFY_SOCKET");
  if (path == NULL || (path[0] != '/' && path[0] != '@')) return false;
  size_t len = strlen(path);
  if (len < 2 || len >= sizeof n->address.sun_path) return false;
  n->address.sun_family = AF_UNIX;
  memcpy(n->address.sun_path, path, len);
  if (path[0] == '@') n->address.sun_path[0] = '\0';  // the abstract name space; its names have no end mark
  n->address_len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len);
  return true;
}

// Half of what the manager waits. WATCHDOG_PID names another process if the variables were inherited by mistake.
static struct span read_watchdog(void)
{
  const char *wait = getenv("WATCHDOG_USEC"), *pid = getenv("WATCHDOG_PID");
  int64_t wait_us, for_pid;
  if (wait == NULL || text_to_i64(wait, strlen(wait), &wait_us) != RESULT_OK || wait_us <= 0) return (struct span){0};
  if (pid != NULL && (text_to_i64(pid, strlen(pid), &for_pid) != RESULT_OK || for_pid != getpid()))
    return (struct span){0};
  return (struct span){wait_us / 2};
}

void daemon_notify_init(struct daemon_notify *n)
{
  *n = (struct daemon_notify){.fd = -1};
  if (!read_address(n)) return;
  n->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  n->watchdog = read_watchdog();
}

void daemon_notify_release(struct daemon_notify *n)
{
  if (n->fd >= 0) close(n->fd);
  n->fd = -1;
}

// A manager that does not listen is no reason to stop working, so failures are of no interest.
void daemon_notify_send(const struct daemon_notify *n, const char *message)
{
  if (n->fd < 0) return;
  ssize_t put;
  do put = sendto(n->fd, message, strlen(message), MSG_NOSIGNAL, (const struct sockaddr *)&n->address, n->address_len);
  while (put < 0 && errno == EINTR);
}

void daemon_notify_turn(struct daemon_notify *n, struct mono_time now)
{
  if (n->watchdog.us == 0 || mono_before(now, n->next_watchdog)) return;
  n->next_watchdog = mono_after(now, (struct span){n->watchdog.us / 2});
  daemon_notify_send(n, "WATCHDOG=1");
}
