# SPDX-License-Identifier: Apache-2.0
# What the benchmarks share: a throwaway stack with only the parts that are measured, figures, and how they are printed. Sourced (bash).
# Servers are durable (fsync, synchronous_commit). Compare figures of one run only: machines differ and are noisy.
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P) || exit 1
cd "$ROOT" || exit 1
BUILD=${BUILD:-build/release}
export LARGESSE_BIN=$ROOT/$BUILD/bin LARGESSE_LOG__LEVEL=${LARGESSE_LOG__LEVEL:-warn}
LARGESSE_PORT=${LARGESSE_PORT:-17600}
LARGESSE_HOME=${LARGESSE_HOME:-${TMPDIR:-/var/tmp}/largesse-bench-$$}
THROWAWAY=1
for part in process places pg broker daemons servers; do . "$ROOT/tests/support/$part.sh"; done
SECONDS_EACH=${BENCH_SECONDS:-5}
FIGURES=()   # "name value unit" in the order of measuring

# bench_begin: PostgreSQL, RabbitMQ and a migrated database, ended with this script.
bench_begin() {
  set_ports; set_server_user; set_home; set_daemon_env
  [ ! -e "$HOME_DIR" ] || die "$HOME_DIR exists; it would be removed at the end"
  make_home
  check_ports
  trap bench_end EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM
  make_callback_secret && make_server_dir || exit 1
  say "Starting PostgreSQL and RabbitMQ …"
  start_broker && start_pg && wait_pg && wait_broker || exit 1
  migrate || exit 1
}

bench_end() {
  local status=$?
  trap '' INT TERM
  local name others=()
  stop_daemons
  for name in "${STARTED[@]}"; do case $name in postgresql|rabbitmq|epmd) ;; *) others+=("$name") ;; esac; done
  stop_process TERM 5 "${others[@]}"
  stop_process KILL 1 rabbitmq
  stop_process QUIT 6 postgresql
  stop_process TERM 3 epmd
  rm -rf "$SERVER_DIR/" "$SERVER_DIR" "$HOME_DIR"
  exit $status
}

bench_daemon() {  # NAME
  if [ "$1" = simulator ]; then
    start_process simulator "$LOG_DIR/simulator.log" - TERM "$BIN/simulator" --listen "127.0.0.1:$SIMULATOR_PORT"
    wait_ready simulator "$SIMULATOR_URL/sim/stats" || exit 1
    return
  fi
  start_process "$1" "$LOG_DIR/$1.log" - TERM "$BIN/$1" -c "$CONFIG" serve
  local port=$1_PORT
  port=${port^^}
  wait_ready "$1" "http://127.0.0.1:${!port}/readyz" || exit 1
}

# activity CODE TOTAL [LIMITS [MEMBERS]]: published and open; TOTAL null: unlimited; MEMBERS: an object that wins over the rest, null leaves one out.
activity() {
  local limits=${3:-} members=${4:-}
  [ -n "$members" ] || members='{}'
  [ -n "$limits" ] || limits='[{"count": 1, "period": "total"}]'
  pg -At >/dev/null <<SQL || exit 1
select largesse.reward_put('bench', 'simulator', 100, 'CNY', '{}');
select p.outcome || coalesce(': ' || p.detail, '') as outcome from largesse.activity_put((select jsonb_object_agg(m.key, m.value) from jsonb_each(jsonb_build_object('code', '$1', 'name', '$1', 'kind', 'reward', 'timeZone', 'Asia/Shanghai', 'rewardCode', 'bench',
  'startAt', now() - interval '1 hour', 'endAt', now() + interval '1 day', 'stock', '{"total": $2}'::jsonb, 'limits', '$limits'::jsonb) || '$members') m where m.value <> 'null'), 'bench', null) p \gset
select case :'outcome' when 'created' then 1 else 1 / (length(:'outcome') - length(:'outcome')) end;
select largesse.activity_action('$1', 'publish', 'bench', null, null);
SQL
}

# tps SCRIPT CLIENTS [SECONDS]: transactions per second by pgbench, prepared statements.
tps() {
  PGHOST=127.0.0.1 PGPORT=$PG_PORT PGUSER=$PG_USER PGDATABASE=$PG_DATABASE \
    "$PG_BIN/pgbench" -n -M prepared -c "$2" -j "$(($2 < 2 ? 1 : 2))" -T "${3:-$SECONDS_EACH}" -f "$1" 2>>"$LOG_DIR/pgbench.log" | awk '$1 == "tps" { print int($3); seen = 1 } END { if (!seen) print 0 }'
}

best() { printf '%s\n' "$@" | sort -n | tail -n 1; }
ratio() { awk -v a="$1" -v b="$2" 'BEGIN { if (b > 0) printf "%.2f", a / b; else print "-" }'; }
json_number() { sed -n "s/.*\"$2\":\([0-9.]*\).*/\1/p" <<<"$1" | head -n 1; }

figure() {  # NAME VALUE UNIT [NOTE]
  FIGURES+=("$1 $2 $3")
  printf '  %-44s %12s %-12s %s\n' "$1" "$2" "$3" "${4:-}"
}

load() { "$ROOT/$BUILD/bench/load" --url "$SCHEDULER_URL" --json "$@" 2>>"$LOG_DIR/load.log"; }

# Machine and settings, so that figures can be read later.
machine() {
  printf '%s, %s cores, %s MiB, PostgreSQL %s, %s\n' "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)" "$(nproc)" \
    "$(awk '$1 == "MemTotal:" { print int($2 / 1024) }' /proc/meminfo)" "$(pg -At -c 'show server_version' | cut -d' ' -f1)" "$(uname -sr)"
  pg -At -F ' ' -c "select string_agg(name || '=' || current_setting(name), ' ') from unnest(array['fsync', 'synchronous_commit', 'shared_buffers', 'max_wal_size', 'wal_compression']) name"
  printf 'load at start: %s; %s s per measurement\n' "$(cut -d' ' -f1-3 /proc/loadavg)" "$SECONDS_EACH"
}

# write_json: all figures as one object, to BENCH_JSON.
write_json() {
  [ -n "${BENCH_JSON:-}" ] || return 0
  { printf '{"machine":"%s"' "$(machine | head -n 1 | tr -d '"\\')"
    local f name
    for f in "${FIGURES[@]}"; do
      read -r name value unit <<<"$(sed 's/^\(.*\) \([^ ]*\) \([^ ]*\)$/\1|\2|\3/' <<<"$f" | tr ' |' '_ ')"
      printf ',"%s":{"value":%s,"unit":"%s"}' "$name" "$(awk -v v="$value" 'BEGIN { if (v ~ /^[0-9.]+$/) print v; else print "null" }')" "$unit"
    done
    printf '}\n'; } >"$BENCH_JSON"
}
