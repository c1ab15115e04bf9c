#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The same work done by the fulfiller and by hand-written Node.js consumers (tests/bench/peers), in turn on one machine: claims wait in a queue; each
# is leased, delivered at the simulator under its request id, and recorded durably with its attempt and its event, so that a crash loses and doubles nothing.
# Rounds in turn; the table has their median, and each of them. What cannot be installed is left out, with a line that says so.
# BENCH_PEERS=all: also two processes of each, and a statement for each claim instead of one for many. BENCH_ROUNDS (3),
# BENCH_CLAIMS (6,000 × BENCH_SECONDS), BENCH_ONLY="NAME …" (all of them).
set -u
. "$(dirname "$0")/bench.sh"
CLAIMS=${BENCH_CLAIMS:-$((SECONDS_EACH * 6000))}
WARM=$((CLAIMS / 5))               # claims that are delivered before the clock starts
ROUNDS=${BENCH_ROUNDS:-3}
CONCURRENCY=512                    # calls at a time, of all processes together
PEERS_DIR=$ROOT/build/peers
# name|program|processes|environment. The best form of each peer, as found by BENCH_PEERS=all.
VARIANTS=(
  "largesse||1|"
  "amqplib-packed|amqplib|1|PEER_PACK=100"   # a hundred claims per message, as largesse's scheduler packs them
  "amqplib|amqplib|1|"
  "graphile-worker|graphile-worker|1|"
  "bullmq|bullmq|1|"
)
[ "${BENCH_PEERS:-}" != all ] || VARIANTS+=(
  "amqplib-packed-2|amqplib|2|PEER_PACK=100"
  "amqplib-2|amqplib|2|"
  "graphile-worker-2|graphile-worker|2|"
  "bullmq-2|bullmq|2|"
  "amqplib-single|amqplib|2|PEER_SETTLE=each"   # a statement for each claim
  "graphile-worker-single|graphile-worker|2|PEER_SETTLE=each"
  "bullmq-single|bullmq|2|PEER_SETTLE=each"
)
declare -A RATES=() CPU=() SYSTEM=() MEMORY=() LEFT_OUT=()

# --- what the peers need ----------------------------------------------------------------------------------------------
leave_out() {  # REASON PEER…
  local reason=$1 peer
  shift
  for peer; do LEFT_OUT[$peer]=1; done
  warn "Left out: $* ($reason)"
}

install_peers() {
  local lock=$PEERS_DIR/package-lock.json log=$LOG_DIR/npm.log
  "$ROOT/tests/support/deps.sh" peers >"$LOG_DIR/deps.log" 2>&1 || true
  command -v node >/dev/null && command -v npm >/dev/null || { leave_out "no Node.js here" amqplib bullmq graphile-worker; return; }
  mkdir -p "$PEERS_DIR"
  if ! cmp -s tests/bench/peers/package-lock.json "$lock" || [ ! -e "$PEERS_DIR/node_modules/.package-lock.json" ]; then
    cp tests/bench/peers/package.json tests/bench/peers/package-lock.json "$PEERS_DIR"
    say "Installing the peers' packages …"
    if ! timeout 300 npm ci --prefix "$PEERS_DIR" --omit=dev --ignore-scripts --no-audit --no-fund --fetch-retries=1 --fetch-timeout=20000 >"$log" 2>&1; then
      rm -f "$lock"
      leave_out "npm cannot install them: $(sed -n 's/^npm error \(.*\)/\1/p' "$log" | head -n 1)" amqplib bullmq graphile-worker
      return
    fi
  fi
  cp tests/bench/peers/*.js tests/bench/peers/schema.sql "$PEERS_DIR"
  start_redis || leave_out "redis-server is not here or did not start" bullmq
}

start_redis() {
  command -v redis-server >/dev/null && as_server_user mkdir -p "$SERVER_DIR/redis" || return 1
  start_process redis "$LOG_DIR/redis.log" "$SERVER_USER" TERM redis-server --bind 127.0.0.1 --port "$REDIS_PORT" --dir "$SERVER_DIR/redis" \
    --appendonly yes --appendfsync always --save "" --maxmemory-policy noeviction
  local end=$((SECONDS + 15))
  until listening_ports | grep -qx "$REDIS_PORT"; do
    is_alive redis && [ $SECONDS -lt $end ] || return 1
    pause 0.1
  done
}

# --- measuring --------------------------------------------------------------------------------------------------------
# cpu_ms NAME…: CPU time of these children, with all that descends from them and what has ended of it.
cpu_ms() {
  local name pids=
  for name; do pids+=" ${PIDS[$name]:-}"; done
  cat /proc/[0-9]*/stat 2>/dev/null | awk -v pids="$pids" -v hz="$(getconf CLK_TCK)" '
    { pid = $1; sub(/^.*\) /, ""); parent[pid] = $2; own[pid] = $12 + $13 + $14 + $15 }
    function is_ours(p) { while (p > 1) { if (p in root) return 1; p = parent[p] } return 0 }
    END { n = split(pids, list, " "); for (i = 1; i <= n; i++) root[list[i]]; for (p in own) if (is_ours(p)) ticks += own[p]; print int(ticks * 1000 / hz) }'
}

peak_kib() {  # NAME…
  local name
  for name; do awk '$1 == "VmHWM:" { print $2 }' "/proc/${PIDS[$name]}/status"; done | awk '{ sum += $1 } END { print sum + 0 }'
}

effects() { json_number "$(curl -s "$SIMULATOR_URL/sim/stats")" effects; }

wait_effects() {  # COUNT SECONDS CONSUMER…
  local count=$1 end=$((SECONDS + $2)) name
  shift 2
  until [ "$(effects)" -ge "$count" ]; do
    [ $SECONDS -lt $end ] || die "only $(effects) of $count deliveries"
    for name; do is_alive "$name" || { last_lines "$LOG_DIR/$name.log"; die "$name has ended"; }; done
    pause 0.2
  done
}

# watch NAME TABLE CONDITION CONSUMER…: while the consumers work; then their figures.
watch() {
  local name=$1 rows="from $2 where $3" left=1 end cpu system stats seconds rate begun=$SECONDS
  shift 3
  wait_effects "$WARM" 60 "$@"
  local done_before cpu_before system_before
  cpu_before=$(cpu_ms "$@") system_before=$(cpu_ms "$@" scheduler postgresql rabbitmq redis) done_before=$(effects)
  wait_effects "$CLAIMS" $((60 + CLAIMS / 300)) "$@"
  end=$((SECONDS + 20))
  while left=$(pg -At -c "select count(*) $rows and status <> 'succeeded'") && [ "$left" != 0 ] && [ $SECONDS -lt $end ]; do pause 0.2; done
  [ "$left" = 0 ] || die "$name: $left claims are not settled"
  cpu=$(($(cpu_ms "$@") - cpu_before)) system=$(($(cpu_ms "$@" scheduler postgresql rabbitmq redis) - system_before))
  MEMORY[$name]+=" $(peak_kib "$@")"
  rate=$(pg -At -c "with begin as (select updated_at as at $rows order by updated_at offset $WARM limit 1)
    select round(count(*) filter (where updated_at > at) / extract(epoch from max(updated_at) - min(at))) from (select updated_at $rows) c, begin")
  RATES[$name]+=" $rate"
  CPU[$name]+=" $((cpu * 10 * 1000 / (CLAIMS - done_before)))"
  SYSTEM[$name]+=" $((system * 10 * 1000 / (CLAIMS - done_before)))"
  stats=$(curl -s "$SIMULATOR_URL/sim/stats")
  [ "$(json_number "$stats" effects)" = "$CLAIMS" ] || die "$name: the ledger does not match: $stats"
  say "  $name: $rate deliveries/s, $(json_number "$stats" duplicates) repeated calls"
}

quiesce() {  # before the clock starts
  curl -s -o /dev/null -X POST "$SIMULATOR_URL/sim/reset"
  pg -c checkpoint
}

run_largesse() {  # ROUND
  local code=round-$1 id end
  activity "$code" 1000000000
  bench_daemon scheduler
  load --activity "$code" --connections 128 --requests "$CLAIMS" --users sequential:1 >"$HOME_DIR/load.json"
  [ "$(json_number "$(cat "$HOME_DIR/load.json")" accepted)" = "$CLAIMS" ] || die "not all were accepted: $(cat "$HOME_DIR/load.json")"
  end=$((SECONDS + 60))
  until curl -s "$SCHEDULER_URL/metrics" | grep -q '^largesse_publish_unconfirmed 0$' || [ $SECONDS -gt $end ]; do pause 0.2; done
  id=$(pg -At -c "select id from largesse.activity where code = '$code'")
  pg -c "vacuum analyze largesse.claim"
  quiesce
  bench_daemon fulfiller
  watch largesse largesse.claim "activity_id = $id" fulfiller
  stop_process TERM 25 fulfiller scheduler
}

run_peer() {  # NAME PROGRAM PROCESSES ENVIRONMENT
  local name=$1 program=$2 processes=$3 i
  local names=() environment=(PEER_CONCURRENCY=$((CONCURRENCY / processes)) $4)
  env "${environment[@]}" node "$PEERS_DIR/fill.js" "$program" "$CLAIMS" >>"$LOG_DIR/fill.log" 2>&1 || { last_lines "$LOG_DIR/fill.log"; die "$name: its queue cannot be filled"; }
  quiesce
  for ((i = 1; i <= processes; i++)); do
    start_process "$name-$i" "$LOG_DIR/$name-$i.log" - TERM env NODE_ENV=production "${environment[@]}" node "$PEERS_DIR/$program.js"
    names+=("$name-$i")
  done
  watch "$name" peer.claim true "${names[@]}"
  stop_process TERM 20 "${names[@]}"
}

median() { printf '%s\n' "$@" | sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }

report() {
  local variant name fastest=0 m
  for variant in "${VARIANTS[@]}"; do
    name=${variant%%|*}
    [ "$name" != largesse ] && [ -n "${RATES[$name]:-}" ] || continue
    m=$(median ${RATES[$name]})
    [ "$m" -le "$fastest" ] || fastest=$m
  done
  printf '\n  %-22s %12s %8s %14s %16s %10s  %s\n' "" "deliveries/s" "ratio" "CPU s per 10k" "with servers" "peak MiB" "rounds"
  for variant in "${VARIANTS[@]}"; do
    name=${variant%%|*}
    [ -n "${RATES[$name]:-}" ] || continue
    m=$(median ${RATES[$name]})
    printf '  %-22s %12s %8s %14s %16s %10s  %s\n' "$name" "$m" "$(ratio "$m" "$fastest")" "$(awk -v v="$(median ${CPU[$name]})" 'BEGIN { printf "%.2f", v / 1000 }')" \
      "$(awk -v v="$(median ${SYSTEM[$name]})" 'BEGIN { printf "%.2f", v / 1000 }')" "$(($(median ${MEMORY[$name]}) / 1024))" "${RATES[$name]# }"
    FIGURES+=("$name $m deliveries/s" "$name-cpu $(median ${CPU[$name]}) ms/10k" "$name-cpu-with-servers $(median ${SYSTEM[$name]}) ms/10k" "$name-peak $(($(median ${MEMORY[$name]}) / 1024)) MiB")
    [ "$name" != largesse ] || FIGURES+=("largesse-to-fastest-peer $(ratio "$m" "$fastest") times")
  done
}

bench_begin
REDIS_PORT=$((LARGESSE_PORT + 75))
export PEER_DATABASE="postgres://$PG_USER@127.0.0.1:$PG_PORT/$PG_DATABASE" PEER_PROVIDER=$SIMULATOR_URL PEER_BROKER=$AMQP_URL PEER_REDIS_PORT=$REDIS_PORT
export LARGESSE_SCHEDULER__CLAIMS__SWEEP_AFTER=10m
machine
install_peers
bench_daemon simulator
say "$ROUNDS rounds of $CLAIMS claims each, the first $WARM of them not measured; $CONCURRENCY calls at a time"
for ((round = 1; round <= ROUNDS; round++)); do
  for variant in "${VARIANTS[@]}"; do
    IFS='|' read -r name program processes environment <<<"$variant"
    case " ${BENCH_ONLY:-$name} " in *" $name "*) ;; *) continue ;; esac
    if [ "$name" = largesse ]; then run_largesse "$round"; continue; fi
    [ -n "${LEFT_OUT[$program]:-}" ] || run_peer "$name" "$program" "$processes" "$environment"
  done
done
report
write_json
