# SPDX-License-Identifier: Apache-2.0
# Servers for tests: throwaway, quick to end, and restartable on request. Sourced (bash) by stack.sh.
#
# A test stops a server by creating $RUN_DIR/hold.<name> and signalling the process whose pid is in $RUN_DIR/<name>.pid;
# removing the file starts it again. A server that ends without being asked to fails the run.

servers() {
  [ -n "${LARGESSE_HOME:-}" ] && [ ! -e "$HOME_DIR" ] || die "servers: LARGESSE_HOME must name a new folder; it is removed at the end"
  THROWAWAY=1
  begin
  start_servers
  note_pid postgresql
  note_pid rabbitmq
  UP=1
  say "ready"
  while :; do
    pause 0.1
    keep_up postgresql launch_pg
    keep_up rabbitmq launch_broker
  done
}

note_pid() { printf '%s\n' "${PIDS[$1]}" >"$RUN_DIR/$1.pid.new" && mv "$RUN_DIR/$1.pid.new" "$RUN_DIR/$1.pid"; }

keep_up() {
  local name=$1 launch=$2
  is_alive "$name" && return 0
  if [ -n "${PIDS[$name]:-}" ]; then
    reap "$name"
    # In this order: once the pid is gone, the test may take the hold away.
    [ -e "$RUN_DIR/hold.$name" ] || { last_lines "$LOG_DIR/$name.log"; die "$name ended unasked"; }
    rm -f "$RUN_DIR/$name.pid"
  fi
  [ -e "$RUN_DIR/hold.$name" ] && return 0
  "$launch"
  note_pid "$name"
}
