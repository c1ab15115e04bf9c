#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Runs every fuzz target: run.sh BUILD_DIR SECONDS. Seeds are in tests/fuzz/corpus/<target>; finds stay in BUILD_DIR/corpus.
set -u
cd "$(dirname "$0")/../.." || exit 1
build=$1 seconds=$2 failed=0 count=0
for target in "$build"/fuzz/fuzz_*; do
  case $target in *.d|*\**) continue ;; esac
  name=$(basename "$target") seeds=tests/fuzz/corpus/${target##*/fuzz_}
  [ -e "tests/fuzz/$name.c" ] || continue
  count=$((count + 1))
  mkdir -p "$build/corpus/$name" "$build/crashes"
  [ -d "$seeds" ] || seeds=
  if "$target" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -max_len=65536 -print_final_stats=1 \
      -artifact_prefix="$build/crashes/$name-" "$build/corpus/$name" $seeds >"$build/$name.log" 2>&1 </dev/null; then
    echo "ok   $name  $(awk '/stat::number_of_executed_units/ { print $2 " runs" }' "$build/$name.log")"
  else
    echo "FAIL $name"
    tail -n 40 "$build/$name.log" | sed 's/^/  | /'
    failed=$((failed + 1))
  fi
done
echo "$((count - failed)) passed, $failed failed, 0 skipped"
[ $failed = 0 ] && [ $count -gt 0 ]
