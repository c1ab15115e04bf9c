-- SPDX-License-Identifier: Apache-2.0
-- A young table, of which the planner knows nothing yet: a few single claims first (their plans would be kept), then a rush. What taking and settling read must
-- not grow with the activity: it was a million rows for 200 claims after 3,000.
create schema probe;
select largesse.reward_put('probe', 'simulator', 100, 'CNY', '{}');
select largesse.activity_put(jsonb_build_object('code', 'e', 'name', 'e', 'kind', 'reward', 'timeZone', 'UTC', 'rewardCode', 'probe',
    'startAt', now() - interval '1 hour', 'endAt', now() + interval '40 days', 'stock', '{"total": 1000000}'::jsonb), 'test', null);
select largesse.activity_action('e', 'publish', 'test', null, null);
create function probe.rows_read() returns bigint language sql as $$ select sum(coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0))::bigint from pg_stat_xact_user_tables where schemaname = 'largesse' and relname ~ '^(claim|usage)_[0-9]' $$;
create procedure probe.rush(k int, z int) language plpgsql as $$ declare v bigint := (select id from largesse.activity where code='e'); u bigint[] := array(select k*1000+m::bigint from generate_series(1,z) m); c bigint[]; r bigint[] := array[probe.rows_read()]; o int[] := array_fill(1,array[z]); x text[] := array_fill('x'::text,array[z]); a bigint[] := array_fill(v,array[z]); begin
c := array(select s.claim_id from largesse.claim_submit(v, array(select 'b'||w from unnest(u) w), u, o, array_fill(null::text,array[z]),'5 s') s where s.verdict='ACCEPTED' order by 1); r := r||probe.rows_read();
perform largesse.claim_take(a, c, array_fill(0,array[z]), '10 s','4 s','simulator'); r := r||probe.rows_read();
perform largesse.claim_settle(a, c, o, o, array_fill('deliver'::text, array[z]), array(select case when k % 2 = 0 then 'done' else (array['done','refused','unknown'])[1+(n+k)%3] end from generate_series(1,z) n), x, o, x, x, x, array_fill(now(),array[z]), u, u, array_fill(null::text,array[z])); r := r||probe.rows_read();
if k >= 25 and (r[3] - r[2] > 5000 or r[4] - r[3] > 5000) then raise exception 'taking 200 claims read % rows, settling % rows', r[3] - r[2], r[4] - r[3]; end if; end $$;
do $$ begin for k in 1..15 loop call probe.rush(k,1); end loop; for k in 16..30 loop call probe.rush(k,200); end loop; end $$;
