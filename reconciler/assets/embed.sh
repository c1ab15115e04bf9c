#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Turns the console's files into C: each with its type, its bytes and the same compressed, and one version (a hash of them all) that stands in
# their URLs, so that they may be cached for ever and never mix with those of another build. index.html is told it as @VERSION@.
#   embed.sh FILE… >assets.inc
set -eu

type_of() {
  case $1 in
    *.html) echo "text/html; charset=utf-8" ;;
    *.css) echo "text/css; charset=utf-8" ;;
    *.js) echo "text/javascript; charset=utf-8" ;;
    *.svg) echo "image/svg+xml" ;;
    *) echo "embed.sh: no type for $1" >&2; exit 65 ;;
  esac
}

bytes() { od -An -v -tu1 -w40 | sed 's/^ *//; s/  */,/g; s/$/,/'; }

for file; do
  [ -r "$file" ] && continue
  case $file in
    */bootstrap5/*) package=libjs-bootstrap5 ;;
    */chart.js/*) package=libjs-chart.js ;;
    *) package= ;;
  esac
  echo "$file is missing${package:+: install the Debian package $package (make deps)}" >&2
  exit 69
done

version=$(cat "$@" | sha256sum | cut -c1-16)
scratch=$(mktemp) && trap 'rm -f "$scratch"' EXIT
printf '// Made by reconciler/assets/embed.sh.\n#define ASSETS_VERSION "%s"\n' "$version"
rows=
count=0
for file; do
  name=${file##*/}
  if [ "$name" = index.html ]; then sed "s/@VERSION@/$version/g" "$file" >"$scratch"; else cat "$file" >"$scratch"; fi
  printf 'static const unsigned char plain_%d[] = {\n' "$count"
  bytes <"$scratch"
  printf '};\nstatic const unsigned char gzip_%d[] = {\n' "$count"
  gzip -n -9 <"$scratch" | bytes
  printf '};\n'
  rows="$rows  {\"$name\", \"$(type_of "$name")\", plain_$count, sizeof plain_$count, gzip_$count, sizeof gzip_$count},"$'\n'
  count=$((count + 1))
done
printf 'static const struct asset assets[] = {\n%s};\n' "$rows"
