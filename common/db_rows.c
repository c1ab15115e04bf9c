// SPDX-License-Identifier: Apache-2.0
// Reading the rows of a result in PostgreSQL's binary format. A column of an unexpected type is a mistake in our own
// SQL. Owner: whoever holds the rows. Pure; any thread.
#include <endian.h>
#include <libpq-fe.h>
#include <string.h>

#include "common/contract.h"
#include "common/db_internal.h"
#include "common/mem.h"

enum { OID_BOOL = 16, OID_INT8 = 20, OID_INT2 = 21, OID_INT4 = 23, OID_TIMESTAMPTZ = 1184, OID_JSONB = 3802 };
static const int64_t postgres_epoch_us = 946684800000000;  // 2000-01-01T00:00:00Z

size_t db_rows_count(const struct db_rows *rows) { return (size_t)PQntuples(rows->result); }

bool db_rows_is_null(const struct db_rows *rows, size_t row, size_t column)
{
  REQUIRE(row < db_rows_count(rows) && column < (size_t)PQnfields(rows->result));
  return PQgetisnull(rows->result, (int)row, (int)column) != 0;
}

static const char *value_at(const struct db_rows *rows, size_t row, size_t column, int expected_len)
{
  REQUIRE(PQgetlength(rows->result, (int)row, (int)column) == expected_len);
  return PQgetvalue(rows->result, (int)row, (int)column);
}

static int64_t wide_at(const struct db_rows *rows, size_t row, size_t column)
{
  uint64_t wire;
  memcpy(&wire, value_at(rows, row, column, 8), sizeof wire);
  return (int64_t)be64toh(wire);
}

int64_t db_rows_i64(const struct db_rows *rows, size_t row, size_t column)
{
  if (db_rows_is_null(rows, row, column)) return 0;
  Oid type = PQftype(rows->result, (int)column);
  REQUIRE(type == OID_INT8 || type == OID_INT4 || type == OID_INT2);
  if (type == OID_INT8) return wide_at(rows, row, column);
  if (type == OID_INT4) {
    uint32_t wire;
    memcpy(&wire, value_at(rows, row, column, 4), sizeof wire);
    return (int32_t)be32toh(wire);
  }
  uint16_t wire;
  memcpy(&wire, value_at(rows, row, column, 2), sizeof wire);
  return (int16_t)be16toh(wire);
}

bool db_rows_bool(const struct db_rows *rows, size_t row, size_t column)
{
  if (db_rows_is_null(rows, row, column)) return false;
  REQUIRE(PQftype(rows->result, (int)column) == OID_BOOL);
  return value_at(rows, row, column, 1)[0] != 0;
}

// jsonb travels as a version byte and then its text.
static size_t text_prefix(const struct db_rows *rows, size_t column)
{
  return PQftype(rows->result, (int)column) == OID_JSONB ? 1 : 0;
}

const char *db_rows_text(const struct db_rows *rows, size_t row, size_t column)
{
  if (db_rows_is_null(rows, row, column)) return "";
  return PQgetvalue(rows->result, (int)row, (int)column) + text_prefix(rows, column);
}

size_t db_rows_text_len(const struct db_rows *rows, size_t row, size_t column)
{
  if (db_rows_is_null(rows, row, column)) return 0;
  return (size_t)PQgetlength(rows->result, (int)row, (int)column) - text_prefix(rows, column);
}

struct wall_time db_rows_time(const struct db_rows *rows, size_t row, size_t column)
{
  if (db_rows_is_null(rows, row, column)) return (struct wall_time){0};
  REQUIRE(PQftype(rows->result, (int)column) == OID_TIMESTAMPTZ);
  int64_t us = wide_at(rows, row, column);
  if (us > INT64_MAX - postgres_epoch_us) return (struct wall_time){INT64_MAX};  // "infinity"
  if (us == INT64_MIN) return (struct wall_time){INT64_MIN};                     // "-infinity"
  return (struct wall_time){us + postgres_epoch_us};
}

int db_rows_column(const struct db_rows *rows, const char *name) { return PQfnumber(rows->result, name); }

void db_rows_free(struct db_rows *rows)
{
  if (rows == NULL) return;
  PQclear(rows->result);
  mem_free(rows);
}
