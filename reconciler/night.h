// SPDX-License-Identifier: Apache-2.0
// Makes the report of one night: takes it, audits, makes the figures activity by activity, writes the report. Whatever
// interrupts it, the next one goes on behind the last activity that is done. Blocking; a thread of its own in `serve`.
#pragma once

#include <pthread.h>

#include "common/db.h"
#include "reconciler/config.h"
#include "reconciler/statement_import.h"
#include "reconciler/store_night.h"

// Another thread's word to stop. Zero the struct, then night_stop_init.
struct night_stop {
  pthread_mutex_t lock;
  bool wanted;
  struct db_session *session;  // whose statement is given up
};
void night_stop_init(struct night_stop *stop);
void night_stop_release(struct night_stop *stop);
// May be called again and again until the other thread has ended: the statement may just have been about to begin.
void night_stop_now(struct night_stop *stop);

struct night_job {
  const struct reconciler_conf *conf;
  const char *holder;       // names the process
  const char *date;         // NULL: the night that is due
  bool again;               // also one that is done: figures are compared, the moment is told anew
  struct night_stop *stop;  // NULL: nobody stops it
};
struct night_made {
  enum night_outcome outcome;
  char date[NIGHT_DATE_BYTES];
  bool is_resumed, is_unchanged;
  int64_t findings, failed;
  char statements_why[STATEMENT_IMPORT_WHY_BYTES];  // why statements could not be matched, or it could not be seen
                                                    // which are to be fetched; "": nothing of that
  struct buf doc;                                   // the report as JSON, of what was made
};
void night_made_init(struct night_made *made);
void night_made_release(struct night_made *made);

// RESULT_OK: outcome says what became of it. RESULT_CONFLICT: it was stopped, or lost to another; else as
// db_session_query. One line in out_why.
MUST_CHECK enum result night_make(const struct night_job *job, struct night_made *out_made, char out_why[DB_WHY_BYTES]);

#define NIGHT_HOLDER_BYTES 96
void night_holder(char out_holder[NIGHT_HOLDER_BYTES]);  // host, process, and when this was asked
