#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Runs the tests that are built in $BUILD and ends with "N passed, N failed, N skipped".
#   run_tests.sh all|unit|sql|config|system|browser|screenshots|valgrind|chaos [NAME…]     names narrow it down: test_claim, bizid.sql
# A test program counts by its cmocka cases; an SQL file and a configuration file are one test each.
set -u
ROOT=$(cd "$(dirname "$0")/../.." && pwd -P) || exit 1
cd "$ROOT" || exit 1
for part in process places pg broker; do . "tests/support/$part.sh"; done

BUILD=${BUILD:-build/release}
OUT=${OUT:-$BUILD/test-output}
PARALLEL=${TEST_JOBS:-2}
PROGRAM_SECONDS=${TEST_SECONDS:-600}
PASSED=0 FAILED=0 SKIPPED=0
declare -A JOB_NAME=() JOB_BEGIN=()
NAMES=()
export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_stack_use_after_return=1} UBSAN_OPTIONS=${UBSAN_OPTIONS:-print_stacktrace=1}

is_wanted() {
  [ ${#NAMES[@]} -gt 0 ] || return 0
  local name
  for name in "${NAMES[@]}"; do [ "$(basename "$1")" = "$(basename "$name")" ] && return 0; done
  return 1
}

# count LOG STATUS -> "passed failed skipped", from what cmocka printed.
count() {
  awk -v status="$2" '
    /^\[  PASSED  \] [0-9]+ test/ { passed += $4 }
    /^\[  FAILED  \] [0-9]+ test/ { failed += $4 }
    /^\[  SKIPPED \] [0-9]+ test/ { skipped += $4 }
    END {
      if (status != 0 && !failed) failed = 1
      if (status == 0 && passed + skipped == 0) failed = 1
      print passed + 0, failed + 0, skipped + 0
    }' "$1"
}

# first_errors LOG: of each failed case what it said just before its first error, and with it.
first_errors() {
  awk -v before=4 -v after=16 -v most=120 '
    /^\[=+\] [0-9]+ test/ { exit }
    /^\[ RUN / { name = $NF; has_failed = kept = left = 0; next }
    /^(ERROR: |\[  (ERROR|FAILED) )/ && name && !has_failed {
      has_failed = 1
      left = after
      print "first in " name ":"
      for (i = kept > before ? kept - before : 0; i < kept; i++) print lines[i % before]
    }
    left > 0 { print; left--; if (++shown >= most) exit; next }
    { lines[kept++ % before] = $0 }' "$1"
}

# show_failure LOG: all of a short log; of a longer one the first errors, which later ones may follow from, and the end.
show_failure() {
  # A failed test leaves its memory behind; that is not what went wrong.
  local text most=${TEST_LINES:-40}
  text=$(grep -vE '^\[ RUN |^\[       OK|^    #[0-9]+ 0x|^(In)?[Dd]irect leak' "$1" | cat -s)
  [ "$(printf '%s\n' "$text" | wc -l)" -le "$most" ] || { first_errors "$1"; printf '… the last lines:\n'; }
  printf '%s\n' "$text" | tail -n "$most"
}

# report NAME LOG SECONDS PASSED FAILED SKIPPED [STATUS]
report() {
  local name=$1 log=$2 seconds=$3 passed=$4 failed=$5 skipped=$6 status=${7:-0} word=ok note=
  PASSED=$((PASSED + passed)) FAILED=$((FAILED + failed)) SKIPPED=$((SKIPPED + skipped))
  [ "$failed" = 0 ] || word=FAIL
  [ "$skipped" = 0 ] || note=", $skipped skipped"
  [ "$failed" = 0 ] || note="$note, $failed failed"
  printf '%-4s %-44s %4d passed%s  (%d s)\n' "$word" "$name" "$passed" "$note" "$seconds"
  [ "$failed" = 0 ] && return 0
  [ "$status" != 124 ] && [ "$status" != 137 ] || printf '  | ended after %s s: time-out\n' "$PROGRAM_SECONDS"
  show_failure "$log" | cut -c1-1000 | sed 's/^/  | /'
}

# How many at a time: one more when the programs that run alone have come to their end, so that as many are busy as before.
places() {
  [ -n "${ALONE:-}" ] && ! kill -0 "$ALONE" 2>/dev/null && { printf '%d' $((PARALLEL + 1)); return; }
  printf '%d' "$PARALLEL"
}

# start_job NAME COMMAND...: in the background, when a place is free.
start_job() {
  local name=$1 log
  shift
  while [ ${#JOB_NAME[@]} -ge "$(places)" ]; do end_job; done
  log=$OUT/$(printf '%s' "$name" | tr / -).out
  timeout -k 5 "$PROGRAM_SECONDS" "$@" >"$log" 2>&1 </dev/null &
  JOB_NAME[$!]=$name JOB_BEGIN[$!]=$SECONDS
}

end_job() {
  local pid status name log
  wait -n -p pid "${!JOB_NAME[@]}"
  status=$?
  name=${JOB_NAME[$pid]} log=$OUT/$(printf '%s' "${JOB_NAME[$pid]}" | tr / -).out
  case $name in
    sql/*|config/*|browser/*|answers/*) [ $status = 0 ] && report "$name" "$log" $((SECONDS - JOB_BEGIN[$pid])) 1 0 0 || report "$name" "$log" $((SECONDS - JOB_BEGIN[$pid])) 0 1 0 $status ;;
    *) report "$name" "$log" $((SECONDS - JOB_BEGIN[$pid])) $(count "$log" $status) $status ;;
  esac
  unset "JOB_NAME[$pid]" "JOB_BEGIN[$pid]"
}

finish_jobs() { while [ ${#JOB_NAME[@]} -gt 0 ]; do end_job; done; }

# --- kinds of tests -----------------------------------------------------------------------------------------------------
programs() {  # SOURCE_DIR: names of the programs, from the sources, so that stale binaries do not run
  local source
  for source in "$1"/test_*.c; do
    [ -e "$source" ] && is_wanted "${source%.c}" && basename "${source%.c}"
  done
}

run_unit() {
  local name
  for name in $(programs tests/unit); do start_job "unit/$name" "$@" "$BUILD/tests/$name"; done
  finish_jobs
}

run_config() {
  local file
  for file in tests/config/*.yaml; do
    [ -e "$file" ] && is_wanted "$file" && start_job "config/$(basename "$file")" tests/support/check_config.sh "$BUILD/bin" "$file"
  done
  is_wanted shipped && start_job config/shipped tests/support/check_config.sh "$BUILD/bin" shipped
  is_wanted openapi && start_job config/openapi tests/support/openapi.py routes "$BUILD/bin"
  is_wanted texts && start_job config/texts tests/support/console_texts.py reconciler/assets
  is_wanted texts && start_job config/finding-texts tests/support/finding_texts.py
  is_wanted docs && start_job config/docs tests/support/config_docs.sh "$BUILD/bin" check
  finish_jobs
}

run_sql() {
  local file
  for file in tests/sql/*.sql; do
    [ -e "$file" ] && is_wanted "$file" || continue
    need_servers
    start_job "sql/$(basename "$file")" tests/support/check_sql.sh "$file"
  done
  finish_jobs
}

# Programs that harm a server have the line "// runs alone": one at a time, on servers of their own, beside the others.
harms_servers() { grep -q '^// runs alone' "tests/system/$1.c"; }

# begin_alone: those programs, beside all that follows. Called once.
begin_alone() {
  local name alone=
  for name in $(programs tests/system); do harms_servers "$name" && alone="$alone $name"; done
  # shellcheck disable=SC2086
  [ -z "$alone" ] || { OUT=$OUT/alone PARITY=1 "$ROOT/tests/support/run_tests.sh" alone $alone >"$OUT/alone.report" 2>&1 </dev/null & ALONE=$!; }
}

end_alone() {
  local words
  [ -n "${ALONE:-}" ] || return 0
  wait "$ALONE"
  ALONE=
  sed '/^in [0-9]* s$/,$d' "$OUT/alone.report"
  words=$(tail -n 1 "$OUT/alone.report")
  [[ $words =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed,\ ([0-9]+)\ skipped$ ]] || die "the programs that run alone did not end properly: $words"
  PASSED=$((PASSED + BASH_REMATCH[1])) FAILED=$((FAILED + BASH_REMATCH[2])) SKIPPED=$((SKIPPED + BASH_REMATCH[3]))
}

# Programs that mostly wait have the line "// takes long": they begin first, so that none of them is left over at the end.
takes_long() { grep -q '^// takes long' "tests/system/$1.c"; }

run_system() {
  local name long= others=
  for name in $(programs tests/system); do
    harms_servers "$name" && continue
    if takes_long "$name"; then long="$long $name"; else others="$others $name"; fi
  done
  for name in $long $others; do
    need_servers
    start_job "system/$name" "$BUILD/tests/system/$name"
  done
  finish_jobs
}

run_alone() {
  local name failed
  PARALLEL=1
  for name in $(programs tests/system); do
    harms_servers "$name" || continue
    need_servers
    failed=$FAILED
    start_job "system/$name" "$BUILD/tests/system/$name"
    finish_jobs
    [ "$FAILED" = "$failed" ] || heal_servers
  done
}

# What the daemons answered is what openapi.yaml says; after a whole run no call may be without an answer.
run_answers() {
  local whole=
  [ ${#NAMES[@]} -gt 0 ] || whole=$BUILD/bin
  compgen -G "$LARGESSE_TEST_EXCHANGES/*.jsonl" >/dev/null || return 0
  start_job answers/openapi tests/support/openapi.py answers "$LARGESSE_TEST_EXCHANGES" $whole
  finish_jobs
}

# Programs that do more under LARGESSE_CHAOS say so in their source.
run_chaos() {
  local name
  PARALLEL=1 PROGRAM_SECONDS=3600
  for name in $(programs tests/system); do
    grep -q LARGESSE_CHAOS "tests/system/$name.c" || continue
    need_servers
    start_job "chaos/$name" "$BUILD/tests/system/$name"
    finish_jobs
  done
}

run_browser() {
  local script
  for script in tests/browser/test_*.sh; do
    [ -e "$script" ] && is_wanted "$script" || continue
    need_servers
    start_job "browser/$(basename "$script")" "$script"
  done
}

# The pictures that README shows.
run_screenshots() {
  need_servers
  start_job browser/screenshots.sh tests/browser/screenshots.sh
  finish_jobs
}

# Daemons write sanitizer reports to their own logs.
look_for_reports() {
  local file
  for file in $(grep -lrE 'ERROR: (Address|Leak|Thread)Sanitizer|runtime error: ' "$BUILD/log" 2>/dev/null); do
    report "sanitizer report in $file" "$file" 0 0 1 0
  done
}

# --- servers ------------------------------------------------------------------------------------------------------------
choose_port() {
  local base busy offset taken
  busy=" $(listening_ports | tr '\n' ' ') "
  for base in $(shuf -i 100-155); do
    [ $((base % 2)) = "${PARITY:-0}" ] || continue  # two runs that begin at the same moment find different ones
    base=$((base * 76)) taken=
    for offset in 32 72 73 74; do case $busy in *" $((base + offset)) "*) taken=1 ;; esac; done
    [ -n "$taken" ] || { printf '%s\n' "$base"; return; }
  done
  die "no free ports for the test servers"
}

need_servers() {
  [ -z "${SERVERS:-}" ] || return 0
  export LARGESSE_TEST_PORT LARGESSE_TEST_HOME
  LARGESSE_TEST_PORT=$(choose_port) LARGESSE_TEST_HOME=$ROOT/$BUILD/servers-$$
  LARGESSE_PORT=$LARGESSE_TEST_PORT LARGESSE_HOME=$LARGESSE_TEST_HOME LARGESSE_BROKER_VHOSTS=40 LARGESSE_SHARED_BUFFERS=256 LARGESSE_MAX_WAL_SIZE=2GB LARGESSE_FSYNC=off \
    setsid tests/support/stack.sh servers >"$OUT/servers.out" 2>&1 </dev/null &
  SERVERS=$!
  until grep -qsx ready "$OUT/servers.out"; do
    kill -0 $SERVERS 2>/dev/null || { cat "$OUT/servers.out" >&2; die "the test servers did not start"; }
    pause 0.1
  done
  export PG_BIN LARGESSE_BIN=$ROOT/$BUILD/bin
  find_postgres || exit 1
}

# Takes back every fault that a program may have left at the servers when it ended in their midst.
heal_servers() {
  local name end=$((SECONDS + 120))
  rm -f "$LARGESSE_TEST_HOME"/run/hold.*
  for name in postgresql rabbitmq; do
    until kill -CONT "$(cat "$LARGESSE_TEST_HOME/run/$name.pid" 2>/dev/null)" 2>/dev/null || [ $SECONDS -ge $end ]; do pause 0.2; done
  done
  until broker_ctl start_app || [ $SECONDS -ge $end ]; do pause 1; done
  broker_ctl set_vm_memory_high_watermark absolute 1GB
}

broker_ctl() {
  LARGESSE_PORT=$LARGESSE_TEST_PORT LARGESSE_HOME=$LARGESSE_TEST_HOME tests/support/stack.sh rabbitmqctl "$@" >>"$OUT/heal.out" 2>&1 </dev/null
}

stop_all() {
  local pid
  for pid in "${!JOB_NAME[@]}"; do kill -TERM "$pid" 2>/dev/null; done
  for pid in ${ALONE:-} ${SERVERS:-}; do kill -TERM "$pid" 2>/dev/null; done
  for pid in ${ALONE:-} ${SERVERS:-}; do wait "$pid" 2>/dev/null; done
}

main() {
  local what=${1:-all} begin=$SECONDS
  shift
  NAMES=("$@")
  [ "$what" = alone ] || rm -rf "$OUT" "$BUILD/log"
  export LARGESSE_TEST_EXCHANGES=${LARGESSE_TEST_EXCHANGES:-$ROOT/$OUT/exchanges}
  mkdir -p "$OUT" "$LARGESSE_TEST_EXCHANGES" || exit 1
  trap stop_all EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM HUP
  case $what in
    all) begin_alone; run_unit; run_config; run_sql; run_browser; run_system; end_alone; run_answers ;;
    unit) run_unit ;;
    valgrind) run_unit valgrind -q --error-exitcode=99 --leak-check=full --errors-for-leak-kinds=definite,possible --child-silent-after-fork=yes ;;
    system) begin_alone; run_system; end_alone; run_answers ;;
    browser) run_browser; finish_jobs ;;
    sql|config|alone|chaos|screenshots) "run_$what" ;;
    *) die "usage: run_tests.sh all|unit|sql|config|system|browser|screenshots|valgrind|chaos [NAME…]" ;;
  esac
  [ "$what" = alone ] || look_for_reports
  printf 'in %d s\n%d passed, %d failed, %d skipped\n' $((SECONDS - begin)) "$PASSED" "$FAILED" "$SKIPPED"
  [ "$FAILED" = 0 ]
}

main "$@"; exit $?  # on one line, so that the script may be edited while it runs
