// SPDX-License-Identifier: Apache-2.0
// `reconciler report compare|activity|event`, and what commands that print reports share. Owner: the command; blocking.
#pragma once

#include "common/cli.h"
#include "common/log.h"
#include "reconciler/report_api.h"

#define REPORT_COMPARE_USAGE  "DATE [DATE] [--format text|json|csv|html] [--language en|zh] [--output FILE]"
#define REPORT_ACTIVITY_USAGE "CODE [--format text|json|csv|html] [--language en|zh] [--output FILE]"
#define REPORT_EVENT_USAGE    "CODE [--format text|json|csv|html] [--language en|zh] [--output FILE]"

int report_command_compare(const void *config, struct log *log, int argc, char **argv);
int report_command_activity(const void *config, struct log *log, int argc, char **argv);
int report_command_event(const void *config, struct log *log, int argc, char **argv);

struct report_options {
  const char *format, *language, *output;  // as given; NULL: text, English, standard output
  enum report_format report_format;
  bool is_chinese;
};
// NULL, or what is wrong with them.
const char *report_options_fault(struct report_options *o);
// Prints a document, or writes it to the file and says where. Returns an exit code.
int report_print(struct cli *c, const char *doc, size_t len, const json_t *json, report_api_paper_fn *paper_fn,
                 const struct report_options *o);
