// SPDX-License-Identifier: Apache-2.0
// The command line of the three programs: options before the command, and which command its words name.
// Start-up only.
#include <getopt.h>
#include <string.h>
#include <unistd.h>

#include "common/compiler.h"
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

// What every program has besides its own.
static const struct daemon_command own_commands[] = {
    {"serve", "", "run the daemon until SIGTERM or SIGINT; SIGHUP reads the configuration again", NULL},
    {"config print", "", "the configuration in force, as YAML", NULL},
    {"config keys", "", "all keys with type, default, range and meaning, as a Markdown table", NULL},
    {"routes", "", "the HTTP calls: method, path, scopes of which one is needed, kind of body, name", NULL},
};

// Whether the words of a command and those that were given agree as far as both go.
static bool begins_alike(const char *words, int argc, char **argv)
{
  for (int i = 0; i < argc && *words != '\0'; i++) {
    size_t len = strcspn(words, " ");
    if (strlen(argv[i]) != len || memcmp(argv[i], words, len) != 0) return false;
    words += len;
    words += strspn(words, " ");
  }
  return true;
}

int daemon_print_commands(const struct daemon_spec *spec, int argc, char **argv, FILE *to)
{
  int count = 0;
  for (const struct daemon_command *c = spec->commands; c != NULL && c->words != NULL; c++) {
    if (!begins_alike(c->words, argc, argv)) continue;
    print_command(to, c->words, c->usage, c->help);
    count++;
  }
  for (size_t i = 0; i < ARRAY_LEN(own_commands); i++) {
    if (!begins_alike(own_commands[i].words, argc, argv)) continue;
    print_command(to, own_commands[i].words, own_commands[i].usage, own_commands[i].help);
    count++;
  }
  return count;
}

bool daemon_is_help(int argc, char **argv, int *out_words)
{
  int words = 0;
  while (words < argc && argv[words][0] != '-') words++;
  if (words == argc || (strcmp(argv[words], "-h") != 0 && strcmp(argv[words], "--help") != 0)) return false;
  *out_words = words;
  return true;
}

void daemon_print_help(const struct daemon_spec *spec, FILE *to)
{
  fprintf(to,
          "Usage: %s [-c FILE] [-t] [-V] [-h] COMMAND ...\n\n"
          "  -c FILE  configuration; default " DEFAULT_CONFIG_FILE
          ", or the built-in values where that is missing\n"
          "  -t       check the configuration: status 0, or 78 and the first fault\n"
          "  -V       print the version\n"
          "  -h       print this; after a command, what it takes\n\n"
          "Any key can be set by the environment: LARGESSE_SECTION__KEY=value.\n\nCommands:\n",
          spec->name);
  (void)daemon_print_commands(spec, 0, NULL, to);
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
