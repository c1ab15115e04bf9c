-- SPDX-License-Identifier: Apache-2.0
-- What the rules read depends on how many claims are judged, not on how many qualifications, numbers, accounts or claims there are: before the planner knows the
-- tables, with the plans that a session keeps from then, and afterwards.
create schema probe;
select largesse.reward_put('probe', 'simulator', 100, 'CNY', '{}');
insert into largesse.event (code, name, time_zone, created_at, updated_at) values ('fair', 'fair', 'UTC', now(), now());
create function probe.make(i_code text, i_kind text, i_limits text[], i_columns text) returns bigint language plpgsql as $$
declare v_id bigint;
begin
  perform largesse.activity_put(jsonb_build_object('code', i_code, 'name', i_code, 'kind', 'reward', 'timeZone', 'UTC', 'rewardCode', 'probe', 'startAt', now() - interval '1 hour',
    'endAt', now() + interval '40 days', 'stock', '{"total": 100000}'::jsonb, 'limits', '[]'::jsonb), 'test', null);
  select id into v_id from largesse.activity where code = i_code;
  update largesse.activity set kind = i_kind, points_cost = case i_kind when 'exchange' then 1 end where id = v_id;
  execute format('update largesse.activity set %s where id = %s', i_columns, v_id);
  insert into largesse.activity_limit select v_id, split_part(l, ' ', 1), split_part(l, ' ', 2)::bigint from unnest(i_limits) l;
  perform largesse.activity_action(i_code, 'publish', 'test', null, null);
  return v_id;
end $$;
create function probe.rows_read() returns bigint language sql as $$
  select sum(coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0))::bigint from pg_stat_xact_user_tables
   where schemaname = 'largesse' and relname ~ '^(claim_2|usage_2|event_usage|group_member|qualification|points_|activity_number|waiting|blocked|user_)'
$$;
select probe.make('all', 'exchange', '{total 3,day 2,event 2}', 'needs_qualification = true, eligibility = ''$.user.level > 0 && $.progress.steps > 1'', exclusive_group = ''g'', event_code = ''fair''');
select probe.make('lot', 'number', '{}', 'reward_id = reward_id');
select probe.make('hall', 'registration', '{total 1}', 'waiting_max = 50000');
update largesse.stock s set remaining = 500 from largesse.activity a where a.id = s.activity_id and a.code = 'hall';
create procedure probe.rush(i_code text, k int, z int, i_most bigint) language plpgsql as $$
declare
  v bigint := (select id from largesse.activity where code = i_code); v_before bigint; v_verdicts text;
  u bigint[] := array(select k * 200 + m::bigint from generate_series(1, z) m); n int[]; x bigint[];
begin
  if i_code = 'lot' then n := array(select m from generate_series(1, z) m); x := u; end if;
  for twice in 1 .. 2 loop
    v_before := probe.rows_read();
    select string_agg(distinct s.verdict, ' ') into v_verdicts
      from largesse.claim_submit(v, array(select 'b' || w || case when twice = 2 and w % 2 = 0 then 'again' else '' end from unnest(u) w), u, array_fill(1, array[z]), array_fill(null::text, array[z]), '5 s', n, x) s where s.ord > 0;
    if probe.rows_read() - v_before > i_most * z then 
      raise exception '%: % claims (%) read % rows; all in all %', i_code, z, v_verdicts, probe.rows_read() - v_before, (select string_agg(relname || ' ' || t.reads, ', ' order by t.reads desc)
        from (select relname, sum(coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0)) as reads from pg_stat_xact_user_tables where schemaname = 'largesse' group by 1) t where t.reads > 0);
    end if;
    if z > 1 and v_verdicts <> (case when twice = 1 then 'ACCEPTED' when i_code = 'all' then 'QUALIFICATION_USED REPLAYED' when i_code = 'lot' then 'NUMBER_TAKEN REPLAYED' else 'ALREADY_REGISTERED REPLAYED' end) then
      raise exception '%: heard %', i_code, v_verdicts; end if;
  end loop;
end $$;
do $$ begin
  -- The first claims of a session, whose plans are kept, meet nearly empty tables.
  insert into largesse.qualification (activity_id, user_id, created_at) select a.id, n, now() from largesse.activity a, generate_series(200, 210) n where a.code = 'all';
  insert into largesse.activity_number (activity_id, number) select a.id, n from largesse.activity a, generate_series(200, 210) n where a.code = 'lot';
  insert into largesse.points_account select n, 5 from generate_series(200, 210) n;
  insert into largesse.user_attribute select n, '{"level": 1}', now() from generate_series(200, 210) n;
  insert into largesse.user_progress select n, 'steps', 2, now() from generate_series(200, 210) n;
  for i in 1 .. 8 loop
    call probe.rush('all', 1, 1, 200); call probe.rush('lot', 1, 1, 200); call probe.rush('hall', 1, 1, 200);
  end loop;
  insert into largesse.qualification (activity_id, user_id, created_at) select a.id, n, now() from largesse.activity a, generate_series(400, 20000) n where a.code in ('all', 'lot');
  insert into largesse.activity_number (activity_id, number) select a.id, n from largesse.activity a, generate_series(400, 20000) n where a.code in ('lot', 'all');
  insert into largesse.points_account select n, 5 from generate_series(400, 20000) n;
  insert into largesse.user_attribute select n, '{"level": 1}', now() from generate_series(400, 20000) n;
  insert into largesse.user_progress select n, t, 2, now() from generate_series(400, 20000) n, unnest(array['steps', 'logins']) t;
  insert into largesse.blocked_user select a.id, 30000 + n, 'x', 'test', now() from largesse.activity a, generate_series(1, 5000) n where a.code = 'all';
  for k in 2 .. 12 loop
    call probe.rush('all', k, 200, 40); call probe.rush('lot', k, 200, 25); call probe.rush('hall', k, 200, 25);
  end loop;
end $$;
analyze;
do $$ begin
  for k in 13 .. 16 loop
    call probe.rush('all', k, 200, 40); call probe.rush('lot', k, 200, 25); call probe.rush('hall', k, 200, 25);
  end loop;
end $$;
