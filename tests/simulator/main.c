// SPDX-License-Identifier: Apache-2.0
// The provider simulator: a wallet and payment service for tests, demonstrations and benchmarks. See README.md beside
// this file. Owner of everything: main's struct sim. One thread.
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "common/conf.h"
#include "common/daemon_tables.h"
#include "common/log.h"
#include "common/loop.h"
#include "common/mem.h"
#include "common/metric.h"
#include "common/text.h"
#include "tests/simulator/sim.h"

#define ENTRIES_MAX_DEFAULT 5000000
#define ENTRIES_MAX_LIMIT   100000000
#define CONNECTIONS_MAX     16384

enum { EXIT_USAGE = 64, EXIT_UNAVAILABLE = 69 };

struct options {
  const char *listen, *callback_url, *secret, *secret_file;
  int64_t entries_max;
  bool verbose;
};

static void print_usage(FILE *to)
{
  (void)fputs(
      "usage: simulator [--listen ADDRESS:PORT] [--callback-url URL] [--secret-file FILE | --secret TEXT] "
      "[--entries-max N] [--verbose]\n"
      "  --listen        default 127.0.0.1:7409; port 0 takes any free one\n"
      "  --callback-url  where callbacks go until /sim/config changes it; none without\n"
      "  --secret        signs callbacks (Standard Webhooks): whsec_ and base64, or raw text\n"
      "  --entries-max   request ids that the ledger takes before it answers 503 (default 5000000)\n"
      "Prints `simulator ready URL` when it serves. SIGTERM and SIGINT end it at once.\n",
      to);
}

// 0: go on; else the exit code plus one.
static int parse_options(int argc, char **argv, struct options *o)
{
  static const struct option names[] = {{"listen", required_argument, NULL, 'l'},
                                        {"callback-url", required_argument, NULL, 'c'},
                                        {"secret", required_argument, NULL, 's'},
                                        {"secret-file", required_argument, NULL, 'f'},
                                        {"entries-max", required_argument, NULL, 'n'},
                                        {"verbose", no_argument, NULL, 'v'},
                                        {"help", no_argument, NULL, 'h'},
                                        {NULL, 0, NULL, 0}};
  for (int c = getopt_long(argc, argv, "hv", names, NULL); c != -1; c = getopt_long(argc, argv, "hv", names, NULL)) {
    switch (c) {
      case 'l': o->listen = optarg; break;
      case 'c': o->callback_url = optarg; break;
      case 's': o->secret = optarg; break;
      case 'f': o->secret_file = optarg; break;
      case 'v': o->verbose = true; break;
      case 'h': print_usage(stdout); return 1;
      case 'n':
        if (text_to_i64(optarg, strlen(optarg), &o->entries_max) == RESULT_OK && o->entries_max >= 1 &&
            o->entries_max <= ENTRIES_MAX_LIMIT)
          break;
        (void)fprintf(stderr, "simulator: --entries-max: a number from 1 to %d\n", ENTRIES_MAX_LIMIT);
        return EXIT_USAGE + 1;
      default: print_usage(stderr); return EXIT_USAGE + 1;
    }
  }
  if (optind == argc && (o->callback_url == NULL || strlen(o->callback_url) < SIM_URL_BYTES)) return 0;
  print_usage(stderr);
  return EXIT_USAGE + 1;
}

static enum result load_secret(struct sim *sim, const struct options *o)
{
  struct buf secret;
  buf_init(&secret, CONF_SECRET_BYTES_MAX);
  enum result result = RESULT_OK;
  if (o->secret_file != NULL)
    result = conf_read_secret(o->secret_file, &secret);
  else if (o->secret != NULL)
    buf_puts(&secret, o->secret);
  if (result == RESULT_OK && secret.len > 0) {
    sim->keys.secret_len = secret.len;
    sim->keys.secret = buf_take(&secret);
  }
  buf_release(&secret);
  return result;
}

void sim_reset(struct sim *sim)
{
  sim->generation++;
  sim_callbacks_stop(sim);
  sim_scripts_clear(&sim->scripts);
  sim_ledger_reset(sim->ledger);
  sim->stats = (struct sim_stats){0};
  sim->dedupe = true;
  sim->auto_pay = false;
  sim->profile = SIM_PLAIN;
  sim->chaos.on = false;
  memcpy(sim->callback_url, sim->preset_url, sizeof sim->callback_url);
}

static void sim_init(struct sim *sim, const struct options *o)
{
  sim->rt.loop = loop_new();
  sim->rt.log = log_new("simulator", log_events, ARRAY_LEN(log_events), 2);
  log_set(sim->rt.log, o->verbose ? LOG_DEBUG : LOG_WARN, LOG_FORMAT_TEXT);
  sim->rt.metrics = metric_set_new(metric_defs, ARRAY_LEN(metric_defs));
  sim->http = http_client_new(&sim->rt, SIM_CALLBACK_CALLS_MAX, SIM_CALLBACK_CONNECTIONS);
  sim->signature = signature_new();
  sim->ledger = sim_ledger_new((size_t)o->entries_max);
  sim_scripts_init(&sim->scripts);
  list_init(&sim->calls);
  list_init(&sim->callbacks);
  if (o->callback_url != NULL) (void)snprintf(sim->preset_url, sizeof sim->preset_url, "%s", o->callback_url);
  sim_reset(sim);
}

static void sim_release(struct sim *sim)
{
  sim_calls_stop(sim);
  sim_callbacks_stop(sim);
  sim_scripts_clear(&sim->scripts);
  web_server_free(sim->web);
  http_client_free(sim->http);
  sim_ledger_free(sim->ledger);
  signature_free(sim->signature);
  mem_free(sim->web_conf.listen);
  sim_keys_release(&sim->keys);
  metric_set_free(sim->rt.metrics);
  log_free(sim->rt.log);
  loop_free(sim->rt.loop);
}

// "127.0.0.1:0" and the port that was taken make the URL that others use.
static void print_ready(struct sim *sim, const char *listen)
{
  const char *colon = strrchr(listen, ':');
  int host_len = colon == NULL ? (int)strlen(listen) : (int)(colon - listen);
  (void)snprintf(sim->base_url, sizeof sim->base_url, "http://%.*s:%d", host_len, listen, web_server_port(sim->web));
  (void)printf("simulator ready %s\n", sim->base_url);
  (void)fflush(stdout);
}

static enum result sim_start(struct sim *sim, const struct options *o)
{
  sim->web_conf = (struct web_conf){.listen = mem_strdup(o->listen),
                                    .connections_max = CONNECTIONS_MAX,
                                    .body_max = 65536,
                                    .request_timeout = span_s(30),
                                    .idle_timeout = span_s(600),
                                    .auth = 0};
  char why[WEB_WHY_BYTES] = "";
  sim->web = web_server_new(&sim->rt, &sim->web_conf, sim_routes(), sim);
  enum result result = web_server_start(sim->web, why);
  if (result != RESULT_OK) {
    (void)fprintf(stderr, "simulator: %s\n", why);
    return result;
  }
  web_server_set_not_ready(sim->web, NULL);
  print_ready(sim, o->listen);
  return RESULT_OK;
}

static void on_stop(void *ctx) { *(bool *)ctx = true; }

static void serve(struct sim *sim)
{
  bool stopped = false;
  struct loop_signal *term = loop_signal_new(sim->rt.loop, SIGTERM, on_stop, &stopped);
  struct loop_signal *interrupt = loop_signal_new(sim->rt.loop, SIGINT, on_stop, &stopped);
  while (!stopped) {
    loop_turn(sim->rt.loop, span_s(1));
    log_flush(sim->rt.log);
  }
  loop_signal_free(term);
  loop_signal_free(interrupt);
}

int main(int argc, char **argv)
{
  struct options options = {.listen = "127.0.0.1:7409", .entries_max = ENTRIES_MAX_DEFAULT};
  struct sim sim = {0};
  int parsed = parse_options(argc, argv, &options);
  if (parsed != 0) return parsed - 1;
  (void)signal(SIGPIPE, SIG_IGN);
  if (load_secret(&sim, &options) != RESULT_OK) {
    (void)fprintf(stderr, "simulator: %s: cannot be read, or is readable by everybody\n", options.secret_file);
    return EXIT_USAGE;
  }
  sim_init(&sim, &options);
  int code = EXIT_UNAVAILABLE;
  if (sim_start(&sim, &options) == RESULT_OK) {
    serve(&sim);
    code = 0;
  }
  sim_release(&sim);
  return code;
}
