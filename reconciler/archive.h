// SPDX-License-Identifier: Apache-2.0
// Exporting an activity that is over into a file that is verified before it counts, and holding a file against the
// database. Rows are streamed: memory does not grow with them. Owner: the command; blocking.
#pragma once

#include <stdbool.h>

#include "reconciler/archive_file.h"
#include "reconciler/cli.h"

#define ARCHIVE_PATH_BYTES 4096

struct archive_job {
  struct cli *cli;  // with a session
  const char *directory;
  const char *actor, *reason;  // reason: may be NULL
};

struct archive_made {
  struct archive_contents contents;
  char path[ARCHIVE_PATH_BYTES];
};

// An exit code; where it is not 0, out_why tells, or is "" when it was told on stderr. Nothing is left of a file that
// does not count.
int archive_export(const struct archive_job *job, const char *code, struct archive_made *out_made,
                   char out_why[ARCHIVE_WHY_BYTES]);

// Whether a file is whole and what its manifest says; and, unless it is looked at alone, the one on record, with the
// rows that the database has. Then that is noted. An exit code, as above.
int archive_verify(struct cli *c, const char *path, bool is_alone, struct archive_contents *out_contents,
                   char out_why[ARCHIVE_WHY_BYTES]);
