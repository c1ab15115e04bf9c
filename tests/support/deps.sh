#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Installs the Debian packages that are missing, without starting the services that come with them.
#   deps.sh [GROUP…]   groups: build (default), test, lint, valgrind, fuzz, peers (of bench-fulfil)
# As root or with sudo; otherwise one line says which command to run.
set -u

BUILD="gcc libc6-dev make pkg-config mawk libevent-dev libpq-dev librabbitmq-dev libcurl4-openssl-dev libjansson-dev libyaml-dev libcsv-dev
  libssl-dev zlib1g-dev libcmocka-dev postgresql-15 postgresql-client-15 pgbouncer rabbitmq-server curl ca-certificates procps util-linux libjs-bootstrap5 libjs-chart.js"
TEST="python3 python3-yaml python3-jsonschema"  # and Chromium with Node.js and npm, unless others are there
LINT="clang-format"
VALGRIND="valgrind libc6-dbg"
FUZZ="clang libclang-rt-14-dev"
PEERS="redis-server"  # nodejs and npm too, unless another Node.js is there
POLICY=/usr/sbin/policy-rc.d
SAVED=$POLICY.before-largesse
MARK="written by largesse while it installs packages"

node_js() { command -v node >/dev/null || echo nodejs; command -v npm >/dev/null || echo npm; }
browser() {
  local name
  for name in chromium-headless-shell chromium chromium-browser google-chrome-stable google-chrome; do command -v "$name" >/dev/null && break; name=; done
  [ -n "$name" ] || echo chromium-headless-shell  # the same browser without windows: a quarter less work
  node_js
}

wanted() {
  local group
  for group in "${@:-build}"; do
    case $group in
      build) echo $BUILD ;;
      test) echo $TEST; browser ;;
      lint) echo $LINT ;;
      valgrind) echo $VALGRIND ;;
      fuzz) echo $FUZZ ;;
      peers) echo $PEERS; node_js ;;
      *) echo "deps.sh: unknown group $group" >&2; exit 64 ;;
    esac
  done
}

# One look into dpkg's database for all of them.
missing() {
  dpkg-query -W -f '${binary:Package} ${db:Status-Status}\n' 2>/dev/null | sed 's/:[a-z0-9]* / /' |
    awk -v wanted="$*" '
      $2 == "installed" { have[$1] = 1 }
      END {
        if (have["gawk"]) have["mawk"] = 1
        for (v = 14; v < 30; v++) if (have["postgresql-" v]) have["postgresql-15"] = have["postgresql-client-15"] = 1
        n = split(wanted, list, " ")
        for (i = 1; i <= n; i++) if (!have[list[i]]) printf "%s ", list[i]
      }'
}

# Debian starts a service when its package is installed, unless policy-rc.d says no. What was there before comes back
# exactly, also after a run that was killed.
forbid_services() {
  grep -qs "$MARK" "$POLICY" && restore_policy
  [ ! -e "$POLICY" ] && [ ! -L "$POLICY" ] || mv "$POLICY" "$SAVED" || return 1
  printf '#!/bin/sh\n# %s\nexit 101\n' "$MARK" >"$POLICY" && chmod 755 "$POLICY"
}

restore_policy() {
  grep -qs "$MARK" "$POLICY" || return 0
  rm -f "$POLICY"
  if [ -e "$SAVED" ] || [ -L "$SAVED" ]; then mv "$SAVED" "$POLICY"; fi
}

install_all() {
  exec 8>/run/lock/largesse-deps && flock 8  # two at once would save each other's policy
  trap restore_policy EXIT
  trap 'exit 130' INT TERM HUP
  forbid_services || { echo "cannot write $POLICY" >&2; exit 1; }
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -q </dev/null 8>&- || echo "apt-get update failed; trying with the package lists that are here" >&2
  local name list=()
  for name; do
    case $name in  # another release of Debian
      postgresql*-15) apt-cache show "$name" >/dev/null 2>&1 || name=${name%-15} ;;
      chromium-headless-shell) apt-cache show "$name" >/dev/null 2>&1 || name=chromium ;;
    esac
    list+=("$name")
  done
  apt-get install -y -q --no-install-recommends "${list[@]}" </dev/null 8>&- || exit 1
}

main() {
  command -v dpkg-query >/dev/null || { echo "no dpkg here: install the equivalents of:" $(wanted "$@") >&2; return 0; }
  local list
  list=$(missing $(wanted "$@")) || exit 1
  [ -n "$list" ] || return 0
  if [ "$(id -u)" = 0 ]; then
    echo "Installing missing Debian packages: $list"
    install_all $list
  elif command -v sudo >/dev/null && { sudo -n true 2>/dev/null || [ -t 0 ]; }; then
    echo "Installing missing Debian packages with sudo: $list"
    exec sudo "$0" "$@"
  else
    echo "Missing Debian packages: ${list% }. Run as root: $(cd "$(dirname "$0")" && pwd -P)/deps.sh $*" >&2
    exit 1
  fi
}

main "$@"
