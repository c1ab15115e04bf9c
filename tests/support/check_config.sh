#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# One configuration test: check_config.sh BIN_DIR FILE.yaml. Beside the file lies
#   FILE.fault  the line that `-t` must print, with exit status 78 (FILE stands for the file's path), or
#   FILE.ok     `-t` must accept it, `config print` must have each of these lines, and what it prints must load as the same
# Without FILE.yaml: check_config.sh BIN_DIR shipped   config/largesse.yaml must hold the built-in values, providers and statements aside
# Lines at the head of the YAML file may say:  # daemons: scheduler fulfiller     and     # env: LARGESSE_LOG__LEVEL=debug
set -u
bin=$1 file=$2 base=${2%.yaml} failed=0
[ -n "$bin" ] || exit 64
daemons=$(sed -n 's/^# daemons: *//p' "$file" 2>/dev/null)
mapfile -t settings < <(sed -n 's/^# env: *//p' "$file" 2>/dev/null)

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
  local daemon=$1 got again line
  got=$(env "${settings[@]}" "$bin/$daemon" -c "$file" -t 2>&1) || fail "$daemon -t: exit status $?: $got"
  got=$(env "${settings[@]}" "$bin/$daemon" -c "$file" config print) || fail "$daemon config print: exit status $?"
  while IFS= read -r line; do
    grep -qxF -e "$line" <<<"$got" || fail "$daemon config print has no line: $line" "it has:" "$got"
  done <"$base.ok"
  again=$("$bin/$daemon" -c <(printf '%s\n' "$got") config print 2>&1)
  [ "$again" = "$got" ] || fail "what $daemon prints does not load as the same: $again"
}

check_shipped() {
  for daemon in scheduler fulfiller reconciler; do
    diff -u --label built-in --label config/largesse.yaml <("$bin/$daemon" -c /dev/null config print | sed '/providers\|statements:/,$d') \
      <("$bin/$daemon" -c config/largesse.yaml config print | sed '/providers\|statements:/,$d') || failed=1
  done
  exit $failed
}

[ "$file" != shipped ] || check_shipped
for daemon in ${daemons:-scheduler fulfiller reconciler}; do
  if [ -e "$base.fault" ]; then check_fault "$daemon"
  elif [ -e "$base.ok" ]; then check_ok "$daemon"
  else fail "neither $base.ok nor $base.fault"; fi
done
exit $failed
