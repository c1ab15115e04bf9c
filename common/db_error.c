// SPDX-License-Identifier: Apache-2.0
// What a failed result of PostgreSQL means. Judged by SQLSTATE and by the fields that are never translated.
// Pure; any thread.
#include <libpq-fe.h>
#include <string.h>

#include "common/db_internal.h"

static const char *field_of(const PGresult *result, int which)
{
  const char *text = result == NULL ? NULL : PQresultErrorField(result, which);
  return text == NULL ? "" : text;
}

struct db_error db_error_of(const struct pg_result *result, enum db_failure failure)
{
  struct db_error error = {.failure = failure,
                           .message = field_of(result, PG_DIAG_MESSAGE_PRIMARY),
                           .detail = field_of(result, PG_DIAG_MESSAGE_DETAIL),
                           .hint = field_of(result, PG_DIAG_MESSAGE_HINT)};
  const char *sqlstate = field_of(result, PG_DIAG_SQLSTATE);
  memcpy(error.sqlstate, strlen(sqlstate) == 5 ? sqlstate : "08000",
         sizeof error.sqlstate);  // libpq's own errors carry none
  if (error.message[0] == '\0' && result != NULL) error.message = PQresultErrorMessage(result);
  return error;
}

bool db_error_is(const struct pg_result *result, const char *sqlstate)
{
  return strcmp(field_of(result, PG_DIAG_SQLSTATE), sqlstate) == 0;
}

bool db_error_ended_session(const struct pg_result *result)
{
  return strcmp(field_of(result, PG_DIAG_SEVERITY_NONLOCALIZED), "ERROR") != 0;
}

bool db_error_is_raised(const struct pg_result *result)
{
  return strcmp(field_of(result, PG_DIAG_SOURCE_FUNCTION), "exec_stmt_raise") == 0;
}

bool db_error_is_stale_plan(const struct pg_result *result)
{
  return db_error_is(result, "26000") ||
         (db_error_is(result, "0A000") &&
          strcmp(field_of(result, PG_DIAG_SOURCE_FUNCTION), "RevalidateCachedQuery") == 0);
}

bool db_notice_lost_standby(const struct pg_result *notice)
{
  return strcmp(field_of(notice, PG_DIAG_SOURCE_FUNCTION), "SyncRepWaitForLSN") == 0;
}
