#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Line coverage after `make test VARIANT=cover`: cover.sh BUILD_DIR. Least covered files first; the annotated sources stay in BUILD_DIR/gcov.
set -u
cd "$(dirname "$0")/../.." || exit 1
build=$1
rm -rf "$build/gcov" && mkdir -p "$build/gcov" || exit 1
root=$PWD
find "$build/obj/common" "$build/obj/scheduler" "$build/obj/fulfiller" "$build/obj/reconciler" -name '*.gcda' 2>/dev/null | sort |
  (cd "$build/gcov" && while IFS= read -r data; do gcov -p -s "$root" -r -o "$root/${data%.gcda}.o" "$root/$data" 2>/dev/null; done) |
  awk -F "'" '
    /^File / { file = $2 }
    /^Lines executed:/ && file != "" { split($0, part, /[:% ]+/); lines[file] = part[5]; share[file] = part[3]; file = "" }
    END { for (f in lines) printf "%s %d %s\n", share[f], lines[f], f }' | grep -E ' (common|scheduler|fulfiller|reconciler)/' | sort -n |
  awk '{ printf "%6.1f %%  %5d lines  %s\n", $1, $2, $3; all += $2; hit += $1 * $2 / 100 } END { if (all) printf "%6.1f %%  %5d lines  in total\n", hit * 100 / all, all }'
