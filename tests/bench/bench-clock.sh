#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Ten thousand activities due at one instant: how long until all have moved, by the database's clock.
set -u
. "$(dirname "$0")/bench.sh"
ACTIVITIES=${BENCH_ACTIVITIES:-10000}
bench_begin
machine
say "Creating $ACTIVITIES activities …"
pg -At >/dev/null <<SQL || exit 1
select largesse.reward_put('bench', 'simulator', 100, 'CNY', '{}');
do \$\$ begin
  for n in 1 .. $ACTIVITIES loop
    perform largesse.activity_put(jsonb_build_object('code', 'clock-' || n, 'name', 'clock', 'kind', 'reward', 'timeZone', 'Asia/Shanghai', 'rewardCode', 'bench',
      'startAt', now() + interval '1 day', 'endAt', now() + interval '2 days', 'stock', '{"total": 10}'::jsonb), 'bench', null);
  end loop;
  perform largesse.activity_move(array(select id from largesse.activity), 'published', 'bench', null);
end \$\$;
vacuum analyze;
SQL
bench_daemon scheduler
pg -c "update largesse.activity set start_at = date_trunc('second', clock_timestamp()) + interval '4 seconds', changed_at = clock_timestamp()"
say "Waiting for the instant …"
end=$((SECONDS + 60))
until [ "$(pg -At -c "select count(*) from largesse.activity where status = 'published'")" = 0 ] || [ $SECONDS -gt $end ]; do pause 0.5; done
read -r moved first p99 last <<<"$(pg -At -F ' ' -c "
  select count(*), round(min(lag) * 1000, 1), round(percentile_cont(0.99) within group (order by lag)::numeric * 1000, 1), round(max(lag) * 1000, 1)
    from (select extract(epoch from h.at - a.start_at) as lag from largesse.activity_history h join largesse.activity a on a.id = h.activity_id where h.to_status = 'ongoing') l")"
figure "moves" "$moved" moves "each once: $ACTIVITIES activities"
figure "first lag" "$first" ms
figure "p99 lag" "$p99" ms
figure "last lag" "$last" ms "(below 1000)"
[ "$moved" = "$ACTIVITIES" ] || die "$moved moves for $ACTIVITIES activities"
write_json
