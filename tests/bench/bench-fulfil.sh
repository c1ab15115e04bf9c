#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# From waiting to delivered: claims accepted and published while no fulfiller runs, then one fulfiller and the simulator; claims per second from the
# first call until the last claim has succeeded, with the provider's ledger complete.
# BENCH_FULL=1: half a million claims, and the fulfiller's memory at each tenth of them must stay flat. BENCH_PEERS=1: the comparison with other consumers instead.
set -u
[ -z "${BENCH_PEERS:-}" ] || exec "$(dirname "$0")/bench-fulfil-peers.sh"
. "$(dirname "$0")/bench.sh"
[ -z "${BENCH_FULL:-}" ] || BENCH_CLAIMS=${BENCH_CLAIMS:-500000}
CLAIMS=${BENCH_CLAIMS:-$((SECONDS_EACH * 12000))}
GROWTH_MAX=2048   # KiB that memory may grow after the fourth tenth, when buffers have met their largest batches: 7 bytes a delivery in the rest
rss_kib() { awk '$1 == "VmRSS:" { print $2 }' "/proc/${PIDS[fulfiller]}/status"; }

# watch_memory: the figures of each tenth, as the provider counts it; fails when memory grew.
watch_memory() {
  local tenth kib warm=0 most=0 end
  for tenth in 1 2 3 4 5 6 7 8 9 10; do
    end=$((SECONDS + 60 + CLAIMS / 5000))
    until [ "$(json_number "$(curl -s "$SIMULATOR_URL/sim/stats")" effects)" -ge $((CLAIMS * tenth / 10)) ]; do
      is_alive fulfiller && [ $SECONDS -lt $end ] || die "deliveries stand still"
      pause 0.1
    done
    kib=$(rss_kib)
    figure "fulfiller's memory after $((CLAIMS * tenth / 10))" "$kib" KiB
    [ $tenth != 4 ] || warm=$kib
    [ "$kib" -le "$most" ] || most=$kib
  done
  figure "growth after $((CLAIMS * 2 / 5))" $((most - warm)) KiB "(at most $GROWTH_MAX)"
  [ $((most - warm)) -le $GROWTH_MAX ] || die "the fulfiller's memory is not flat"
}

bench_begin
machine
export LARGESSE_SCHEDULER__CLAIMS__SWEEP_AFTER=10m
activity bench 1000000000
bench_daemon simulator
bench_daemon scheduler
say "Accepting $CLAIMS claims …"
load --activity bench --connections 128 --requests "$CLAIMS" --users sequential:1 >"$HOME_DIR/load.json"
[ "$(json_number "$(cat "$HOME_DIR/load.json")" accepted)" = "$CLAIMS" ] || die "not all were accepted: $(cat "$HOME_DIR/load.json")"
end=$((SECONDS + 60))
until curl -s "$SCHEDULER_URL/metrics" | grep -q '^largesse_publish_unconfirmed 0$' || [ $SECONDS -gt $end ]; do pause 0.2; done
say "Delivering …"
bench_daemon fulfiller
[ -z "${BENCH_FULL:-}" ] || watch_memory
left=$CLAIMS
end=$((SECONDS + 60 + CLAIMS / 500))
while [ "$left" != 0 ] && [ $SECONDS -lt $end ]; do
  pause 1
  left=$(pg -At -c "select count(*) from largesse.claim where status <> 'succeeded'")
done
[ "$left" = 0 ] || die "$left claims are not delivered"
read -r seconds attempts <<<"$(pg -At -F ' ' -c "select round(extract(epoch from (select max(updated_at) from largesse.claim) - min(started_at))::numeric, 3), count(*) from largesse.attempt")"
figure "claims delivered" "$CLAIMS" claims "$attempts attempts"
stats=$(curl -s "$SIMULATOR_URL/sim/stats")
figure "effects at the provider" "$(json_number "$stats" effects)" effects "duplicates: $(json_number "$stats" duplicates)"
figure "delivery" "$(awk -v n="$CLAIMS" -v s="$seconds" 'BEGIN { print int(n / s) }')" claims/s "(at least 8000), $seconds s"
[ "$(json_number "$stats" effects)" = "$CLAIMS" ] || die "the ledger does not match"
write_json
