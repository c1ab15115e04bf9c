// SPDX-License-Identifier: Apache-2.0
// The command line of the three programs: options before the command, and which command its words name.
// Start-up only.
#include <getopt.h>
#include <string.h>
#include <unistd.h>

#include "common/daemon_internal.h"

#define DEFAULT_CONFIG_FILE "config/largesse.yaml"

static const struct option long_options[] = {
    {"config", required_argument, NULL, 'c'},
    {"check-config", no_argument, NULL, 't'},
    {"version", no_argument, NULL, 'V'},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

int daemon_match_words(const char *words, int argc, char **argv)
{
  int matched = 0;
  while (*words != '\0') {
    size_t len = strcspn(words, " ");
    if (matched >= argc || strlen(argv[matched]) != len || memcmp(argv[matched], words, len) != 0) return 0;
    matched++;
    words += len;
    words += strspn(words, " ");
  }
  return matched;
}

static void print_command(FILE *to, const char *words, const char *usage, const char *help)
{
  bool has_usage = usage != NULL && usage[0] != '\0';
  fprintf(to, "  %s%s%s\n        %s\n", words, has_usage ? " " : "", has_usage ? usage : "", help == NULL ? "" : help);
}

void daemon_print_help(const struct daemon_spec *spec, FILE *to)
{
  fprintf(to,
          "Usage: %s [-c FILE] [-t] [-V] [-h] COMMAND ...\n\n"
          "  -c FILE  configuration; default " DEFAULT_CONFIG_FILE
          ", or the built-in values where that is missing\n"
          "  -t       check the configuration: status 0, or 78 and the first fault\n"
          "  -V       print the version\n"
          "  -h       print this\n\n"
          "Any key can be set by the environment: LARGESSE_SECTION__KEY=value.\n\nCommands:\n",
          spec->name);
  print_command(to, "serve", "", "run the daemon until SIGTERM or SIGINT; SIGHUP reads the configuration again");
  for (const struct daemon_command *c = spec->commands; c != NULL && c->words != NULL; c++) {
    print_command(to, c->words, c->usage, c->help);
  }
  print_command(to, "config print", "", "the configuration in force, as YAML");
  print_command(to, "config keys", "", "all keys with type, default, range and meaning, as a Markdown table");
  print_command(to, "routes", "", "the HTTP calls: method, path, scopes of which one is needed, kind of body, name");
}

static bool end_with(int exit_code, int *out_exit)
{
  *out_exit = exit_code;
  return false;
}

bool daemon_options_parse(const struct daemon_spec *spec, int argc, char **argv, struct daemon_options *out_options,
                          int *out_exit)
{
  struct daemon_options o = {.config_file = NULL};
  int letter;
  optind = 0;  // GNU: start anew, whatever was parsed before in this process
  while ((letter = getopt_long(argc, argv, "+c:tVh", long_options, NULL)) != -1) {
    switch (letter) {
      case 'c': o.config_file = optarg; break;
      case 't': o.is_check = true; break;
      case 'V': printf("%s %s\n", spec->name, LARGESSE_VERSION); return end_with(EXIT_OK, out_exit);
      case 'h': daemon_print_help(spec, stdout); return end_with(EXIT_OK, out_exit);
      default:  // getopt_long has named the fault
        fprintf(stderr, "Try '%s -h'.\n", spec->name);
        return end_with(EXIT_USAGE, out_exit);
    }
  }
  o.command_at = optind;
  optind = 0;  // a command may use getopt for its own arguments
  if (o.config_file == NULL && access(DEFAULT_CONFIG_FILE, F_OK) == 0) o.config_file = DEFAULT_CONFIG_FILE;
  *out_options = o;
  return true;
}
