#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The rules of the house that a machine can check. Each fault is a line FILE:LINE: what; the exit status says whether there were any.
# "note" lines are for the eye and never fail.
set -u
cd "$(dirname "$0")/../.." || exit 1
FOUND=$(mktemp) && trap 'rm -f "$FOUND"' EXIT

files() {  # every file of the project, present or about to be
  if git rev-parse --git-dir >/dev/null 2>&1; then git ls-files -co --exclude-standard; else find . -type f -not -path './build/*' -not -path './.git/*' -not -path './var/*' | sed 's#^\./##'; fi |
    while IFS= read -r file; do [ -f "$file" ] && printf '%s\n' "$file"; done
}
mapfile -t ALL < <(files | sort)
mapfile -t C < <(printf '%s\n' "${ALL[@]}" | grep -E '\.[ch]$')
mapfile -t SOURCES < <(printf '%s\n' "${ALL[@]}" | grep -E '(\.([ch]|sql|sh|awk|js|css|def)|^Makefile|^\.ci/run)$')
mapfile -t SCRIPTS < <(printf '%s\n' "${ALL[@]}" | grep -E '(\.sh|^\.ci/run)$')

# refuse PATTERN MESSAGE FILE...: comments and strings are taken out of C first, so a rule may be named in a comment.
refuse() {
  local pattern=$1 message=$2
  shift 2
  [ $# -gt 0 ] && awk -v pattern="$pattern" -v message="$message" -f tests/lint/refuse.awk "$@" >>"$FOUND"
}

pick() { printf '%s\n' "${C[@]}" | grep -E "$1" | { [ -n "${2:-}" ] && grep -vE "$2" || cat; }; }

# header PATTERN ALLOWED_FILES MESSAGE
header() {
  local pattern=$1 allowed=$2 users
  mapfile -t users < <(pick . "$allowed")
  grep -nE "^#include <($pattern)>" "${users[@]}" /dev/null | sed -E "s#^([^:]*:[0-9]*):.*<(.*)>.*#\1: <\2> is included outside its module#" >>"$FOUND"
}

include_directions() {
  grep -nE '^#include "(scheduler|fulfiller|reconciler|tests)/' $(pick '^common/') /dev/null | sed -E 's#^([^:]*:[0-9]*):.*"(.*)".*#\1: common includes \2, which stands above it#' >>"$FOUND"
  local daemon other
  for daemon in scheduler fulfiller reconciler; do
    other=$(printf 'scheduler|fulfiller|reconciler|tests' | sed "s/$daemon|//")
    grep -nE "^#include \"($other)/" $(pick "^$daemon/") /dev/null | sed -E "s#^([^:]*:[0-9]*):.*\"(.*)\".*#\1: $daemon includes \2; daemons meet in the database only#" >>"$FOUND"
  done
  grep -nE '^#include "[^/"]*[.][ch]"' "${C[@]}" /dev/null | sed -E 's#^([^:]*:[0-9]*):.*"(.*)".*#\1: write the folder in front of \2#' >>"$FOUND"
}

third_party_headers() {
  local tests='^tests/(support|bench|unit|system|fuzz)/'
  header 'libpq-fe\.h|libpq/.*' "^common/db[_.]|$tests"
  header 'amqp.*\.h|rabbitmq-c/.*' "^common/mq[_.]|$tests"
  header 'curl/.*' "^common/http_client|$tests"
  header 'openssl/.*' "^common/signature|$tests"
  header 'event2/.*|event\.h|evhttp\.h' "^common/(loop|web)|$tests"
  header 'yaml\.h' "^common/conf|$tests"
  header 'zlib\.h' '^common/gzip_file'
  header 'csv\.h' "^common/csv|^scheduler/.*(import|csv)|^reconciler/statement"
  header 'cmocka\.h' '^tests/(unit|system)/'
}

banned() {
  local product all
  mapfile -t product < <(pick '^(common|scheduler|fulfiller|reconciler|tests/simulator)/' '^common/(banned\.h|text_number\.c|mem\.c)')
  mapfile -t all < <(pick . '^common/banned\.h')
  refuse '(^|[^_A-Za-z0-9])(gets|strcpy|stpcpy|strcat|strncat|strncpy|sprintf|vsprintf|strtok|alloca|rand|srand|tmpnam|mktemp|asctime|ctime|localtime|gmtime|sscanf)[ ]*[(]' 'banned function' "${all[@]}"
  refuse '(^|[^_A-Za-z0-9])(atoi|atol|atoll|atof)[ ]*[(]' 'numbers are read by common/text.h' "${all[@]}"
  refuse '(^|[^_A-Za-z0-9])(strtol|strtoll|strtoul|strtoull|strtod|strtof)[ ]*[(]' 'numbers are read by common/text.h' "${product[@]}"
  refuse '(^|[^_A-Za-z0-9])(system|popen|malloc|calloc|realloc|sleep|usleep)[ ]*[(]' 'not here: see common/mem.h and common/loop.h' "${product[@]}"
  refuse '^[ \t]*extern[ \t]' 'no extern: hand down a context' "${all[@]}"
}

# Objects that were built from a source of ours and keep something that can change outside a context struct.
globals() {
  local object source
  command -v objdump >/dev/null || return 0
  for object in $(find build/release/obj/common build/release/obj/scheduler build/release/obj/fulfiller build/release/obj/reconciler -name '*.o' 2>/dev/null); do
    source=${object#build/release/obj/}
    source=${source%.o}.c
    [ -f "$source" ] && [ "$object" -nt "$source" ] || continue
    objdump -t "$object" | awk -v source="$source" '/ O \.(data|bss|tdata|tbss)[ \t]/ { print source ":1: variable outside a context: " $NF }' >>"$FOUND"
  done
}

headers_of_files() {
  local file
  for file in "${SOURCES[@]}"; do
    head -n 3 "$file" | grep -q 'SPDX-License-Identifier: Apache-2.0' || echo "$file:1: no SPDX line" >>"$FOUND"
  done
  for file in $(printf '%s\n' "${ALL[@]}" | grep '^sql/functions/.*\.sql$'); do
    awk '/^ *--/ { text = text " " tolower($0) } END { if (text !~ /parameters?/ || text !~ /results?[ :,]/ || text !~ /locks?[ :,]/ || text !~ /errors?[ :,]/)
      print FILENAME ":1: its comment must name parameters, result, locks and errors" }' "$file" >>"$FOUND"
  done
}

lengths() {
  awk -f tests/lint/length.awk "${SOURCES[@]}" | sort -t: -k1,1 -k2,2n | while IFS= read -r line; do
    case $line in note*) NOTES=1; printf '%s\n' "$line" ;; *) printf '%s\n' "$line" >>"$FOUND" ;; esac
  done
}

# Paths of one person's machine have no place in the project. (Written apart, so that this line is not found.)
paths() {
  local file
  for file in "${ALL[@]}"; do
    grep -InE "(^|[^A-Za-z0-9_.}-])/(wo""rk|ro""ot|ho""me)/[A-Za-z0-9.]" "$file" | sed -E "s#^([0-9]+):.*#$file:\1: path of one machine#" >>"$FOUND"
  done
}

scripts() {
  local file
  for file in "${SCRIPTS[@]}"; do bash -n "$file" 2>>"$FOUND" || echo "$file:1: syntax" >>"$FOUND"; done
}

formatting() {
  local version count
  version=$(clang-format --version 2>/dev/null | sed 's/.*version \([0-9]*\).*/\1/')
  if [ "$version" != 14 ]; then echo "note: formatting not checked: clang-format 14 is the pinned version, here is ${version:-none}"; return; fi
  clang-format --dry-run --Werror "${C[@]}" 2>&1 | grep -oE '^[^ :]+:[0-9]+:[0-9]+: error' | cut -d: -f1 | sort | uniq -c | awk '{ print $2 ":1: " $1 " places are not formatted (make format)" }' >"$FOUND.format"
  if [ "${LINT_FORMAT:-1}" = 1 ]; then cat "$FOUND.format" >>"$FOUND"; else
    count=$(wc -l <"$FOUND.format")
    [ "$count" = 0 ] || echo "note: $count files are not formatted (make format)"
  fi
  rm -f "$FOUND.format"
}

# Alert rules and dashboards may use the names of metrics.def only: counters and gauges as they are, histograms by their parts.
metric_names() {
  local known
  known=$(sed -nE 's/^METRIC\([A-Z_]+, METRIC_([A-Z]+), "([a-z_]+)".*/\1 \2/p' */metrics.def |
    awk '$1 == "HISTOGRAM" { print $2 "_bucket"; print $2 "_sum"; print $2 "_count"; next } { print $2 }')
  printf '%s\n' "${ALL[@]}" | grep -E '^config/(prometheus|grafana)/' | xargs -r grep -HnoE 'largesse_[a-z0-9_]+' | sort -u |
    awk -v known="$known" 'BEGIN { count = split(known, names, "\n"); for (i = 1; i <= count; i++) is_known[names[i]] = 1 }
      { name = $0; sub(/.*:/, "", name); place = substr($0, 1, length($0) - length(name)); if (!(name in is_known)) print place " " name ": no metrics.def has it" }' >>"$FOUND"
}

include_directions
third_party_headers
metric_names
banned
globals
headers_of_files
lengths
paths
scripts
formatting
if [ -s "$FOUND" ]; then
  cat "$FOUND"
  echo "lint: $(wc -l <"$FOUND") faults in ${#ALL[@]} files"
  exit 1
fi
echo "lint: ${#ALL[@]} files, no faults"
