// SPDX-License-Identifier: Apache-2.0
// A list in CSV as the body of a call: read in slices between other work, checked row by row, and handed to one
// statement that takes all of it or nothing.
// Owner: each request belongs to its import until the reply; loop thread.
#pragma once

#include "common/sheet.h"
#include "common/web_call.h"

struct web_import_by {
  const char *actor, *reason;  // who brings the list and why; no reason: NULL
};

struct web_import {
  const char *name;  // for people and the log; call->action of on_done
  struct sheet_columns columns;
  // Answers one row: outcome, detail, inserted, duplicates, number of rejected rows, those told as a JSON list.
  const struct db_statement *statement;
  // code: of what the list belongs to, if anything.
  void (*put_args)(const struct sheet *s, const char *code, const struct web_import_by *by, struct db_args *args);
};
typedef void web_import_done_fn(struct web_call *call, int64_t inserted, int64_t duplicates);

// Answers {rows, inserted, duplicates, rejectedCount, rejected: [{line, reason}]}; 400 if rows are rejected, with
// nothing inserted; 503 where enough imports are under way. on_done: all is in; before the answer.
void web_import_run(struct web_request *req, const struct web_import *import, web_import_done_fn *on_done);
// The same of one column of integers, or of all integers of a body {from, to}: the statement takes (code, integers,
// from, to, actor, reason), of which either the integers or the range are null.
void web_import_range(struct web_request *req, const struct web_import *import, web_import_done_fn *on_done);
