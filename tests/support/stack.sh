#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The private stack: PostgreSQL, RabbitMQ, provider simulator and the three daemons, for one checkout and one person.
#   stack.sh run       everything, in the foreground, until Ctrl-C, SIGTERM or `stack.sh stop`
#   stack.sh demo      the same with scripted traffic and an audit (see demo.sh)
#   stack.sh servers   PostgreSQL and RabbitMQ only, throwaway, for tests (see servers.sh)
#   stack.sh stop      ends the stack of this LARGESSE_HOME
#   stack.sh env       NAME=value lines
#   stack.sh psql …, stack.sh rabbitmqctl …   the servers' tools, pointed at this stack
# Settings: LARGESSE_PORT, LARGESSE_HOME, LARGESSE_TEST_CLOCK, VARIANT.
set -u
ROOT=$(cd "$(dirname "$0")/../.." && pwd -P) || exit 1
for part in process places pg broker daemons demo servers; do . "$ROOT/tests/support/$part.sh"; done

# If make is killed, this script still hears of it and stops what it started.
tie_to_parent() {
  [ "${LARGESSE_TIED:-}" != $$ ] || { unset LARGESSE_TIED; return 0; }
  LARGESSE_TIED=$$ exec setpriv --pdeathsig TERM -- "$0" "$@"
}

# One stack per home: the lock is held as long as this script lives; children do not inherit it.
take_lock() {
  exec 9>>"$RUN_DIR/lock" || exit 1
  flock -n 9 || die "a stack is already running in $HOME_DIR: stop it with make stop, or set LARGESSE_HOME and LARGESSE_PORT for a second one"
  printf '%s\n' $$ >"$RUN_DIR/pid"
}

is_running() { [ -e "$RUN_DIR/lock" ] && ! flock -n "$RUN_DIR/lock" true; }

on_exit() {
  local status=$?
  trap 'HURRY=1' INT TERM
  [ -z "${STEP_PID:-}" ] || kill "$STEP_PID" 2>/dev/null
  [ ${#STARTED[@]} = 0 ] || say "Stopping …"
  stop_daemons
  if [ -n "${THROWAWAY:-}" ]; then
    stop_process KILL 1 rabbitmq
    stop_process QUIT 6 postgresql
  else
    is_alive rabbitmq && kill -TERM "${PIDS[rabbitmq]}"
    stop_process INT 20 postgresql
    stop_process TERM 20 rabbitmq
  fi
  stop_strange_pg
  stop_process TERM 3 epmd
  rm -f "$RUN_DIR/pid" "$RUN_DIR/env"
  [ -z "${THROWAWAY:-}" ] || rm -rf "$SERVER_DIR" "$HOME_DIR"
  exit $status
}

# on_signal NUMBER: an asked-for end of a stack that is up is a good end.
on_signal() {
  [ -n "${UP:-}" ] && exit 0
  exit $((128 + $1))
}

prepare() {
  set_ports
  set_server_user
  set_home
  set_daemon_env
}

begin() {
  make_home
  take_lock
  check_ports
  trap on_exit EXIT
  trap 'on_signal 2' INT
  trap 'on_signal 15' TERM
  trap 'on_signal 1' HUP
  make_server_dir || exit 1
  for log in "$LOG_DIR"/*.log; do [ ! -e "$log" ] || mv "$log" "$log.1"; done  # the run before this one
  print_env >"$RUN_DIR/env"
}

# Both servers start side by side.
start_servers() {
  start_broker || exit 1
  start_pg || exit 1
  wait_pg || exit 1
  wait_broker || exit 1
}

start_all() {
  begin
  say "Starting PostgreSQL on port $PG_PORT and RabbitMQ on port $MQ_PORT (about 10 s) …"
  start_servers
  say "Preparing the database …"
  migrate || exit 1
  say "Starting simulator, scheduler, fulfiller and reconciler …"
  start_daemons
  wait_daemons || exit 1
}

print_env() {
  cat <<ENV
PGHOST=127.0.0.1
PGPORT=$PG_PORT
PGUSER=$PG_USER
PGDATABASE=$PG_DATABASE
AMQP_URL=$AMQP_URL
SCHEDULER_URL=$SCHEDULER_URL
FULFILLER_URL=$FULFILLER_URL
RECONCILER_URL=$RECONCILER_URL
SIMULATOR_URL=$SIMULATOR_URL
ENV
}

print_urls() {
  cat <<URLS
  scheduler   $SCHEDULER_URL
  fulfiller   $FULFILLER_URL
  reconciler  $RECONCILER_URL   (console)
  simulator   $SIMULATOR_URL
  PostgreSQL  postgresql://$PG_USER@127.0.0.1:$PG_PORT/$PG_DATABASE
  RabbitMQ    $AMQP_URL
  logs        $LOG_DIR
URLS
}

# Until a signal: says once when something has ended by itself; the rest stays up.
watch() {
  local name status
  while :; do
    pause 0.5
    for name in "${!PIDS[@]}"; do
      is_alive "$name" && continue
      reap "$name"
      status=$?
      say "$name has ended (status $status); see $LOG_DIR/$name.log"
    done
  done
}

run() {
  start_all
  say "The stack is up:"
  print_urls
  say "Ctrl-C stops everything."
  UP=1
  watch
}

stop() {
  is_running || { say "no stack is running in $HOME_DIR"; return 0; }
  kill -TERM "$(cat "$RUN_DIR/pid")" || die "cannot stop the stack in $HOME_DIR"
  flock -w 90 "$RUN_DIR/lock" true || die "the stack in $HOME_DIR did not stop within 90 s"
  say "stopped"
}

show_env() {
  if is_running && [ -s "$RUN_DIR/env" ]; then cat "$RUN_DIR/env"; return; fi
  warn "no stack is running in $HOME_DIR; these are the values it would have"
  print_env
}

tools() {
  [ -d "$SERVER_DIR" ] || die "no stack in $HOME_DIR"
  SERVER_DIR=$(readlink -f "$SERVER_DIR")
  case $1 in
    psql) shift; find_postgres && pg "$@" ;;
    *) broker_tool "$@" ;;
  esac
}

command=${1:-}
case $command in
  run|demo|servers) tie_to_parent "$@"; shift; prepare; "$command" "$@" ;;
  stop) prepare; stop ;;
  env) prepare; show_env ;;
  psql|rabbitmqctl|rabbitmq-diagnostics|rabbitmq-queues) prepare; tools "$@" ;;
  *) die "usage: stack.sh run|demo|servers|stop|env|psql|rabbitmqctl" ;;
esac; exit $?  # on one line, so that the script may be edited while it runs
