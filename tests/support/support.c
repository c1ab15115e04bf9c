// SPDX-License-Identifier: Apache-2.0
// Paths, ports, waiting and giving up for test programs; see support.h.
#include "tests/support/support.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/mem.h"

#define PORT_FIRST        12000
#define PORTS_PER_PROGRAM 50
#define PORT_BLOCKS       400
#define STALLED_MAX       0.75

void support_die(const char *format, ...)
{
  va_list args;
  va_start(args, format);
  fflush(stdout);
  fputs("test support: ", stderr);
  vfprintf(stderr, format, args);
  fputc('\n', stderr);
  va_end(args);
  _exit(70);  // without a leak check: what is open now is not what went wrong
}

char *support_format(const char *format, ...)
{
  char *text = NULL;
  va_list args;
  va_start(args, format);
  int len = vasprintf(&text, format, args);
  va_end(args);
  if (len < 0) support_die("out of memory");
  return text;
}

// The running program's path without its last `levels` parts.
static char *program_path(int levels)
{
  char path[PATH_MAX];
  ssize_t len = readlink("/proc/self/exe", path, sizeof path - 1);
  if (len <= 0) support_die("/proc/self/exe: %s", strerror(errno));
  path[len] = '\0';
  while (levels-- > 0) {
    char *slash = strrchr(path, '/');
    if (slash == NULL) break;
    *slash = '\0';
  }
  return mem_strdup(path);
}

// build/<variant>: the folder above tests/, tests/system/ or bench/.
static char *build_dir(void)
{
  for (int levels = 2; levels < 5; levels++) {
    char *dir = program_path(levels);
    char *obj = support_format("%s/obj", dir);
    bool found = access(obj, F_OK) == 0;
    mem_free(obj);
    if (found) return dir;
    mem_free(dir);
  }
  support_die("this program does not lie in build/<variant>/");
}

char *support_root(void)
{
  const char *given = getenv("LARGESSE_ROOT");
  if (given != NULL && *given != '\0') return mem_strdup(given);
  for (int levels = 1; levels < 8; levels++) {
    char *dir = program_path(levels);
    char *marker = support_format("%s/tests/support/stack.sh", dir);
    bool found = access(marker, F_OK) == 0;
    mem_free(marker);
    if (found) return dir;
    mem_free(dir);
  }
  support_die("cannot find the checkout: set LARGESSE_ROOT");
}

char *support_bin(const char *name)
{
  const char *given = getenv("LARGESSE_BIN");
  if (given != NULL && *given != '\0') return support_format("%s/%s", given, name);
  char *dir = build_dir();
  char *path = support_format("%s/bin/%s", dir, name);
  mem_free(dir);
  return path;
}

char *support_log_dir(void)
{
  char *program = program_path(0);
  char *dir = build_dir();
  char *parent = support_format("%s/log", dir);
  char *path = support_format("%s/%s", parent, strrchr(program, '/') + 1);
  if ((mkdir(parent, 0755) != 0 && errno != EEXIST) || (mkdir(path, 0755) != 0 && errno != EEXIST))
    support_die("%s: %s", path, strerror(errno));
  mem_free(program);
  mem_free(dir);
  mem_free(parent);
  return path;
}

char *support_write(const char *name, const char *format, ...)
{
  char *dir = support_log_dir(), *path = support_format("%s/%s", dir, name);
  va_list args;
  va_start(args, format);
  (void)unlink(path);
  int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  FILE *f = fd >= 0 ? fdopen(fd, "w") : NULL;
  if (f == NULL || vfprintf(f, format, args) < 0 || fclose(f) != 0) support_die("cannot write %s", path);
  va_end(args);
  mem_free(dir);
  return path;
}

static bool can_bind(int port)
{
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) support_die("socket: %s", strerror(errno));
  int on = 1;
  (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  struct sockaddr_in a = {
      .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr = {htonl(INADDR_LOOPBACK)}};
  bool free_port = bind(fd, (struct sockaddr *)&a, sizeof a) == 0;
  (void)close(fd);
  return free_port;
}

int support_free_port(int *next_offset)
{
  int first = PORT_FIRST + (getpid() % PORT_BLOCKS) * PORTS_PER_PROGRAM;
  for (int tries = 0; tries < 20000; tries++) {
    int port = PORT_FIRST + (first - PORT_FIRST + (*next_offset)++) % (PORT_BLOCKS * PORTS_PER_PROGRAM);
    if (can_bind(port)) return port;
  }
  support_die("no free port");
}

double support_now(void)
{
  struct timespec t;
  (void)clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

void support_sleep(double seconds)
{
  struct timespec t = {.tv_sec = (time_t)seconds};
  t.tv_nsec = (long)((seconds - (double)t.tv_sec) * 1e9);
  while (nanosleep(&t, &t) != 0 && errno == EINTR) {}
}

// Seconds since the machine's start in which at least one process waited for what `of` names.
static double pressure(const char *of)
{
  char path[64], line[128] = "";
  (void)snprintf(path, sizeof path, "/proc/pressure/%s", of);
  FILE *f = fopen(path, "re");
  if (f == NULL) return 0;
  const char *total = fgets(line, sizeof line, f) != NULL ? strstr(line, "total=") : NULL;
  (void)fclose(f);
  return total != NULL ? strtod(total + strlen("total="), NULL) / 1e6 : 0;
}

struct stopwatch stopwatch_start(void)
{
  return (struct stopwatch){.begin = support_now(), .stalled = pressure("cpu") + pressure("io")};
}

double stopwatch_seconds(const struct stopwatch *w)
{
  double elapsed = support_now() - w->begin, stalled = pressure("cpu") + pressure("io") - w->stalled;
  return elapsed - (stalled < STALLED_MAX * elapsed ? stalled : STALLED_MAX * elapsed);
}

double stopwatch_slowness(const struct stopwatch *w)
{
  double elapsed = support_now() - w->begin, counted = stopwatch_seconds(w);
  return counted > 0 && elapsed > counted ? elapsed / counted : 1;
}

struct waiting waiting_start(double seconds)
{
  return (struct waiting){.watch = stopwatch_start(), .seconds = seconds, .step = 0.005};
}

double waiting_patience(double seconds)
{
  double longer = 4 * seconds < 60 ? 4 * seconds : 60;
  return longer > seconds ? longer : seconds;
}

bool waiting_more(struct waiting *w)
{
  if (stopwatch_seconds(&w->watch) >= w->seconds) return false;
  support_sleep(w->step);
  if (w->step < 0.1) w->step *= 1.5;
  return true;
}

bool wait_until(bool (*holds)(void *ctx), void *ctx, double seconds)
{
  struct waiting w = waiting_start(seconds);
  bool held;
  while (!(held = holds(ctx)) && waiting_more(&w)) {}
  return held;
}
