// SPDX-License-Identifier: Apache-2.0
// Keeps what daemons answered; see exchange.h. Each line is written by one call, so that whole lines are read later.
#include "tests/support/exchange.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/mem.h"
#include "tests/support/support.h"

#define FILE_BYTES_MAX (16 * 1024)  // of one kind of calls
#define BODY_BYTES_MAX (64 * 1024)

static const char *folder(void)
{
  const char *given = getenv("LARGESSE_TEST_EXCHANGES");
  return given == NULL || *given == '\0' ? NULL : given;
}

// Programs that run one after the other may have the same port for something else.
static void port_path(int port, char out_path[PATH_MAX])
{
  (void)snprintf(out_path, PATH_MAX, "%s/port-%s-%d", folder(), program_invocation_short_name, port);
}

void exchange_daemon(int port, const char *name)
{
  char path[PATH_MAX];
  if (folder() == NULL) return;
  port_path(port, path);
  int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (fd < 0 || write(fd, name, strlen(name)) != (ssize_t)strlen(name) || close(fd) != 0)
    support_die("cannot write %s: %s", path, strerror(errno));
}

// False: no daemon was started there.
static bool daemon_at(int port, char out_name[32])
{
  char path[PATH_MAX];
  port_path(port, path);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  ssize_t len = read(fd, out_name, 31);
  (void)close(fd);
  out_name[len > 0 ? len : 0] = '\0';
  return len > 0;
}

// Where in the API: the second segment, how many there are, and the last one if it looks like a word of the API.
static void place_of(const char *path, char out_place[80])
{
  const char *end = path + strcspn(path, "?"), *second = path, *last = path;
  int segments = 0;
  for (const char *p = path; p < end; p++) {
    if (*p != '/') continue;
    last = p + 1;
    if (++segments == 2) second = p + 1;
  }
  size_t word = strspn(last, "abcdefghijklmnopqrstuvwxyz-");
  bool is_word = last + word == end && word <= 20;
  (void)snprintf(out_place, 80, "%.*s-%d-%.*s", (int)strspn(second, "abcdefghijklmnopqrstuvwxyz-") % 30, second,
                 segments, is_word ? (int)word : 0, last);
}

// Open for one more line; -1 if there are enough of this kind.
static int open_kind(const char *program, const char *daemon, const char *method, int status, const char *place)
{
  char path[PATH_MAX];
  struct stat found;
  (void)snprintf(path, sizeof path, "%s/%s-%s-%.10s-%d-%s.jsonl", folder(), program, daemon, method, status, place);
  int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (fd < 0) support_die("cannot write %s: %s", path, strerror(errno));
  if (fstat(fd, &found) == 0 && found.st_size < FILE_BYTES_MAX) return fd;
  (void)close(fd);
  return -1;
}

static json_t *text(const char *bytes, size_t len)
{
  json_t *value = bytes != NULL && len <= BODY_BYTES_MAX ? json_stringn(bytes, len) : NULL;
  return value != NULL ? value : json_null();
}

static void write_line(int fd, json_t *exchange)
{
  char *dumped = json_dumps(exchange, JSON_COMPACT);
  char *line = support_format("%s\n", dumped);
  if (write(fd, line, strlen(line)) != (ssize_t)strlen(line)) support_die("cannot keep an exchange");
  mem_free(line);
  free(dumped);
}

void exchange_keep(int port, const struct http_request *r, const struct http_answer *a)
{
  char daemon[32], place[80];
  if (folder() == NULL || a->status == 0 || !daemon_at(port, daemon)) return;
  const char *method = r->method != NULL ? r->method : r->body != NULL ? "POST" : "GET";
  const char *program = program_invocation_short_name;
  place_of(r->path, place);
  int fd = open_kind(program, daemon, method, a->status, place);
  if (fd < 0) return;
  json_t *exchange = json_object();
  json_object_set_new(exchange, "test", json_string(program));
  json_object_set_new(exchange, "daemon", json_string(daemon));
  json_object_set_new(exchange, "method", json_string(method));
  json_object_set_new(exchange, "path", text(r->path, strlen(r->path)));
  json_object_set_new(exchange, "status", json_integer(a->status));
  json_object_set_new(exchange, "head", text(a->head, strlen(a->head)));
  json_object_set_new(exchange, "body", text(a->body, a->body_len));
  json_object_set_new(exchange, "sentHeaders", text(r->headers, r->headers != NULL ? strlen(r->headers) : 0));
  json_object_set_new(exchange, "sent",
                      text(r->body, r->body == NULL   ? 0
                                    : r->body_len > 0 ? r->body_len
                                                      : strlen(r->body)));
  write_line(fd, exchange);
  json_decref(exchange);
  (void)close(fd);
}
