# SPDX-License-Identifier: Apache-2.0
# Database contents, simulator and the three daemons of a private stack. Sourced (bash) after pg.sh and broker.sh.

DAEMONS="scheduler fulfiller reconciler"

set_daemon_env() {
  BIN=${LARGESSE_BIN:-$ROOT/build/${VARIANT:-release}/bin}
  CONFIG=${LARGESSE_CONFIG:-$ROOT/config/largesse.yaml}
  export LARGESSE_DATABASE__CONNINFO="host=127.0.0.1 port=$PG_PORT user=$PG_USER dbname=$PG_DATABASE"
  export LARGESSE_BROKER__URL=$AMQP_URL
  export LARGESSE_SCHEDULER__LISTEN=127.0.0.1:$SCHEDULER_PORT
  export LARGESSE_FULFILLER__LISTEN=127.0.0.1:$FULFILLER_PORT
  export LARGESSE_RECONCILER__LISTEN=127.0.0.1:$RECONCILER_PORT
  CALLBACK_SECRET=$RUN_DIR/callback-secret
  export LARGESSE_FULFILLER__PROVIDERS__SIMULATOR__CALLBACK__PROFILE=standard_webhooks
  export LARGESSE_FULFILLER__PROVIDERS__SIMULATOR__CALLBACK__SECRETS="{stack: '$CALLBACK_SECRET'}"
  export LARGESSE_FULFILLER__PROVIDERS__SIMULATOR_B__CALLBACK__PROFILE=standard_webhooks
  export LARGESSE_FULFILLER__PROVIDERS__SIMULATOR_B__CALLBACK__SECRETS="{stack: '$CALLBACK_SECRET'}"
  export LARGESSE_FULFILLER__PROVIDERS__SIMULATOR__BASE_URL=$SIMULATOR_URL
  export LARGESSE_FULFILLER__PROVIDERS__SIMULATOR_B__BASE_URL=$SIMULATOR_URL
}

# daemon_command NAME ARGUMENT...: a command of a daemon on this stack.
daemon_command() {
  local name=$1
  shift
  "$BIN/$name" -c "$CONFIG" "$@"
}

migrate() {
  run_step daemon_command scheduler migrate >>"$LOG_DIR/migrate.log" 2>&1 || { warn "scheduler migrate failed; see $LOG_DIR/migrate.log"; last_lines "$LOG_DIR/migrate.log"; return 1; }
  if [ "${LARGESSE_TEST_CLOCK:-0}" = 1 ]; then
    pg -f "$ROOT/tests/support/test_clock.sql" || { warn "cannot install the test clock"; return 1; }
  elif [ "$(pg -At -c "select to_regclass('largesse.test_clock') is not null")" = t ]; then
    pg -f "$ROOT/sql/functions/clock_now.sql" -f "$ROOT/tests/support/test_clock_remove.sql" || { warn "cannot remove the test clock"; return 1; }
  fi
}

# What the simulator signs its callbacks with; made once for each LARGESSE_HOME, and no part of the tree.
make_callback_secret() {
  [ -s "$CALLBACK_SECRET" ] || (umask 077 && head -c 24 /dev/urandom | od -An -v -tx1 | tr -d ' \n' >"$CALLBACK_SECRET") ||
    { warn "cannot write $CALLBACK_SECRET"; return 1; }
}

start_daemons() {
  local name
  make_callback_secret || return 1
  start_process simulator "$LOG_DIR/simulator.log" - TERM "$BIN/simulator" --listen "127.0.0.1:$SIMULATOR_PORT" --callback-url "$FULFILLER_URL/v1/callbacks/simulator" --secret-file "$CALLBACK_SECRET"
  for name in $DAEMONS; do
    start_process "$name" "$LOG_DIR/$name.log" - TERM "$BIN/$name" -c "$CONFIG" serve
  done
}

# wait_ready NAME URL
wait_ready() {
  local end=$((SECONDS + 30))
  until answers "$2"; do
    is_alive "$1" && [ $SECONDS -lt $end ] || { warn "$1 did not become ready ($2); see $LOG_DIR/$1.log"; last_lines "$LOG_DIR/$1.log"; return 1; }
    pause 0.1
  done
}

wait_daemons() {
  wait_ready simulator "$SIMULATOR_URL/sim/stats" && wait_ready scheduler "$SCHEDULER_URL/readyz" &&
    wait_ready fulfiller "$FULFILLER_URL/readyz" && wait_ready reconciler "$RECONCILER_URL/readyz"
}

stop_daemons() { stop_process TERM 25 $DAEMONS; stop_process TERM 5 simulator; }
