#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# One configuration test: check_config.sh BIN_DIR FILE.yaml. Beside the file lies
#   FILE.fault  the line that `-t` must print, with exit status 78 (FILE stands for the file's path), or
#   FILE.ok     `-t` must accept it; if not empty: what `config print` must print, which must load again
# Lines at the head of the YAML file may say:  # daemons: scheduler fulfiller     and     # env: LARGESSE_LOG__LEVEL=debug
set -u
bin=$1 file=$2 base=${2%.yaml} failed=0
daemons=$(sed -n 's/^# daemons: *//p' "$file")
mapfile -t settings < <(sed -n 's/^# env: *//p' "$file")

fail() { printf '%s\n' "$*"; failed=1; }

check_fault() {
  local daemon=$1 got status expected
  got=$(env "${settings[@]}" "$bin/$daemon" -c "$file" -t 2>&1)
  status=$?
  expected=$(sed "s#FILE#$file#" "$base.fault")
  [ $status = 78 ] || fail "$daemon -t: exit status $status, 78 expected"
  [ "${got##*$'\n'}" = "$expected" ] || fail "$daemon -t printed:" "$got" "expected:" "$expected"
}

check_ok() {
  local daemon=$1 got again
  got=$(env "${settings[@]}" "$bin/$daemon" -c "$file" -t 2>&1) || fail "$daemon -t: exit status $?: $got"
  [ -s "$base.ok" ] || return 0
  got=$(env "${settings[@]}" "$bin/$daemon" -c "$file" config print) || fail "$daemon config print: exit status $?"
  diff -u "$base.ok" - <<<"$got" || fail "$daemon config print differs"
  again=$("$bin/$daemon" -c <(printf '%s\n' "$got") config print 2>&1)
  [ "$again" = "$got" ] || fail "what $daemon prints does not load as the same: $again"
}

for daemon in ${daemons:-scheduler fulfiller reconciler}; do
  if [ -e "$base.fault" ]; then check_fault "$daemon"
  elif [ -e "$base.ok" ]; then check_ok "$daemon"
  else fail "neither $base.ok nor $base.fault"; fi
done
exit $failed
