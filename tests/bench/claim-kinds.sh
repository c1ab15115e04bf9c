# SPDX-License-Identifier: Apache-2.0
# The other kinds and the rules of bench-claim: registrations, exchanges, numbers, lists with several limits, batches of which half are refused. Sourced by
# bench-claim.sh (bash), behind the plain rewards of the same run.
KINDS='registration exchange number qualified half-refused split'
KIND_ROWS=$((100000 + 60000 * SECONDS_EACH))  # users and numbers that are there; more claims than that are not made

# kind_activity CODE KIND: published and open, with all that its claims need.
kind_activity() {
  local extra
  case $2 in
    registration) extra='{"kind": "registration", "rewardCode": null}' ;;
    exchange) extra='{"kind": "exchange", "pointsCost": 10}' ;;
    number) extra='{"kind": "number", "limits": [], "price": {"amount": 100, "currency": "CNY"}, "paymentProvider": "simulator"}' ;;
    qualified) extra='{"needsQualification": true, "channels": ["APP"], "eligibility": "$.user.level >= 1", "limits": [{"count": 5, "period": "total"}, {"count": 3, "period": "week"}, {"count": 1, "period": "day"}]}' ;;
    split) extra='{"stock": {"total": 1000000000, "segments": 4}}' ;;
    *) extra='{}' ;;
  esac
  activity "$1" 1000000000 '' "$extra"
  pg <<SQL || exit 1
insert into largesse.points_account select n, 1000 from generate_series(1, $KIND_ROWS) n where '$2' = 'exchange' on conflict do nothing;
insert into largesse.user_attribute select n, '{"level": 1}', now() from generate_series(1, $KIND_ROWS) n where '$2' = 'qualified' on conflict do nothing;
insert into largesse.qualification (activity_id, user_id, created_at) select a.id, n, now() from largesse.activity a, generate_series(1, $KIND_ROWS) n where a.code = '$1' and '$2' = 'qualified';
insert into largesse.activity_number (activity_id, number) select a.id, n from largesse.activity a, generate_series(1, $KIND_ROWS) n where a.code = '$1' and '$2' = 'number';
insert into largesse.usage select a.id, n * 2, 'total', '-infinity', 1, 1 from largesse.activity a, generate_series(1, $KIND_ROWS / 2) n where a.code = '$1' and '$2' = 'half-refused';
SQL
}

# kind_alone KIND: claim_submit by itself, batches of 256, one connection.
kind_alone() {
  local id numbers=null,null rate
  kind_activity "$1-alone" "$1"
  id=$(pg -At -c "select id from largesse.activity where code = '$1-alone'")
  [ "$1" != number ] || numbers='array(select n from generate_series(1, 256) n), array(select :u::bigint + n from generate_series(1, 256) n)'
  pg -c "create sequence if not exists bench.block minvalue 0" -c "alter sequence bench.block restart with 0" || exit 1
  cat >"$HOME_DIR/kind-$1.sql" <<SQL
select nextval('bench.block') * 256 as u \gset
select count(*) from largesse.claim_submit($id, array(select 'b' || (:u::bigint + n) from generate_series(1, 256) n), array(select :u::bigint + n from generate_series(1, 256) n),
  array_fill(1, array[256]), array_fill('APP'::text, array[256]), '1 hour', $numbers, null, $([ "$1" = split ] && echo 0 || echo null));
SQL
  rate=$(($(tps "$HOME_DIR/kind-$1.sql" 1) * 256))
  [ "$rate" -gt 0 ] || { last_lines "$LOG_DIR/pgbench.log"; die "$1 alone cannot be measured"; }
  figure "$1: claim_submit alone" "$rate" claims/s "$(ratio "$rate" "$TEXTBOOK") textbook, $(ratio "$rate" "$SUBMIT") of the plain reward"
  kind_check "$1-alone" "$1"
}

# What was measured is what it is called: so many were accepted, of half-refused batches as many as were refused.
kind_check() {
  local wrong
  wrong=$(pg -At -c "select count(*) from largesse.activity a cross join lateral (select count(*) as n, count(distinct c.status) as states, min(c.status) as status from largesse.claim c where c.activity_id = a.id) c
    where a.code = '$1' and (c.n = 0 or c.states <> 1 or c.status <> case '$2' when 'registration' then 'succeeded' when 'number' then 'held' else 'issuing' end)")
  [ "$wrong" = 0 ] || die "$1: the claims are not what this measurement means"
}

# kind_http KIND: the whole way over HTTP.
kind_http() {
  local out rate numbers=()
  kind_activity "$1-http" "$1"
  pause 1
  [ "$1" != number ] || numbers=(--numbers "1-$KIND_ROWS")
  out=$(load --activity "$1-http" --connections 256 --seconds "$SECONDS_EACH" --users "sequential:1:$KIND_ROWS" --channel APP --biz-prefix "$1-" "${numbers[@]}") || die "load failed: $out"
  rate=$(awk -v a="$(json_number "$out" accepted)" -v r="$(json_number "$out" refusedTotal)" -v s="$(json_number "$out" seconds)" 'BEGIN { print int((a + r) / s) }')
  [ "$1" = half-refused ] || [ "$(json_number "$out" refusedTotal)" = 0 ] || die "$1: some claims were refused, which this measurement cannot mean: $out"
  figure "$1: over HTTP" "$rate" answers/s "$(ratio "$rate" "$TEXTBOOK") textbook, $(ratio "$rate" "$HTTP") of the plain reward; p50 $(json_number "$out" p50) ms"
  kind_check "$1-http" "$1"
}

kinds() {
  local kind
  for kind in $KINDS; do kind_alone "$kind"; done
  for kind in $KINDS; do kind_http "$kind"; done
}
