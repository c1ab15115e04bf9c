// SPDX-License-Identifier: Apache-2.0
// Children of test programs; see process.h.
#include "tests/support/process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/mem.h"
#include "tests/support/http.h"
#include "tests/support/support.h"

#define LOG_READ_MAX (64u * 1024 * 1024)

struct process {
  pid_t pid;   // 0 once it was reaped
  int status;  // as process_wait returns it
  char *name;
  char *log;
  int ready_port;
  char *ready_path;
  double ready_seconds;
};

int process_port(const struct process *p) { return p->ready_port; }

// Is NAME of entry ("NAME=value") set by one of list, from index `from` on?
static bool is_set_in(const char *const *list, size_t from, const char *entry)
{
  size_t name_len = strcspn(entry, "=") + 1;
  for (size_t i = from; list != NULL && list[i] != NULL; i++)
    if (strncmp(list[i], entry, name_len) == 0) return true;
  return false;
}

// This program's environment with `more` on top, each name once, the last one wins; entries are borrowed, the array is
// the caller's.
static const char **merge_environment(const char *const *more)
{
  size_t old_count = 0, more_count = 0, n = 0;
  while (environ[old_count] != NULL) old_count++;
  while (more != NULL && more[more_count] != NULL) more_count++;
  const char **env = MEM_ARRAY(const char *, old_count + more_count + 1);
  for (size_t i = 0; i < old_count; i++)
    if (!is_set_in(more, 0, environ[i])) env[n++] = environ[i];
  for (size_t i = 0; i < more_count; i++)
    if (!is_set_in(more, i + 1, more[i])) env[n++] = more[i];
  return env;
}

NO_RETURN static void become(const char *const *argv, const char *const *env, pid_t parent, int death_signal, int out,
                             int err)
{
  sigset_t none;
  sigemptyset(&none);
  (void)sigprocmask(SIG_SETMASK, &none, NULL);
  (void)signal(SIGPIPE, SIG_DFL);
  (void)setpgid(0, 0);
  (void)prctl(PR_SET_PDEATHSIG, death_signal);
  if (getppid() != parent) _exit(127);
  int in = open("/dev/null", O_RDONLY);
  if (in < 0 || dup2(in, 0) < 0 || dup2(out, 1) < 0 || dup2(err, 2) < 0) _exit(127);
  (void)close_range(3, ~0U, 0);
  execve(argv[0], (char *const *)(const void *)argv, (char *const *)(const void *)env);
  fprintf(stderr, "%s: %s\n", argv[0], strerror(errno));
  _exit(127);
}

static pid_t launch(const char *const *argv, const char *const *more_env, int death_signal, int out, int err)
{
  const char **env = merge_environment(more_env);
  pid_t parent = getpid();
  fflush(stdout);
  fflush(stderr);
  pid_t pid = fork();
  if (pid < 0) support_die("fork: %s", strerror(errno));
  if (pid == 0) become(argv, env, parent, death_signal, out, err);
  (void)setpgid(pid, pid);
  mem_free(env);
  return pid;
}

struct process *process_spawn(const struct process_spec *spec)
{
  struct process *p = MEM_NEW(struct process);
  char *dir = support_log_dir();
  p->name = mem_strdup(spec->name);
  p->log = support_format("%s/%s-%d.log", dir, spec->name, (int)getpid());
  mem_free(dir);
  p->ready_port = spec->ready_port;
  p->ready_path = mem_strdup(spec->ready_path == NULL ? "/readyz" : spec->ready_path);
  p->ready_seconds = spec->ready_seconds > 0 ? spec->ready_seconds : 60;
  int fd = open(p->log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (fd < 0) support_die("%s: %s", p->log, strerror(errno));
  p->pid = launch(spec->argv, spec->env, spec->death_signal != 0 ? spec->death_signal : SIGKILL, fd, fd);
  (void)close(fd);
  return p;
}

bool process_wait_ready(struct process *p)
{
  if (p->ready_port == 0) return true;
  struct waiting w = waiting_start(p->ready_seconds);
  do {
    if (!process_is_alive(p)) return false;
    struct http_answer a;
    http_call(&(struct http_request){.port = p->ready_port, .path = p->ready_path, .timeout_ms = 1000}, &a);
    int status = a.status;
    http_answer_release(&a);
    if (status == 200) return true;
  } while (waiting_more(&w));
  return false;
}

struct process *process_start(const struct process_spec *spec)
{
  struct process *p = process_spawn(spec);
  if (process_wait_ready(p)) return p;
  process_show_log(p, 20);
  support_die("%s did not become ready (%s)", p->name, process_is_alive(p) ? "time-out" : "it ended");
}

pid_t process_pid(const struct process *p) { return p->pid; }
const char *process_log_path(const struct process *p) { return p->log; }

static int exit_status(int raw) { return WIFSIGNALED(raw) ? 128 + WTERMSIG(raw) : WEXITSTATUS(raw); }

bool process_is_alive(struct process *p)
{
  if (p->pid == 0) return false;
  int raw;
  if (waitpid(p->pid, &raw, WNOHANG) != p->pid) return true;
  p->pid = 0;
  p->status = exit_status(raw);
  return false;
}

void process_read_log(const struct process *p, struct buf *out)
{
  FILE *f = fopen(p->log, "re");
  if (f == NULL) return;
  char block[8192];
  size_t n;
  while ((n = fread(block, 1, sizeof block, f)) > 0) buf_append(out, block, n);
  (void)fclose(f);
}

bool process_log_has(const struct process *p, const char *text)
{
  struct buf log;
  buf_init(&log, LOG_READ_MAX);
  process_read_log(p, &log);
  bool found = strstr(buf_text(&log), text) != NULL;
  buf_release(&log);
  return found;
}

void process_show_log(const struct process *p, int lines)
{
  struct buf log;
  buf_init(&log, LOG_READ_MAX);
  process_read_log(p, &log);
  const char *text = buf_text(&log), *at = text + log.len;
  for (; at > text && lines >= 0; at--)
    if (at[-1] == '\n' && --lines < 0) break;
  fprintf(stderr, "--- %s, the last lines of %s\n%s---\n", p->name, p->log, at);
  buf_release(&log);
}

void process_signal(struct process *p, int signal)
{
  if (p->pid != 0) (void)kill(p->pid, signal);
}

int process_wait(struct process *p, double seconds)
{
  struct waiting w = waiting_start(seconds);
  while (process_is_alive(p))
    if (!waiting_more(&w)) return -1;
  return p->status;
}

int process_stop(struct process *p, double seconds)
{
  process_signal(p, SIGTERM);
  return process_wait(p, seconds);
}

void process_kill(struct process *p)
{
  if (p->pid == 0) return;
  (void)kill(-p->pid, SIGKILL);
  (void)kill(p->pid, SIGKILL);
  (void)process_wait(p, 30);
}

void process_free(struct process *p)
{
  if (p == NULL) return;
  process_kill(p);
  mem_free(p->name);
  mem_free(p->log);
  mem_free(p->ready_path);
  mem_free(p);
}

// Drains both pipes until they close or the time is over.
static void collect(int fds[2], struct buf *const outs[2], double end)
{
  struct pollfd polls[2] = {{.fd = fds[0], .events = POLLIN}, {.fd = fds[1], .events = POLLIN}};
  while (polls[0].fd >= 0 || polls[1].fd >= 0) {
    double left = end - support_now();
    if (left <= 0 || poll(polls, 2, (int)(left * 1000) + 1) < 0) return;
    for (int i = 0; i < 2; i++) {
      if (polls[i].fd < 0 || polls[i].revents == 0) continue;
      char block[8192];
      ssize_t n = read(polls[i].fd, block, sizeof block);
      if (n <= 0)
        polls[i].fd = -1;
      else if (outs[i] != NULL)
        buf_append(outs[i], block, (size_t)n);
    }
  }
}

int process_run(const char *const *argv, const char *const *env, double seconds, struct buf *out,
                struct buf *out_errors)
{
  int first[2], second[2];
  if (pipe2(first, O_CLOEXEC) != 0 || pipe2(second, O_CLOEXEC) != 0) support_die("pipe: %s", strerror(errno));
  double end = support_now() + seconds;
  struct process p = {.pid = launch(argv, env, SIGKILL, first[1], second[1])};
  (void)close(first[1]);
  (void)close(second[1]);
  collect((int[]){first[0], second[0]}, (struct buf *const[]){out, out_errors}, end);
  double left = end - support_now();
  int status = process_wait(&p, left > 0 ? left : 0);
  if (status < 0) process_kill(&p);
  (void)close(first[0]);
  (void)close(second[0]);
  return status;
}
