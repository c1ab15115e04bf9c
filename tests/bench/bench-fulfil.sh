#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# From waiting to delivered: claims accepted and published while no fulfiller runs, then one fulfiller and the simulator; claims per second from the
# first call until the last claim has succeeded, with the provider's ledger complete.
set -u
. "$(dirname "$0")/bench.sh"
CLAIMS=${BENCH_CLAIMS:-$((SECONDS_EACH * 12000))}
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
