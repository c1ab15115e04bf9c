// SPDX-License-Identifier: Apache-2.0
// Files of lines, compressed with gzip: see gzip_file.h.
// Owner: the caller; blocking.
#include "common/gzip_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "common/contract.h"
#include "common/mem.h"

#define CHUNK_BYTES (256u * 1024u)
#define MODE        0640

struct gzip_writer {
  int fd;  // of its own, so that what zlib leaves at its end can be synced
  gzFile gz;
  bool is_broken;
  int error;  // of what broke it
};

struct gzip_reader {
  gzFile gz;
  char *chunk;
  size_t at, len;
  bool is_begun;
};

static enum result no_file(const char *verb, const char *path, char out_why[GZIP_WHY_BYTES])
{
  (void)snprintf(out_why, GZIP_WHY_BYTES, "cannot %s %.180s: %s", verb, path, strerror(errno));
  return RESULT_UNAVAILABLE;
}

// --- writing

enum result gzip_writer_open(const char *path, struct gzip_writer **out_writer, char out_why[GZIP_WHY_BYTES])
{
  int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, MODE);
  if (fd < 0) return no_file("create", path, out_why);
  int twin = fcntl(fd, F_DUPFD_CLOEXEC, 0);
  gzFile gz = twin >= 0 ? gzdopen(twin, "wb6") : NULL;
  if (gz == NULL) {
    enum result result = no_file("write", path, out_why);
    if (twin >= 0) (void)close(twin);
    (void)close(fd);
    return result;
  }
  (void)gzbuffer(gz, CHUNK_BYTES);
  struct gzip_writer *w = MEM_NEW(struct gzip_writer);
  *w = (struct gzip_writer){.fd = fd, .gz = gz};
  *out_writer = w;
  return RESULT_OK;
}

// The first fault counts; errno tells.
static void break_off(struct gzip_writer *w)
{
  if (!w->is_broken) w->error = errno;
  w->is_broken = true;
}

void gzip_writer_put(struct gzip_writer *w, const void *bytes, size_t len)
{
  const char *from = bytes;
  while (len > 0 && !w->is_broken) {
    unsigned n = len > CHUNK_BYTES ? CHUNK_BYTES : (unsigned)len;
    if (gzwrite(w->gz, from, n) != (int)n) break_off(w);
    from += n;
    len -= n;
  }
}

enum result gzip_writer_end(struct gzip_writer *w, char out_why[GZIP_WHY_BYTES])
{
  if (gzclose_w(w->gz) != Z_OK) break_off(w);
  if (!w->is_broken && fsync(w->fd) != 0) break_off(w);
  if (close(w->fd) != 0) break_off(w);
  bool is_whole = !w->is_broken;
  int error = w->error;
  mem_free(w);
  if (is_whole) return RESULT_OK;
  (void)snprintf(out_why, GZIP_WHY_BYTES, "cannot write: %s", strerror(error));
  return RESULT_UNAVAILABLE;
}

void gzip_writer_free(struct gzip_writer *w)
{
  if (w == NULL) return;
  (void)gzclose_w(w->gz);
  (void)close(w->fd);
  mem_free(w);
}

// --- reading

enum result gzip_reader_open(const char *path, struct gzip_reader **out_reader, char out_why[GZIP_WHY_BYTES])
{
  gzFile gz = gzopen(path, "rbe");
  if (gz == NULL) return no_file("read", path, out_why);
  (void)gzbuffer(gz, CHUNK_BYTES);
  struct gzip_reader *r = MEM_NEW(struct gzip_reader);
  *r = (struct gzip_reader){.gz = gz, .chunk = mem_resize(NULL, CHUNK_BYTES, 1)};
  *out_reader = r;
  return RESULT_OK;
}

static enum result damaged(const char *what, char out_why[GZIP_WHY_BYTES])
{
  (void)snprintf(out_why, GZIP_WHY_BYTES, "%s", what);
  return RESULT_INVALID;
}

// zlib puts the file's path in front of what it says; whoever is told knows it.
static const char *without_path(const char *message)
{
  for (const char *colon; (colon = strstr(message, ": ")) != NULL;) message = colon + 2;
  return message[0] != '\0' ? message : "damaged";
}

static enum result read_chunk(struct gzip_reader *r, char out_why[GZIP_WHY_BYTES])
{
  int n = gzread(r->gz, r->chunk, CHUNK_BYTES), code = Z_OK;
  const char *message = gzerror(r->gz, &code);
  if (!r->is_begun && gzdirect(r->gz) != 0) return damaged("it is not compressed with gzip", out_why);
  r->is_begun = true;
  if (n < 0 || (code != Z_OK && code != Z_STREAM_END)) return damaged(without_path(message), out_why);
  r->at = 0;
  r->len = (size_t)n;
  return n > 0 ? RESULT_OK : RESULT_NOT_FOUND;
}

enum result gzip_reader_line(struct gzip_reader *r, struct buf *line, char out_why[GZIP_WHY_BYTES])
{
  buf_clear(line);
  for (;;) {
    if (r->at == r->len) {
      enum result result = read_chunk(r, out_why);
      if (result == RESULT_NOT_FOUND && line->len > 0) return damaged("its last line has no end", out_why);
      if (result != RESULT_OK) return result;
    }
    const char *from = r->chunk + r->at, *end = memchr(from, '\n', r->len - r->at);
    size_t n = end != NULL ? (size_t)(end - from) : r->len - r->at;
    buf_append(line, from, n);
    r->at += n + (end != NULL);
    if (buf_result(line) != RESULT_OK) return RESULT_TOO_BIG;
    if (end != NULL) return RESULT_OK;
  }
}

void gzip_reader_free(struct gzip_reader *r)
{
  if (r == NULL) return;
  (void)gzclose_r(r->gz);
  mem_free(r->chunk);
  mem_free(r);
}
