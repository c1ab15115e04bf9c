# SPDX-License-Identifier: Apache-2.0
# Children of a private stack: start, watch and stop them, so that nothing outlives the script whatever ends it.
# Sourced by stack.sh and run_tests.sh (bash).

declare -A PIDS=()        # name -> pid; the pid leads its own process group
STARTED=()                # names in the order of their start
HURRY=                    # set by a second Ctrl-C: no more waiting for orderly ends

say()  { printf '%s\n' "$*"; }
warn() { printf '%s\n' "$*" >&2; }
die()  { warn "$*"; exit 1; }

# start_process NAME LOG USER DEATH_SIGNAL COMMAND...
# Own session (Ctrl-C reaches only this script, which stops things in order); the kernel sends DEATH_SIGNAL if the script is killed.
# USER "-" keeps the present one.
start_process() {
  local name=$1 log=$2 user=$3 death=$4
  shift 4
  local identity=()
  [ "$user" = - ] || identity=(--reuid "$user" --regid "$(id -g "$user")" --clear-groups)
  setsid setpriv --pdeathsig "$death" "${identity[@]}" -- "$@" </dev/null >>"$log" 2>&1 9>&- &
  PIDS[$name]=$!
  STARTED+=("$name")
}

# A child that has ended and waits to be reaped is not alive (inside a trap, bash does not reap by itself).
is_alive() {
  local line
  [ -n "${PIDS[$1]:-}" ] && { read -r line <"/proc/${PIDS[$1]}/stat"; } 2>/dev/null || return 1
  line=${line##*) }
  [ "${line%% *}" != Z ]
}

# A child's exit status after its end. Forgets the child.
reap() {
  local pid=${PIDS[$1]}
  unset "PIDS[$1]"
  wait "$pid" 2>/dev/null
}

# pause SECONDS: a sleep that forks nothing and lets traps run.
pause() {
  [ -n "${PAUSE_FD:-}" ] || { local pipe; pipe=$(mktemp -u); mkfifo -m 600 "$pipe" && exec {PAUSE_FD}<>"$pipe"; rm -f "$pipe"; }
  read -r -t "$1" -u "$PAUSE_FD" _ || true
}

# stop_process SIGNAL SECONDS NAME...: asks all at once, waits, then kills what is left, with its whole group.
stop_process() {
  local signal=$1 patience=$2 name left
  shift 2
  for name; do is_alive "$name" && kill -"$signal" "${PIDS[$name]}" 2>/dev/null; done
  local end=$((SECONDS + patience))
  while [ -z "$HURRY" ] && [ $SECONDS -lt $end ]; do
    left=
    for name; do is_alive "$name" && left=1; done
    [ -n "$left" ] || break
    pause 0.05
  done
  for name; do
    [ -n "${PIDS[$name]:-}" ] || continue
    kill -KILL -- "-${PIDS[$name]}" 2>/dev/null
    reap "$name"
  done
  return 0
}

# run_step COMMAND...: in the foreground of the script, but a signal is handled at once and ends the command.
run_step() {
  "$@" </dev/null 9>&- &
  STEP_PID=$!
  wait "$STEP_PID"
  local status=$?
  STEP_PID=
  return $status
}

# Ports something listens on, TCP 4 and 6, from the kernel's tables (no tool needed).
listening_ports() {
  cat /proc/net/tcp /proc/net/tcp6 2>/dev/null | awk '
    function hex(s,  i, n) { n = 0; for (i = 1; i <= length(s); i++) n = n * 16 + index("0123456789ABCDEF", substr(s, i, 1)) - 1; return n }
    $4 == "0A" { split($2, part, ":"); print hex(part[2]) }' | sort -un
}

# answers URL: does it say 200?
answers() { curl -s -o /dev/null -m 2 -w '%{http_code}' "$1" 2>/dev/null | grep -q '^200$'; }

# last_lines LOG: what a failed start said, indented.
last_lines() { [ -s "$1" ] && tail -n 15 "$1" | sed 's/^/  | /' >&2; return 0; }
