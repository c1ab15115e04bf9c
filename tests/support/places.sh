# SPDX-License-Identifier: Apache-2.0
# Where a private stack lives: ports from LARGESSE_PORT, folders from LARGESSE_HOME, the user its servers run as.
# Sourced (bash). ROOT is the checkout.

DEFAULT_PORT=7400

set_ports() {
  local base=${LARGESSE_PORT:-$DEFAULT_PORT}
  case $base in
    ''|*[!0-9]*|??????*) die "LARGESSE_PORT=$base: must be a port number from 1024 to 65461" ;;
  esac
  base=$((10#$base))
  [ "$base" -ge 1024 ] && [ "$base" -le 65461 ] || die "LARGESSE_PORT=$base: must be a port number from 1024 to 65461"
  LARGESSE_PORT=$base
  SCHEDULER_PORT=$((base + 1)) FULFILLER_PORT=$((base + 2)) RECONCILER_PORT=$((base + 3)) SIMULATOR_PORT=$((base + 9))
  PG_PORT=$((base + 32)) MQ_PORT=$((base + 72)) MQ_DIST_PORT=$((base + 73)) EPMD_PORT=$((base + 74))
  SCHEDULER_URL=http://127.0.0.1:$SCHEDULER_PORT FULFILLER_URL=http://127.0.0.1:$FULFILLER_PORT
  RECONCILER_URL=http://127.0.0.1:$RECONCILER_PORT SIMULATOR_URL=http://127.0.0.1:$SIMULATOR_PORT
  AMQP_URL=amqp://guest:guest@127.0.0.1:$MQ_PORT/%2f
  MQ_NODE=largesse-$base@localhost
}

# check_ports: one clear line if any port is taken.
check_ports() {
  local busy pair
  busy=" $(listening_ports | tr '\n' ' ') "
  for pair in "scheduler:$SCHEDULER_PORT" "fulfiller:$FULFILLER_PORT" "reconciler:$RECONCILER_PORT" "simulator:$SIMULATOR_PORT" \
              "PostgreSQL:$PG_PORT" "RabbitMQ:$MQ_PORT" "RabbitMQ distribution:$MQ_DIST_PORT" "epmd:$EPMD_PORT"; do
    case $busy in
      *" ${pair##*:} "*) die "port ${pair##*:} (${pair%:*}) is in use: set LARGESSE_PORT to another base (now $LARGESSE_PORT)" ;;
    esac
  done
}

# As root the servers run as an unprivileged user, since PostgreSQL refuses root.
set_server_user() {
  SERVER_USER=-
  [ "$(id -u)" = 0 ] || return 0
  SERVER_USER=nobody
  id postgres >/dev/null 2>&1 && SERVER_USER=postgres
  return 0
}

as_server_user() {
  if [ "$SERVER_USER" = - ]; then "$@"; return; fi
  setpriv --reuid "$SERVER_USER" --regid "$(id -g "$SERVER_USER")" --clear-groups -- "$@"
}

set_home() {
  HOME_DIR=${LARGESSE_HOME:-var}
  case $HOME_DIR in /*) ;; *) HOME_DIR=$ROOT/$HOME_DIR ;; esac
  LOG_DIR=$HOME_DIR/log RUN_DIR=$HOME_DIR/run SERVER_DIR=$HOME_DIR/servers
}

make_home() {
  mkdir -p "$HOME_DIR" "$LOG_DIR" "$RUN_DIR" || die "cannot create $HOME_DIR (LARGESSE_HOME)"
  HOME_DIR=$(cd "$HOME_DIR" && pwd -P) || exit 1
  LOG_DIR=$HOME_DIR/log RUN_DIR=$HOME_DIR/run SERVER_DIR=$HOME_DIR/servers
}

# The servers' own folder. Where their user cannot reach LARGESSE_HOME (a checkout under a private home folder, run as
# root), it lies under /var/tmp and `servers` is a link to it.
make_server_dir() {
  local real=$SERVER_DIR
  if [ "$SERVER_USER" != - ] && ! as_server_user test -x "$HOME_DIR"; then
    real=/var/tmp/largesse-$(printf '%s' "$HOME_DIR" | cksum | tr ' ' -)
    [ ! -L "$real" ] || die "$real is a link: remove it"
    [ -L "$SERVER_DIR" ] || rm -rf "$real"  # LARGESSE_HOME was removed: begin anew
    ln -sfn "$real" "$SERVER_DIR" || return 1
  fi
  if [ ! -d "$real" ]; then
    mkdir -m 700 "$real" || return 1
    [ "$SERVER_USER" = - ] || chown "$SERVER_USER" "$real" || return 1
  fi
  as_server_user test -O "$real" || die "$real does not belong to the user the servers run as: remove $HOME_DIR"
  SERVER_DIR=$real
}
