// SPDX-License-Identifier: Apache-2.0
// Being called back; see listener.h.
// Blocking; for test programs.
#include "tests/support/listener.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/mem.h"
#include "common/text.h"
#include "tests/support/support.h"

#define REQUEST_BYTES_MAX (1024 * 1024)

int listener_open(int *out_port)
{
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t len = sizeof address;
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof address) != 0 || listen(fd, 64) != 0 ||
      getsockname(fd, (struct sockaddr *)&address, &len) != 0) {
    support_die("cannot listen: %s", strerror(errno));
  }
  *out_port = ntohs(address.sin_port);
  return fd;
}

static bool request_is_complete(const struct buf *b)
{
  const char *end = strstr(buf_text(b), "\r\n\r\n"), *length = strcasestr(buf_text(b), "\r\nContent-Length: ");
  if (end == NULL) return false;
  if (length == NULL) support_die("called back without a Content-Length: %s", buf_text(b));
  length += strlen("\r\nContent-Length: ");
  uint64_t n = 0;
  if (text_to_u64(length, strcspn(length, "\r"), &n) != RESULT_OK) support_die("called back with a bad Content-Length");
  return b->len >= (size_t)(end + 4 - buf_text(b)) + n;
}

bool listener_take(int listener, int timeout_ms, struct callback *out)
{
  static const char done[] = "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n";
  struct pollfd wait = {.fd = listener, .events = POLLIN};
  if (poll(&wait, 1, timeout_ms) != 1) return false;
  int fd = accept(listener, NULL, NULL);
  char chunk[4096];
  buf_init(&out->bytes, REQUEST_BYTES_MAX);
  while (!request_is_complete(&out->bytes)) {
    ssize_t n = recv(fd, chunk, sizeof chunk, 0);
    if (n <= 0) support_die("a callback broke off after: %s", buf_text(&out->bytes));
    buf_append(&out->bytes, chunk, (size_t)n);
  }
  if (send(fd, done, sizeof done - 1, MSG_NOSIGNAL) < 0) support_die("cannot answer a callback: %s", strerror(errno));
  (void)close(fd);
  out->body = strstr(buf_text(&out->bytes), "\r\n\r\n") + 4;
  out->json = json_loads(out->body, 0, NULL);
  if (out->json == NULL) support_die("a callback's body is no JSON: %s", out->body);
  return true;
}

void callback_release(struct callback *c)
{
  json_decref(c->json);
  buf_release(&c->bytes);
}

bool callback_is(const struct callback *c, const char *name, const char *expected)
{
  const char *value = json_string_value(json_object_get(c->json, name));
  return value != NULL && strcmp(value, expected) == 0;
}

char *callback_header(const struct callback *c, const char *name)
{
  char *mark = support_format("\r\n%s: ", name);
  const char *at = strcasestr(buf_text(&c->bytes), mark);
  char *value = at == NULL ? NULL : mem_strndup(at + strlen(mark), strcspn(at + strlen(mark), "\r"));
  mem_free(mark);
  return value;
}
