// SPDX-License-Identifier: Apache-2.0
// load: a closed-loop (or paced) HTTP load generator for the claim API and the provider simulator. Options and report;
// the run is in load/. One thread. See README.md beside this file.
#include <errno.h>
#include <getopt.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/text.h"
#include "tests/bench/load/run.h"

#define EXTRA_HEADERS_BYTES 1024
#define PREFIX_BYTES_MAX    40
#define PART_BYTES          128

enum { EXIT_LOST = 1, EXIT_USAGE = 64, EXIT_OS = 71, EXIT_IO = 74 };

struct options {
  struct run_conf run;
  const char *urls[RUN_TARGETS_MAX];
  size_t url_count;
  const char *record;
  struct buf headers;
  char prefix[PREFIX_BYTES_MAX + 1];
  bool json;
};

static void print_usage(FILE *to)
{
  (void)fputs(
      "usage: load --url URL --activity CODE (--seconds S | --requests N) [options]\n"
      "  --url URL             http://host:port; several are shared by the connections\n"
      "  --activity CODE       several take turns\n"
      "  --connections N       virtual clients, one click under way each (256)\n"
      "  --users random[:N] | sequential:START[:N]   user ids (random); N: how many different ones\n"
      "  --quantity N | A-B    per click; left out without this option\n"
      "  --numbers A-B         each click asks for one of these numbers, in turn\n"
      "  --channel TEXT        the channel of each click\n"
      "  --rate R              clicks per second, open loop: latency counts from the planned instant (0: as fast as "
      "possible)\n"
      "  --repeat-unanswered   repeat a click whose answer was lost or 429 or 5xx, with the same bizId, until it is "
      "answered\n"
      "  --biz-prefix P        bizId is P and the click's number (l<time>-)\n"
      "  --first N             number of the first click (0); --seed S (1)\n"
      "  --timeout S           for one answer (30); --grace S for what is under way at the end (10, with "
      "--repeat-unanswered 60)\n"
      "  --record FILE         CSV bizId,userId,status,claimId,code,activityCode; status 0: no answer\n"
      "  --header 'Name: text' added to each request\n"
      "  --credits             POST /credits of the simulator; the activity is the rewardCode\n"
      "  --json                report as JSON\n"
      "Exit status: 0, or 1 if clicks stayed without an answer.\n",
      to);
}

// --- values of options ---

static bool read_number(const char *text, uint64_t min, uint64_t max, uint64_t *out_value)
{
  uint64_t value = 0;
  if (text_to_u64(text, strlen(text), &value) != RESULT_OK || value < min || value > max) return false;
  *out_value = value;
  return true;
}

static bool read_seconds(const char *text, struct span *out_span)
{
  char *end = NULL;
  double seconds = strtod(text, &end);
  if (end == text || *end != '\0' || !(seconds >= 0 && seconds <= 86400)) return false;
  *out_span = span_us((int64_t)(seconds * 1e6));
  return true;
}

static bool read_rate(const char *text, double *out_rate)
{
  char *end = NULL;
  double rate = strtod(text, &end);
  if (end == text || *end != '\0' || !(rate >= 0 && rate <= 1e7)) return false;
  *out_rate = rate;
  return true;
}

// Cuts text at each separator into at most three parts; 0 if there are more, or one is empty or too long.
static size_t split(const char *text, char separator, char parts[3][PART_BYTES])
{
  for (size_t count = 0; count < 3; count++) {
    const char *end = strchrnul(text, separator);
    if (end == text || end - text >= PART_BYTES) return 0;
    (void)snprintf(parts[count], PART_BYTES, "%.*s", (int)(end - text), text);
    if (*end == '\0') return count + 1;
    text = end + 1;
  }
  return 0;
}

static bool read_users(const char *text, struct click_plan *plan)
{
  char part[3][PART_BYTES];
  size_t count = split(text, ':', part);
  if (count == 0) return false;
  plan->users_sequential = strcmp(part[0], "sequential") == 0;
  if (!plan->users_sequential) {
    return strcmp(part[0], "random") == 0 &&
           (count == 1 || (count == 2 && read_number(part[1], 1, INT64_MAX, &plan->user_count)));
  }
  if (count < 2 || !read_number(part[1], 1, INT64_MAX, &plan->user_first)) return false;
  plan->user_count = (uint64_t)INT64_MAX - plan->user_first + 1;
  return count == 2 || read_number(part[2], 1, plan->user_count, &plan->user_count);
}

static bool read_quantity(const char *text, struct click_plan *plan)
{
  char part[3][PART_BYTES];
  uint64_t a = 0, b = 0;
  size_t count = split(text, '-', part);
  if (count < 1 || count > 2 || !read_number(part[0], 1, 1000000, &a)) return false;
  b = a;
  if (count == 2 && !read_number(part[1], a, 1000000, &b)) return false;
  plan->quantity_min = (int64_t)a;
  plan->quantity_max = (int64_t)b;
  return true;
}

static bool read_numbers(const char *text, struct click_plan *plan)
{
  char part[3][PART_BYTES];
  return split(text, '-', part) == 2 && read_number(part[0], 0, INT64_MAX - 1, &plan->number_first) &&
         read_number(part[1], plan->number_first, INT64_MAX - 1, &plan->number_last) && (plan->has_numbers = true);
}

static bool set_channel(struct click_plan *plan, const char *channel)
{
  if (channel[0] == '\0' || strlen(channel) > CLICK_CHANNEL_BYTES_MAX || strpbrk(channel, "\"\\") != NULL) return false;
  plan->channel = channel;
  return true;
}

static bool add_header(struct buf *headers, const char *line)
{
  if (strchr(line, ':') == NULL || strpbrk(line, "\r\n") != NULL) return false;
  buf_printf(headers, "%s\r\n", line);
  return buf_result(headers) == RESULT_OK;
}

static bool set_prefix(struct options *o, const char *prefix)
{
  if (strlen(prefix) > PREFIX_BYTES_MAX || (prefix[0] != '\0' && !text_is_biz_id(prefix, strlen(prefix)))) return false;
  (void)snprintf(o->prefix, sizeof o->prefix, "%s", prefix);
  return true;
}

static bool add_activity(struct click_plan *plan, const char *code)
{
  if (plan->activity_count == CLICK_ACTIVITIES_MAX || !text_is_code(code, strlen(code))) return false;
  plan->activities[plan->activity_count++] = code;
  return true;
}

static bool add_url(struct options *o, const char *url)
{
  if (o->url_count == RUN_TARGETS_MAX) return false;
  o->urls[o->url_count++] = url;
  return true;
}

static bool take_option(struct options *o, int c, const char *value)
{
  struct run_conf *run = &o->run;
  uint64_t n = 0;
  bool ok = true;
  switch (c) {
    case 'u': return add_url(o, value);
    case 'a': return add_activity(&run->plan, value);
    case 'c':
      ok = read_number(value, 1, RUN_CLIENTS_MAX, &n);
      run->clients = (size_t)n;
      return ok;
    case 's': return read_seconds(value, &run->duration);
    case 'n': return read_number(value, 1, UINT64_MAX, &run->requests_max);
    case 'U': return read_users(value, &run->plan);
    case 'q': return read_quantity(value, &run->plan);
    case 'N': return read_numbers(value, &run->plan);
    case 'h': return set_channel(&run->plan, value);
    case 'r': return read_rate(value, &run->rate);
    case 'R': run->repeat_unanswered = true; return true;
    case 'p': return set_prefix(o, value);
    case 'f': return read_number(value, 0, INT64_MAX, &run->first_number);
    case 'S': return read_number(value, 0, UINT64_MAX, &run->plan.seed);
    case 't': return read_seconds(value, &run->answer_timeout);
    case 'g': return read_seconds(value, &run->grace);
    case 'o': o->record = value; return true;
    case 'H': return add_header(&o->headers, value);
    case 'C': run->plan.credits = true; return true;
    case 'j': o->json = true; return true;
    default: return false;
  }
}

static bool parse_options(struct options *o, int argc, char **argv)
{
  static const struct option names[] = {{"url", 1, NULL, 'u'},
                                        {"activity", 1, NULL, 'a'},
                                        {"connections", 1, NULL, 'c'},
                                        {"seconds", 1, NULL, 's'},
                                        {"requests", 1, NULL, 'n'},
                                        {"users", 1, NULL, 'U'},
                                        {"quantity", 1, NULL, 'q'},
                                        {"numbers", 1, NULL, 'N'},
                                        {"channel", 1, NULL, 'h'},
                                        {"rate", 1, NULL, 'r'},
                                        {"repeat-unanswered", 0, NULL, 'R'},
                                        {"biz-prefix", 1, NULL, 'p'},
                                        {"first", 1, NULL, 'f'},
                                        {"seed", 1, NULL, 'S'},
                                        {"timeout", 1, NULL, 't'},
                                        {"grace", 1, NULL, 'g'},
                                        {"record", 1, NULL, 'o'},
                                        {"header", 1, NULL, 'H'},
                                        {"credits", 0, NULL, 'C'},
                                        {"json", 0, NULL, 'j'},
                                        {NULL, 0, NULL, 0}};
  int index = 0;
  for (int c = getopt_long(argc, argv, "", names, &index); c != -1; c = getopt_long(argc, argv, "", names, &index)) {
    if (take_option(o, c, optarg)) continue;
    if (c != '?') (void)fprintf(stderr, "load: --%s: bad value %s\n", names[index].name, optarg != NULL ? optarg : "");
    return false;
  }
  bool ends = o->run.requests_max > 0 || o->run.duration.us > 0;
  return optind == argc && o->url_count > 0 && o->run.plan.activity_count > 0 && ends;
}

// --- targets ---

static bool resolve(struct options *o, const char *url, struct run_target *target)
{
  const char *address = strncmp(url, "http://", 7) == 0 ? url + 7 : url;
  char part[3][PART_BYTES];
  uint64_t port = 0;
  if (address == url || split(address, ':', part) != 2 || !read_number(part[1], 1, 65535, &port)) {
    (void)fprintf(stderr, "load: %s: want http://host:port\n", url);
    return false;
  }
  struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *found = NULL;
  int error = getaddrinfo(part[0], part[1], &hints, &found);
  if (error != 0) {
    (void)fprintf(stderr, "load: %s: %s\n", url, gai_strerror(error));
    return false;
  }
  memcpy(&target->address, found->ai_addr, found->ai_addrlen);
  target->address_len = found->ai_addrlen;
  freeaddrinfo(found);
  buf_init(&target->head, CLICK_REQUEST_BYTES);
  click_render_head(&o->run.plan, address, buf_text(&o->headers), &target->head);
  return true;
}

static bool resolve_all(struct options *o)
{
  for (size_t i = 0; i < o->url_count; i++) {
    if (!resolve(o, o->urls[i], &o->run.targets[i])) return false;
    o->run.target_count++;
  }
  return true;
}

// --- report ---

static void report(const struct options *o, const struct tally *tally)
{
  struct buf out;
  buf_init(&out, 65536);
  if (o->json) {
    tally_write_json(tally, &out);
  } else {
    buf_printf(&out, "load: %zu connections to %s%s, ", o->run.clients, o->urls[0],
               o->url_count > 1 ? " and others" : "");
    tally_write_text(tally, &out);
  }
  (void)fputs(buf_text(&out), stdout);
  buf_release(&out);
}

static int run_options(struct options *o)
{
  if (o->record != NULL) {
    o->run.record = fopen(o->record, "w");
    if (o->run.record == NULL) {
      (void)fprintf(stderr, "load: %s: %s\n", o->record, strerror(errno));
      return EXIT_IO;
    }
    (void)fputs("bizId,userId,status,claimId,code,activityCode\n", o->run.record);
  }
  struct tally tally = {0};
  enum result result = run_load(&o->run, &tally);
  if (result != RESULT_OK) (void)fprintf(stderr, "load: %s: %s\n", result_text(result), strerror(errno));
  bool written = o->run.record == NULL || fclose(o->run.record) == 0;
  if (!written) (void)fprintf(stderr, "load: %s: could not be written\n", o->record);
  if (result != RESULT_OK) return EXIT_OS;
  report(o, &tally);
  if (!written) return EXIT_IO;
  return tally.unanswered > 0 ? EXIT_LOST : 0;
}

int main(int argc, char **argv)
{
  struct options o = {.run = {.clients = 256,
                              .answer_timeout = span_s(30),
                              .grace = span_us(-1),
                              .plan = {.user_first = 1, .user_count = UINT64_C(1) << 40, .seed = 1}}};
  buf_init(&o.headers, EXTRA_HEADERS_BYTES);
  (void)snprintf(o.prefix, sizeof o.prefix, "l%llx-", (unsigned long long)(clk_wall().us / 1000));
  int code = EXIT_USAGE;
  if (!parse_options(&o, argc, argv)) {
    print_usage(stderr);
  } else if (resolve_all(&o)) {
    o.run.plan.biz_prefix = o.prefix;
    if (o.run.grace.us < 0) o.run.grace = span_s(o.run.repeat_unanswered ? 60 : 10);
    code = run_options(&o);
  }
  for (size_t i = 0; i < o.run.target_count; i++) buf_release(&o.run.targets[i].head);
  buf_release(&o.headers);
  return code;
}
