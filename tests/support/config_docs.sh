#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The generated parts of config/README.md: what `config keys` of the daemons prints, and the rows of the metrics.def files.
#   config_docs.sh BIN_DIR          writes them into the file, between its markers
#   config_docs.sh BIN_DIR check    says what in the file is not what the daemons print; status 1 then
set -u
cd "$(dirname "$0")/../.." || exit 1
bin=${1:?usage: config_docs.sh BIN_DIR [check]} file=config/README.md
made=$(mktemp) && keys=$(mktemp -d) && trap 'rm -rf "$made" "$keys"' EXIT

# table TITLE ROWS_FILE: the first two lines of every `config keys` are the head.
table() { printf '### %s\n\n' "$1"; head -n 2 "$keys/scheduler"; cat "$2"; printf '\n'; }

key_tables() {
  local daemon
  for daemon in scheduler fulfiller reconciler; do
    "$bin/$daemon" config keys >"$keys/$daemon" || { echo "$daemon config keys: status $?" >&2; return 1; }
  done
  grep -xFf "$keys/scheduler" "$keys/fulfiller" | grep -xFf "$keys/reconciler" | tail -n +3 >"$keys/shared"
  table "All daemons" "$keys/shared"
  for daemon in scheduler fulfiller reconciler; do
    tail -n +3 "$keys/$daemon" | grep -vxFf "$keys/shared" >"$keys/own"
    table "$daemon" "$keys/own"
  done
}

metric_tables() {
  local folder
  for folder in common scheduler fulfiller reconciler; do
    printf '### %s\n\n| metric | type | labels | meaning |\n|---|---|---|---|\n' "${folder/common/all daemons}"
    sed -nE 's/^METRIC\([A-Z_]+, METRIC_([A-Z]+), "([^"]+)", "([^"]*)", "([^"]*)"\)$/| `\2` | \L\1\E | \3 | \4 |/p' $folder/metrics.def
    printf '\n'
  done
}

# A row that sed cannot read must not be left out in silence.
rows_are_complete() { [ "$(cat ./*/metrics.def | grep -c '^METRIC(')" = "$(metric_tables | grep -c '^| `')" ] || { echo "a row of a metrics.def has another form" >&2; return 1; }; }

between() {  # MARKER COMMAND: copies stdin, with what lies between the markers replaced
  local marker=$1 line inside=
  while IFS= read -r line; do
    case $line in
      "<!-- begin $marker"*) printf '%s\n\n' "$line"; "$2" || return 1; inside=1 ;;
      "<!-- end $marker"*) inside= ;;
    esac
    [ -n "$inside" ] || printf '%s\n' "$line"
  done
  [ -z "$inside" ]
}

rows_are_complete || exit 1
set -o pipefail
between keys key_tables <"$file" | between metrics metric_tables >"$made" || { echo "$file: cannot be made" >&2; exit 1; }
case ${2:-} in
  check) diff -u --label "$file" --label "what the programs say (make config-docs)" "$file" "$made" ;;
  '') cat "$made" >"$file" ;;
  *) echo "usage: config_docs.sh BIN_DIR [check]" >&2; exit 64 ;;
esac
