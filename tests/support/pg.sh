# SPDX-License-Identifier: Apache-2.0
# The private PostgreSQL: its own cluster, durable, TCP on loopback only. Sourced (bash) after places.sh and process.sh.

PG_USER=largesse
PG_DATABASE=largesse

# Sets PG_BIN to the newest installed server, which Debian keeps out of PATH.
find_postgres() {
  local dir
  for dir in $(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -t/ -k5,5nr); do
    [ -x "$dir/initdb" ] && { PG_BIN=$dir; return 0; }
  done
  dir=$(command -v initdb) && { PG_BIN=$(dirname "$(readlink -f "$dir")"); return 0; }
  warn "PostgreSQL is not installed (make deps)"
  return 1
}

# A share of the memory, at most 2 GiB; tests ask for less by LARGESSE_SHARED_BUFFERS (MiB).
pg_shared_buffers() {
  awk -v wanted="${LARGESSE_SHARED_BUFFERS:-2048}" '$1 == "MemTotal:" { mb = int($2 / 1024 / 8) }
    END { if (mb > wanted) mb = wanted; if (mb < 64) mb = 64; print mb "MB" }' /proc/meminfo
}

write_pg_conf() {
  local preload= compress=pglz lib
  lib=$("$PG_BIN/pg_config" --pkglibdir 2>/dev/null) || lib=${PG_BIN%/bin}/lib
  [ -e "$lib/pg_stat_statements.so" ] && preload=pg_stat_statements
  "$PG_BIN/postgres" --version >/dev/null && ldd "$PG_BIN/postgres" 2>/dev/null | grep -q liblz4 && compress=lz4
  cat <<CONF
# Written anew at every start of the private stack.
listen_addresses = '127.0.0.1'
port = $PG_PORT
unix_socket_directories = ''
max_connections = 100
fsync = ${LARGESSE_FSYNC:-on}
synchronous_commit = on
shared_buffers = $(pg_shared_buffers)
max_wal_size = ${LARGESSE_MAX_WAL_SIZE:-8GB}
wal_compression = $compress
checkpoint_timeout = 15min
autovacuum = on
shared_preload_libraries = '$preload'
timezone = 'UTC'
log_timezone = 'UTC'
lc_messages = 'C'
logging_collector = off
log_line_prefix = '%m [%p] %q%a '
log_lock_waits = on
CONF
}

init_pg() {
  [ -s "$PG_DATA/PG_VERSION" ] && return 0
  rm -rf "$PG_DATA"
  run_step as_server_user "$PG_BIN/initdb" -D "$PG_DATA" -U "$PG_USER" --auth=trust --encoding=UTF8 --locale=C.UTF-8 --no-sync >>"$LOG_DIR/postgresql.log" 2>&1 || return 1
  printf "include_if_exists = 'largesse.conf'\n" | as_server_user tee -a "$PG_DATA/postgresql.conf" >/dev/null
}

# Starts the server; wait_pg says when it answers.
start_pg() {
  find_postgres || return 1
  PG_DATA=$SERVER_DIR/postgresql
  : >>"$LOG_DIR/postgresql.log"
  init_pg || { warn "initdb failed; see $LOG_DIR/postgresql.log"; last_lines "$LOG_DIR/postgresql.log"; return 1; }
  if [ "$(cat "$PG_DATA/PG_VERSION")" != "$("$PG_BIN/postgres" --version | sed 's/[^0-9]*\([0-9]*\).*/\1/')" ]; then
    warn "$PG_DATA was made by PostgreSQL $(cat "$PG_DATA/PG_VERSION"): remove $HOME_DIR to begin anew"
    return 1
  fi
  write_pg_conf | as_server_user tee "$PG_DATA/largesse.conf" >/dev/null
  launch_pg
}

launch_pg() { start_process postgresql "$LOG_DIR/postgresql.log" "$SERVER_USER" INT "$PG_BIN/postgres" -D "$PG_DATA"; }

pg() { PGOPTIONS='-c client_min_messages=warning' PGHOST=127.0.0.1 PGPORT=$PG_PORT PGUSER=$PG_USER PGDATABASE=${PG_DB:-$PG_DATABASE} PGCONNECT_TIMEOUT=5 "$PG_BIN/psql" -X -q -v ON_ERROR_STOP=1 "$@"; }

wait_pg() {
  local end=$((SECONDS + 60))
  until "$PG_BIN/pg_isready" -q -h 127.0.0.1 -p "$PG_PORT" -U "$PG_USER" -d postgres; do
    is_alive postgresql && [ $SECONDS -lt $end ] || { warn "PostgreSQL did not start; see $LOG_DIR/postgresql.log"; last_lines "$LOG_DIR/postgresql.log"; return 1; }
    pause 0.1
  done
  PG_DB=postgres pg -At -c "select 1 from pg_database where datname = '$PG_DATABASE'" | grep -q 1 ||
    PG_DB=postgres pg -c "create database $PG_DATABASE" || return 1
}

# Also a server that somebody restarted by hand in our folder.
stop_strange_pg() {
  local pid
  [ -n "${PG_DATA:-}" ] && [ -s "$PG_DATA/postmaster.pid" ] && pid=$(head -n1 "$PG_DATA/postmaster.pid") || return 0
  case $pid in ''|*[!0-9]*) return 0 ;; esac
  [ "$(readlink "/proc/$pid/cwd" 2>/dev/null)" = "$(readlink -f "$PG_DATA")" ] || return 0
  kill -INT "$pid" 2>/dev/null
  local end=$((SECONDS + 15))
  while kill -0 "$pid" 2>/dev/null && [ $SECONDS -lt $end ] && [ -z "$HURRY" ]; do pause 0.1; done
  kill -QUIT "$pid" 2>/dev/null
  return 0
}
