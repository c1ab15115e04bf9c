# SPDX-License-Identifier: Apache-2.0
# A stack with its console for the tests in a browser: a database and a virtual host of its own on the runner's servers, the
# simulator and the three daemons on free ports, the reconciler with keys. Sourced (bash) by test_*.sh.
set -u
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P) || exit 1
BUILD=${BUILD:-build/release}
NAME=$(basename "$0" .sh)
for part in process pg daemons; do . "$ROOT/tests/support/$part.sh"; done
[ -n "${LARGESSE_TEST_PORT:-}" ] || die "$NAME needs the runner's servers: BUILD=$BUILD tests/support/run_tests.sh browser $NAME.sh"
PACKAGES=$ROOT/build/browser

# --- what the tests need of others
find_chromium() {
  local name
  for name in chromium-headless-shell chromium chromium-browser google-chrome-stable google-chrome; do
    CHROMIUM=$(command -v "$name") && export CHROMIUM && return 0
  done
  die "there is no Chromium here: tests/support/deps.sh test"
}

# playwright-core and axe-core into build/browser, once; from npm's cache where they are in it.
install_packages() {
  command -v node >/dev/null && command -v npm >/dev/null || die "there is no Node.js with npm here: tests/support/deps.sh test"
  mkdir -p "$PACKAGES" || exit 1
  exec 7>"$PACKAGES/lock" && flock 7 || exit 1
  if ! cmp -s "$ROOT/tests/browser/package-lock.json" "$PACKAGES/package-lock.json" || [ ! -e "$PACKAGES/node_modules/.package-lock.json" ]; then
    cp "$ROOT/tests/browser/package.json" "$ROOT/tests/browser/package-lock.json" "$PACKAGES" || exit 1
    if ! timeout 300 npm ci --prefix "$PACKAGES" --prefer-offline --ignore-scripts --no-audit --no-fund --fetch-retries=1 --fetch-timeout=20000 >"$PACKAGES/npm.log" 2>&1; then
      rm -f "$PACKAGES/package-lock.json"
      die "npm cannot install playwright-core and axe-core, which the tests in a browser need (is there a network?): $(sed -n 's/^npm error \(.*\)/\1/p' "$PACKAGES/npm.log" | head -n 2 | tr '\n' ' ')"
    fi
  fi
  exec 7>&-
}

# --- the stack
take_ports() {  # into PORTS: free ones, from a block of this process's own, below those that the system gives to clients
  local busy port=$((20000 + $$ % 1200 * 10)) tries
  busy=" $(listening_ports | tr '\n' ' ') "
  PORTS=()
  for ((tries = 0; tries < 12000 && ${#PORTS[@]} < 4; tries++, port = 20000 + (port - 19999) % 12000)); do
    case $busy in *" $port "*) ;; *) PORTS+=("$port") ;; esac
  done
  [ ${#PORTS[@]} = 4 ] || die "no free ports"
}

take_vhost() {  # the next number, as in tests/support/server.c: the file grows by a byte each time
  local n
  exec 8>>"$LARGESSE_TEST_HOME/run/vhost" && flock 8 || exit 1
  n=$(stat -c %s "$LARGESSE_TEST_HOME/run/vhost")
  printf x >&8
  exec 8>&-
  VHOST=t$((n + 1))
  [ "$n" -lt 40 ] || die "the runner's broker has no virtual host left"
}

make_template() {  # as in tests/support/check_sql.sh, under the same lock
  exec 8>"$LARGESSE_TEST_HOME/run/template" && flock 8 || exit 1
  if [ "$(PG_DB=postgres pg -At -c "select count(*) from pg_database where datname = 'largesse_template'")" != 1 ]; then
    PG_DB=postgres pg -c 'drop database if exists largesse_template_new' -c 'create database largesse_template_new' &&
      LARGESSE_DATABASE__CONNINFO="host=127.0.0.1 port=$PG_PORT user=$PG_USER dbname=largesse_template_new" "$BIN/scheduler" migrate 8>&- &&
      PG_DB=postgres pg -c 'alter database largesse_template_new rename to largesse_template' || die "cannot migrate"
  fi
  exec 8>&-
}

on_end() {
  local status=$?
  trap '' INT TERM
  stop_process TERM 5 $DAEMONS simulator
  PG_DB=postgres pg -c "drop database if exists $PG_DATABASE with (force)"
  exit $status
}

# key NAME SCOPES: a new API key on standard output.
key() { daemon_command reconciler keys add "$1" --scope "$2" | grep -o 'lg_[A-Za-z0-9_-]*' | head -n 1; }

# start_console [FILE.sql…]: everything up, the files run against the database before the daemons start. Exports what console.mjs reads.
start_console() {
  local file
  find_chromium
  install_packages
  find_postgres || exit 1
  PG_PORT=$((LARGESSE_TEST_PORT + 32)) PG_DATABASE=browser_$$
  BIN=${LARGESSE_BIN:-$ROOT/$BUILD/bin} CONFIG=$ROOT/config/largesse.yaml
  LOG_DIR=$ROOT/$BUILD/log/$NAME RUN_DIR=$ROOT/$BUILD/log/$NAME
  rm -rf "$LOG_DIR" && mkdir -p "$LOG_DIR" || exit 1
  take_ports
  take_vhost
  SCHEDULER_PORT=${PORTS[0]} FULFILLER_PORT=${PORTS[1]} RECONCILER_PORT=${PORTS[2]} SIMULATOR_PORT=${PORTS[3]}
  SCHEDULER_URL=http://127.0.0.1:$SCHEDULER_PORT FULFILLER_URL=http://127.0.0.1:$FULFILLER_PORT
  RECONCILER_URL=http://127.0.0.1:$RECONCILER_PORT SIMULATOR_URL=http://127.0.0.1:$SIMULATOR_PORT
  AMQP_URL=amqp://guest:guest@127.0.0.1:$((LARGESSE_TEST_PORT + 72))/$VHOST
  set_daemon_env
  export LARGESSE_RECONCILER__AUTH=keys LARGESSE_RECONCILER__OPERATIONS__EVERY=50ms LARGESSE_RECONCILER__NIGHT__ENABLED=false
  make_template
  trap on_end EXIT
  trap 'exit 143' INT TERM HUP
  PG_DB=postgres pg -c "create database $PG_DATABASE template largesse_template strategy file_copy" || exit 1
  for file; do pg -o "$LOG_DIR/$(basename "$file").out" -f "$ROOT/tests/browser/$file" || die "$file failed"; done
  start_daemons
  export VIEWER_KEY OPERATOR_KEY ADMIN_KEY SERVICE_KEY
  VIEWER_KEY=$(key vera read) OPERATOR_KEY=$(key olga read,activities,review) ADMIN_KEY=$(key adam admin) SERVICE_KEY=$(key shop claims)
  wait_daemons || exit 1
  export CONSOLE=$RECONCILER_URL SCHEDULER_URL SIMULATOR_URL BIN CONFIG LOG_DIR PACKAGES PSQL=$PG_BIN/psql
  export PGHOST=127.0.0.1 PGPORT=$PG_PORT PGUSER=$PG_USER PGDATABASE=$PG_DATABASE
  export SCREENSHOTS=$ROOT/$BUILD/screenshots
  mkdir -p "$SCREENSHOTS" || exit 1
}

# run_in_browser FILE: the tests of a module, in one browser.
run_in_browser() { run_step node --test-reporter=spec "$ROOT/tests/browser/$1"; }
