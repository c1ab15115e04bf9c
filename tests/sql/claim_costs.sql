-- SPDX-License-Identifier: Apache-2.0
-- What the statements of the claim path read depends on how many claims they are about, not on how many there are: a plan that walks through the claims of
-- other activities (a merge or hash join over the batch) shows here as rows fetched.
create schema probe;
select largesse.reward_put('probe', 'simulator', 100, 'CNY', '{}');
create function probe.make(i_code text, i_end interval) returns bigint language plpgsql as $$ begin
  perform largesse.activity_put(jsonb_build_object('code', i_code, 'name', i_code, 'kind', 'reward', 'timeZone', 'UTC', 'rewardCode', 'probe',
    'startAt', now() - interval '1 hour', 'endAt', now() + i_end, 'stock', '{"total": 100000}'::jsonb), 'test', null);
  perform largesse.activity_action(i_code, 'publish', 'test', null, null);
  return (select id from largesse.activity where code = i_code);
end $$;
-- Twenty thousand claims in the month of the tested activity, most of them with ids behind it, and many empty months: what led the planner to a merge join over
-- all claims. (A month that is still empty when `vacuum analyze` sees it misleads it until the next analyze; nothing in these statements can help that.)
select probe.make('first-' || n, interval '40 days') from generate_series(1, 5) n;
insert into largesse.claim (activity_id, user_id, created_at, updated_at, next_attempt_at, quantity, reward_id, biz_id, status, step)
  select a.id + 100 + g % 100, g, now(), now(), case when g % 25 = 0 then now() + interval '1 hour' end, 1, a.reward_id, 'old-' || g, case when g % 25 = 0 then 'issuing' else 'succeeded' end, 'deliver'
    from largesse.activity a, generate_series(1, 20000) g where a.code = 'first-1';
insert into largesse.claim (activity_id, user_id, created_at, updated_at, next_attempt_at, quantity, reward_id, biz_id, status, step)
  select a.id, g, now(), now(), now() + interval '1 hour', 1, a.reward_id, 'old-' || g, 'issuing', 'deliver' from largesse.activity a, generate_series(1, 1000) g where a.code like 'first-%';
create temp table tested as select probe.make('tested', interval '40 days') as id;
-- Every month more makes probing dearer in the planner's eyes, and joins over everything cheaper.
select count(largesse.partitions_ensure(m)) from generate_series(largesse.partition_month(now()), largesse.partition_month(now()) + 11) m;
vacuum analyze;

create function probe.rows_read() returns bigint language sql as $$
  select sum(coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0))::bigint from pg_stat_xact_user_tables where schemaname = 'largesse' and relname ~ '^(claim|usage)_[0-9]'
$$;
create procedure probe.check(i_what text, i_before bigint, i_most bigint) language plpgsql as $$ begin
  if probe.rows_read() - i_before > i_most then raise exception '% read % rows', i_what, probe.rows_read() - i_before; end if;
end $$;
-- 50 claims from click to settlement, many times over: also with the plans that a session keeps.
do $$
declare
  v_id bigint := (select id from tested); v_claims bigint[]; v_ids bigint[] := array_fill(v_id, array[50]); v_before bigint;
  v_users bigint[]; v_ones int[] := array_fill(1, array[50]); v_texts text[] := array_fill('x'::text, array[50]);
begin
  for k in 1 .. 12 loop
    v_before := probe.rows_read();
    v_users := array(select k * 1000 + n::bigint from generate_series(1, 50) n);
    v_claims := array(select s.claim_id from largesse.claim_submit(v_id, array(select 'b' || u from unnest(v_users) u), v_users, v_ones,
      array_fill(null::text, array[50]), '-1 s') s where s.verdict = 'ACCEPTED' order by 1);
    if cardinality(v_claims) <> 50 then raise exception 'only % accepted', cardinality(v_claims); end if;
    call probe.check('claim_submit', v_before, 200);
    v_before := probe.rows_read();
    if (select count(*) from largesse.claim_sweep(50, '-infinity', '1 h', '{}')) <> 50 then raise exception 'not swept'; end if;
    call probe.check('claim_sweep', v_before, 1000);
    v_before := probe.rows_read();
    if (select count(*) from largesse.claim_take(v_ids, v_claims, array_fill(0, array[50]), '10 s', '4 s', 'simulator')) <> 50 then raise exception 'not taken'; end if;
    call probe.check('claim_take', v_before, 1000);
    v_before := probe.rows_read();
    perform largesse.claim_after_lease('-infinity', '{}');
    call probe.check('claim_after_lease', v_before, 1000);
    v_before := probe.rows_read();
    perform largesse.claim_settle(v_ids, v_claims, v_ones, v_ones, array_fill('deliver'::text, array[50]), array(select case when k % 2 = 0 then 'done' else (array['done', 'refused', 'unknown'])[1 + (n + k) % 3] end from generate_series(1, 50) n), v_texts, v_ones,
      v_texts, v_texts, v_texts, array_fill(now(), array[50]), v_users, v_users, array_fill(null::text, array[50]));
    call probe.check('claim_settle', v_before, 2000);
  end loop;
  v_before := probe.rows_read();
  perform largesse.claim_due_count(1000);
  perform largesse.delivery_figures();
  call probe.check('counting due claims', v_before, 1000);
end $$;
