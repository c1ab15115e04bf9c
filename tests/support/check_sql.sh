#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# One SQL test: check_sql.sh FILE. A fresh, migrated database; the file fails by raising an error.
# The runner gives LARGESSE_TEST_PORT, LARGESSE_BIN and PG_BIN.
set -u
export PGHOST=127.0.0.1 PGPORT=$((LARGESSE_TEST_PORT + 32)) PGUSER=largesse PGDATABASE=postgres
name=sql_$(basename "$1" .sql | tr -c 'a-z0-9\n' _)_$$

sql() { "$PG_BIN/psql" -X -q -v ON_ERROR_STOP=1 "$@"; }

# The template is made once; the lock makes the others wait (as in tests/support/server.c).
make_template() {
  [ "$(sql -At -c "select count(*) from pg_database where datname = 'largesse_template'")" = 1 ] && return 0
  exec 8>"$LARGESSE_TEST_HOME/run/template" && flock 8
  [ "$(sql -At -c "select count(*) from pg_database where datname = 'largesse_template'")" = 1 ] && return 0
  sql -c 'drop database if exists largesse_template_new' -c 'create database largesse_template_new' || return 1
  LARGESSE_DATABASE__CONNINFO="host=127.0.0.1 port=$PGPORT user=largesse dbname=largesse_template_new" \
    "$LARGESSE_BIN/scheduler" migrate 8>&- || return 1
  sql -c 'alter database largesse_template_new rename to largesse_template'
}

make_template || { echo "cannot migrate" >&2; exit 1; }
sql -c "create database $name template largesse_template strategy file_copy" || exit 1
PGDATABASE=$name sql -v VERBOSITY=verbose -o /dev/null -f "$1"
status=$?
sql -c "drop database $name with (force)"
exit $status
