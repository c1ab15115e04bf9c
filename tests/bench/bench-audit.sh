#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What a full audit costs, against one plain count of the same claims by activity and user in psql; and what it costs the claims that are made meanwhile.
# BENCH_CLAIMS: how many (300,000); BENCH_FULL=1: ten million.
set -u
. "$(dirname "$0")/bench.sh"
CLAIMS=${BENCH_CLAIMS:-300000}
[ "${BENCH_FULL:-0}" = 1 ] && CLAIMS=${BENCH_CLAIMS:-10000000}
ROUNDS=${BENCH_ROUNDS:-3}
bench_begin
machine

# Four activities: nine tenths of all claims in one, with a limit in total; places with limits of a day and a week; places without limits; exchanges for points.
fill() {  # CODE ROWS STATUS: claims that have succeeded (STATUS: others a few), with all that belongs to them
  pg -v code="$1" -v rows="$2" <<'SQL'
insert into largesse.claim (activity_id, user_id, created_at, updated_at, succeeded_at, quantity, reward_id, biz_id, status, step, attempts, outcome, points)
  select a.id, 2000000000000 + n, now() - interval '30 minutes', now() - interval '20 minutes', now() - interval '20 minutes', 1, a.reward_id, 'full-' || n, 'succeeded', case when a.reward_id is not null then 'deliver' end,
         (a.reward_id is not null)::int, case when a.reward_id is not null then 'done' end, a.points_cost
    from largesse.activity a, generate_series(1, :rows) n where a.code = :'code';
insert into largesse.usage (activity_id, user_id, period, period_start, used, max_used)
  select c.activity_id, c.user_id, l.period, largesse.period_start(l.period, c.created_at, a.time_zone), c.quantity, l.max_count
    from largesse.activity a join largesse.claim c on c.activity_id = a.id join largesse.activity_limit l on l.activity_id = a.id where a.code = :'code';
insert into largesse.attempt (activity_id, claim_id, attempt, step, provider, started_at, duration_us, outcome, http_status)
  select c.activity_id, c.id, 1, 'deliver', 'simulator', now(), 1000, 'done', 200
    from largesse.activity a join largesse.claim c on c.activity_id = a.id where a.code = :'code' and c.reward_id is not null;
insert into largesse.points_entry (user_id, key, amount, balance, activity_id, claim_id, at)
  select c.user_id, 'grant/1', c.points, c.points, null, null, now() from largesse.activity a join largesse.claim c on c.activity_id = a.id where a.code = :'code' and c.points is not null;
insert into largesse.points_entry (user_id, key, amount, balance, activity_id, claim_id, at)
  select c.user_id, 'claim/' || c.activity_id || '-' || c.id, -c.points, 0, c.activity_id, c.id, now()
    from largesse.activity a join largesse.claim c on c.activity_id = a.id where a.code = :'code' and c.points is not null;
insert into largesse.points_account select c.user_id, 0 from largesse.activity a join largesse.claim c on c.activity_id = a.id where a.code = :'code' and c.points is not null;
update largesse.stock s set remaining = s.remaining - :rows, taken = :rows from largesse.activity a where a.id = s.activity_id and a.code = :'code';
SQL
}

say "Filling $CLAIMS claims …"
activity big 1000000000
activity places 1000000000 '[{"count": 2, "period": "day"}, {"count": 5, "period": "week"}]' '{"kind": "registration", "rewardCode": null}'
activity open 1000000000 '[]' '{"kind": "registration", "rewardCode": null}'
activity points 1000000000 '[]' '{"kind": "exchange", "pointsCost": 299}'
fill big $((CLAIMS * 90 / 100)) && fill places $((CLAIMS * 5 / 100)) && fill open $((CLAIMS * 4 / 100)) && fill points $((CLAIMS / 100)) || exit 1
pg -c 'vacuum analyze' -c checkpoint || exit 1

now_ms() { date +%s%3N; }
# fastest NAME COMMAND…: sets MS to the best of ROUNDS; the command's status must be 0.
fastest() {
  local begin ms round
  MS=
  for round in $(seq "$ROUNDS"); do
    begin=$(now_ms)
    "$@" >"$LOG_DIR/command.out" 2>&1 || { last_lines "$LOG_DIR/command.out"; die "failed: $*"; }
    ms=$(($(now_ms) - begin))
    [ -n "$MS" ] && [ "$MS" -le "$ms" ] || MS=$ms
  done
}
audit() { "$BIN/reconciler" -c "$CONFIG" audit "$@"; }
count() { PGHOST=127.0.0.1 PGPORT=$PG_PORT PGUSER=$PG_USER PGDATABASE=$PG_DATABASE "$PG_BIN/psql" -X -q -o /dev/null -c 'select activity_id, user_id, count(*) from largesse.claim group by 1, 2'; }

say "Auditing …"
fastest count
COUNT=$MS
figure "one count by activity and user, in psql" "$COUNT" ms "best of $ROUNDS, $CLAIMS claims"
fastest audit --all
figure "a full audit" "$MS" ms "best of $ROUNDS, clean"
FULL_RATIO=$(ratio "$MS" "$COUNT")
fastest audit
figure "a default run when no claim has changed" "$MS" ms "best of $ROUNDS; counters and attempts are read all the same"
# One counter of one user: the audit has to look closely at the activity that has it.
pg -c "update largesse.usage set used = 0 where user_id = 2000000000001 and period = 'total'" || exit 1
BEGIN=$(now_ms)
audit --all >"$LOG_DIR/command.out" 2>&1
[ $? = 1 ] || { last_lines "$LOG_DIR/command.out"; die "the damage was not found"; }
DAMAGED=$(($(now_ms) - BEGIN))
figure "a full audit that finds one wrong counter" "$DAMAGED" ms
pg -c "update largesse.usage set used = 1 where user_id = 2000000000001 and period = 'total'" || exit 1

# Claims at half of the best rate on the large activity, without an audit and with one after the other.
bench_daemon scheduler
pause 1
run_load() { load --activity big --connections 256 --seconds "$SECONDS_EACH" --users random --biz-prefix "$1-" --seed "$RANDOM" "${@:2}"; }
OUT=$(run_load warm) || die "load failed: $OUT"
BEST=$(awk -v n="$(json_number "$OUT" accepted)" -v s="$(json_number "$OUT" seconds)" 'BEGIN { print int(n / s) }')
figure "claims over HTTP, as fast as they go" "$BEST" claims/s
ALONE= BESIDE= RUNS=0
for round in 1 2 3; do
  OUT=$(run_load "alone$round" --rate $((BEST / 2)))
  ALONE="$ALONE $(json_number "$OUT" p99)"
  touch "$HOME_DIR/auditing"
  while [ -e "$HOME_DIR/auditing" ]; do
    audit --all >"$LOG_DIR/beside.$round" 2>&1 && echo >>"$HOME_DIR/clean" || { cp "$LOG_DIR/beside.$round" "$HOME_DIR/found"; break; }
  done &
  AUDITS=$!
  OUT=$(run_load "beside$round" --rate $((BEST / 2)))
  BESIDE="$BESIDE $(json_number "$OUT" p99)"
  rm -f "$HOME_DIR/auditing"
  wait $AUDITS
  [ ! -e "$HOME_DIR/found" ] || { cat "$HOME_DIR/found"; die "an audit beside claims found something"; }
done
RUNS=$(wc -l <"$HOME_DIR/clean")
middle() { printf '%s\n' $1 | sort -n | sed -n 2p; }
figure "p99 of claims at half of that" "$(middle "$ALONE")" ms "median of$ALONE"
figure "p99 of claims with audits beside them" "$(middle "$BESIDE")" ms "median of$BESIDE; $RUNS audits, all clean"

say "Ratios of this run:"
figure "a full audit / one count" "$FULL_RATIO" ratio "(at most 6)"
figure "one that finds something / one count" "$(ratio "$DAMAGED" "$COUNT")" ratio
figure "p99 with audits / without" "$(ratio "$(middle "$BESIDE")" "$(middle "$ALONE")")" ratio "(at most 2)"
write_json
