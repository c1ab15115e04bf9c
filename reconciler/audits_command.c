// SPDX-License-Identifier: Apache-2.0
// `reconciler audits list`: the equations that this database proves about itself, and those of providers' statements.
// Owner: the command; blocking.
#include "reconciler/audits_command.h"

#include "common/doc_list.h"
#include "common/mem.h"
#include "reconciler/cli.h"
#include "reconciler/store.h"

static const struct doc_column columns[] = {
    {"NAME", "name", 42},    {"SEVERITY", "severity", 8},       {"PERIOD", "period", 8},
    {"SOURCE", "source", 9}, {"EXPLANATION", "explanation", 0}, {NULL, NULL, 0},
};

static bool list_page(struct doc_list *l, const char *source, char **io_after)
{
  struct db_args args;
  db_args_init(&args);
  return doc_list_page_text(l, store_audit_definition_list(&args, source, *io_after, doc_list_page_rows(l)), &args,
                            io_after);
}

int audits_command_list(const void *config, struct log *log, int argc, char **argv)
{
  (void)log;
  struct cli c = reconciler_cli("audits list", AUDITS_LIST_USAGE);
  const char *source = NULL, *begin = "", *limit = NULL, *format = "text";
  const struct cmdline_option options[] = {
      {"--source", &source, NULL},
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
  if (source != NULL && !cmdline_choice(source, "audit|statement", &index))
    return cli_misused(&c, "--source must be audit or statement");
  struct doc_list l;
  if (!reconciler_cli_open(&c, config)) return c.exit_code;
  char *after = mem_strdup(begin);
  if (doc_list_begin(&l, &c, columns, is_json == 1, limit)) {
    while (list_page(&l, source, &after)) {}
    (void)doc_list_end(&l);
  }
  mem_free(after);
  cli_close(&c);
  return c.exit_code;
}
