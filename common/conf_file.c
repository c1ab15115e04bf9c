// SPDX-License-Identifier: Apache-2.0
// Reads configuration and secret files, bounded.
// Blocking; at start and on reload only.
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/conf_internal.h"
#include "common/limits.h"

static enum result result_of_errno(void)
{
  if (errno == ENOENT || errno == ENOTDIR) return RESULT_NOT_FOUND;
  return errno == EACCES || errno == EPERM ? RESULT_DENIED : RESULT_IO;
}

static enum result check_file(int fd, size_t max_bytes, bool is_secret)
{
  struct stat info;
  if (fstat(fd, &info) != 0) return RESULT_IO;
  if (S_ISDIR(info.st_mode)) return RESULT_INVALID;
  // A pipe is fine for a configuration, but nothing with other readers is for a secret.
  if (is_secret && (!S_ISREG(info.st_mode) || (info.st_mode & S_IROTH) != 0)) return RESULT_CONFLICT;
  if (S_ISREG(info.st_mode) && (uint64_t)info.st_size > max_bytes) return RESULT_TOO_BIG;
  return RESULT_OK;
}

enum result conf_read_file(const char *path, size_t max_bytes, bool is_secret, struct buf *out)
{
  enum result result = RESULT_OK;
  struct buf content;
  buf_init(&content, max_bytes);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return result_of_errno();
  TRY(check_file(fd, max_bytes, is_secret));
  for (;;) {
    char chunk[4096];
    ssize_t n = read(fd, chunk, sizeof(chunk));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) TRY(RESULT_IO);
    if (n == 0) break;
    buf_append(&content, chunk, (size_t)n);
    TRY(buf_result(&content));
  }
  if (is_secret && content.len > 0 && content.data[content.len - 1] == '\n') content.len--;
  if (is_secret && content.len == 0) TRY(RESULT_INVALID);
  if (content.len > out->max - out->len) TRY(RESULT_TOO_BIG);
  buf_append(out, content.data, content.len);
cleanup:
  if (is_secret)
    buf_wipe(&content);
  else
    buf_release(&content);
  close(fd);
  return result;
}

enum result conf_read_secret(const char *path, struct buf *out)
{
  return conf_read_file(path, CONF_SECRET_BYTES_MAX, true, out);
}

const char *conf_secret_why(enum result result)
{
  switch (result) {
    case RESULT_NOT_FOUND: return "is not there";
    case RESULT_DENIED: return "may not be read by this user";
    case RESULT_CONFLICT: return "may be read by everybody, or is no plain file";
    case RESULT_INVALID: return "is empty or a folder";
    case RESULT_TOO_BIG: return "is larger than 64 KiB";
    default: return "cannot be read";
  }
}
