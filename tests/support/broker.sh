# SPDX-License-Identifier: Apache-2.0
# The private RabbitMQ: own node name, ports, cookie and folders, loopback only, and its own epmd, which ends with it.
# Sourced (bash) after places.sh and process.sh.

find_rabbitmq() {
  local dir
  for dir in $(ls -d /usr/lib/rabbitmq/lib/rabbitmq_server-*/sbin 2>/dev/null | sort -V -r); do
    [ -x "$dir/rabbitmq-server" ] && { MQ_BIN=$dir; return 0; }
  done
  warn "RabbitMQ is not installed (make deps)"
  return 1
}

# The environment of the broker and of its tools, as NAME=value words in MQ_ENV.
set_broker_env() {
  MQ_DIR=$SERVER_DIR/rabbitmq
  MQ_ENV=(
    HOME="$MQ_DIR" LANG=C.UTF-8 LC_ALL=C.UTF-8
    ERL_EPMD_PORT="$EPMD_PORT" ERL_EPMD_ADDRESS=127.0.0.1
    RABBITMQ_NODENAME="$MQ_NODE" RABBITMQ_NODE_PORT="$MQ_PORT" RABBITMQ_NODE_IP_ADDRESS=127.0.0.1 RABBITMQ_DIST_PORT="$MQ_DIST_PORT"
    RABBITMQ_CONF_ENV_FILE="$MQ_DIR/none" RABBITMQ_CONFIG_FILE="$MQ_DIR/rabbitmq.conf" RABBITMQ_ADVANCED_CONFIG_FILE="$MQ_DIR/none.config"
    RABBITMQ_ENABLED_PLUGINS_FILE="$MQ_DIR/enabled_plugins" RABBITMQ_MNESIA_BASE="$MQ_DIR/mnesia" RABBITMQ_LOG_BASE="$MQ_DIR/log"
    RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS="+S 2:2 -start_epmd false -kernel inet_dist_use_interface {127,0,0,1}"
    RABBITMQ_CTL_ERL_ARGS="-start_epmd false -kernel inet_dist_use_interface {127,0,0,1}"
    RUNNING_UNDER_SYSTEMD=true  # the start script then replaces itself by the broker instead of staying as its parent
  )
}

write_broker_conf() {
  cat <<CONF
# Written anew at every start of the private stack.
listeners.tcp.default = 127.0.0.1:$MQ_PORT
loopback_users.guest = true
log.console = true
log.console.level = warning
log.file = false
vm_memory_high_watermark.absolute = ${LARGESSE_BROKER_MEMORY:-1GB}
disk_free_limit.absolute = 50MB
collect_statistics_interval = 10000
CONF
  [ -z "${LARGESSE_BROKER_VHOSTS:-}" ] || printf 'load_definitions = %s\n' "$MQ_DIR/definitions.json"
}

# Tests give each program a virtual host of its own: t1, t2, … up to LARGESSE_BROKER_VHOSTS.
write_definitions() {
  local i hosts='{"name":"/"}' rights='{"user":"guest","vhost":"/","configure":".*","write":".*","read":".*"}'
  for ((i = 1; i <= ${LARGESSE_BROKER_VHOSTS:-0}; i++)); do
    hosts+=",{\"name\":\"t$i\"}"
    rights+=",{\"user\":\"guest\",\"vhost\":\"t$i\",\"configure\":\".*\",\"write\":\".*\",\"read\":\".*\"}"
  done
  printf '{"users":[{"name":"guest","password":"guest","tags":["administrator"]}],"vhosts":[%s],"permissions":[%s]}\n' "$hosts" "$rights"
}

start_broker() {
  find_rabbitmq || return 1
  set_broker_env
  as_server_user mkdir -p "$MQ_DIR/mnesia" "$MQ_DIR/log" || return 1
  if [ ! -s "$MQ_DIR/.erlang.cookie" ]; then
    head -c 24 /dev/urandom | od -An -tx1 | tr -d ' \n' | as_server_user tee "$MQ_DIR/.erlang.cookie" >/dev/null
    as_server_user chmod 400 "$MQ_DIR/.erlang.cookie" || return 1
  fi
  printf '[].\n' | as_server_user tee "$MQ_DIR/enabled_plugins" >/dev/null
  write_broker_conf | as_server_user tee "$MQ_DIR/rabbitmq.conf" >/dev/null
  write_definitions | as_server_user tee "$MQ_DIR/definitions.json" >/dev/null
  : >>"$LOG_DIR/rabbitmq.log"
  is_alive epmd || start_process epmd "$LOG_DIR/rabbitmq.log" "$SERVER_USER" TERM env "${MQ_ENV[@]}" epmd -port "$EPMD_PORT" -address 127.0.0.1
  launch_broker
}

launch_broker() {
  local dir=$PWD
  cd "$SERVER_DIR" || return 1
  start_process rabbitmq "$LOG_DIR/rabbitmq.log" "$SERVER_USER" TERM env -u NOTIFY_SOCKET "${MQ_ENV[@]}" "$MQ_BIN/rabbitmq-server"
  cd "$dir" || return 1
}

# The port opens only when the broker is up (its listeners are the last boot step).
wait_broker() {
  local end=$((SECONDS + 90))
  until listening_ports | grep -qx "$MQ_PORT"; do
    is_alive rabbitmq && [ $SECONDS -lt $end ] || { warn "RabbitMQ did not start; see $LOG_DIR/rabbitmq.log"; last_lines "$LOG_DIR/rabbitmq.log"; return 1; }
    pause 0.2
  done
}

# rabbitmqctl and its sisters for this broker.
broker_tool() {
  find_rabbitmq && set_broker_env || return 1
  local tool=$1
  shift
  (cd "$SERVER_DIR" && as_server_user env "${MQ_ENV[@]}" "$MQ_BIN/$tool" "$@")
}
