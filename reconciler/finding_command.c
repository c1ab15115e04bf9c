// SPDX-License-Identifier: Apache-2.0
// `reconciler findings list|show`. Without --state, the findings that are not gone.
// Owner: the command; blocking.
#include "reconciler/finding_command.h"

#include <string.h>

#include "common/doc_list.h"
#include "common/mem.h"
#include "reconciler/cli.h"
#include "reconciler/operation.h"
#include "reconciler/store.h"

static const struct doc_column columns[] = {
    {"SEVERITY", "severity", 8},
    {"STATE", "state", 6},
    {"ACTIVITY", "activityCode", 28},
    {"EXPECTED", "expected", 40},
    {"ACTUAL", "actual", 40},
    {"KEY", "key", 0},
    {NULL, NULL, 0},
};

static bool list_page(struct doc_list *l, const struct finding_filter *filter, const char *sort, char **io_after)
{
  struct db_args args;
  db_args_init(&args);
  return doc_list_page_text(l, store_finding_list(&args, filter, sort, *io_after, doc_list_page_rows(l)), &args,
                            io_after);
}

int finding_command_list(const void *config, struct log *log, int argc, char **argv)
{
  (void)log;
  struct cli c = reconciler_cli("findings list", FINDING_LIST_USAGE);
  struct finding_filter filter = {.state = NULL};
  const char *begin = "", *limit = NULL, *format = "text", *sort = "key";
  const struct cmdline_option options[] = {
      {"--state", &filter.state, NULL},
      {"--kind", &filter.kind, NULL},
      {"--severity", &filter.severity, NULL},
      {"--activity", &filter.activity_code, NULL},
      {"--provider", &filter.provider, NULL},
      {"--source", &filter.source, NULL},
      {"--sort", &sort, NULL},
      {"--after", &begin, NULL},
      {"--limit", &limit, NULL},
      {"--format", &format, NULL},
  };
  char why[CMDLINE_WHY_BYTES] = "";
  size_t words = 0;
  int index = 0, is_json = 0;
  if (cmdline_parse(options, ARRAY_LEN(options), argc, argv, &words, why) != RESULT_OK) return cli_misused(&c, why);
  if (words > 0) return cli_misused(&c, "takes no arguments but its options");
  if (!cmdline_choice(format, "text|json", &is_json)) return cli_misused(&c, "--format must be text or json");
  if (!cmdline_choice(sort, FINDING_SORTS, &index))
    return cli_misused(&c, "--sort must be key, severity, openedAt or -openedAt");
  const char *fault = finding_filter_fault(&filter);
  if (fault != NULL) return cli_misused(&c, fault);
  struct doc_list l;
  if (!reconciler_cli_open(&c, config)) return c.exit_code;
  char *after = mem_strdup(begin);
  if (doc_list_begin(&l, &c, columns, is_json == 1, limit)) {
    while (list_page(&l, &filter, sort, &after)) {}
    (void)doc_list_end(&l);
  }
  mem_free(after);
  cli_close(&c);
  return c.exit_code;
}

int finding_command_show(const void *config, struct log *log, int argc, char **argv)
{
  (void)log;
  struct cli c = reconciler_cli("findings show", FINDING_SHOW_USAGE);
  const char *format = "text";
  const struct cmdline_option options[] = {{"--format", &format, NULL}};
  char why[CMDLINE_WHY_BYTES] = "";
  size_t words = 0;
  int is_json = 0;
  if (cmdline_parse(options, ARRAY_LEN(options), argc, argv, &words, why) != RESULT_OK) return cli_misused(&c, why);
  if (words != 1) return cli_misused(&c, "one key is needed");
  if (!cmdline_choice(format, "text|json", &is_json)) return cli_misused(&c, "--format must be text or json");
  struct db_args args;
  struct db_rows *rows = NULL;
  if (!reconciler_cli_open(&c, config)) return c.exit_code;
  db_args_init(&args);
  if (cli_query(&c, store_finding_show(&args, argv[0]), &args, &rows))
    c.exit_code = doc_show(&c, rows, is_json == 1, "finding", argv[0]);
  db_rows_free(rows);
  db_args_release(&args);
  cli_close(&c);
  return c.exit_code;
}
