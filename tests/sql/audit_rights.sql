-- SPDX-License-Identifier: Apache-2.0
-- Audits run with the rights of a role that can only read, whatever they try and whoever runs them; and one pass over the claims spares a clean activity the most of them.
create schema probe;
create function probe.expect(i_what text, i_got text, i_wanted text) returns void language plpgsql as $$
begin
  if i_got is distinct from i_wanted then raise exception '%: expected %, got %', i_what, i_wanted, i_got; end if;
end $$;
create function probe.fails(i_sql text, i_state text) returns void language plpgsql as $$
begin
  begin
    execute i_sql;
  exception when others then
    if sqlstate <> i_state then raise exception '% failed with % %, not %', i_sql, sqlstate, sqlerrm, i_state; end if;
    return;
  end;
  raise exception '% did not fail', i_sql;
end $$;
select largesse.reward_put('probe', 'simulator', 100, 'CNY', '{}');
select largesse.activity_put(jsonb_build_object('code', 'a', 'name', 'a', 'kind', 'reward', 'timeZone', 'Asia/Shanghai', 'rewardCode', 'probe',
  'startAt', now() - interval '1 hour', 'endAt', now() + interval '1 day', 'stock', '{"total": 50}'::jsonb,
  'limits', '[{"count": 2, "period": "total"}, {"count": 2, "period": "day"}, {"count": 2, "period": "week"}, {"count": 2, "period": "month"}]'::jsonb), 'test', null);
select largesse.activity_action('a', 'publish', 'test', null, null);
select largesse.claim_submit(id, array(select 'b' || n from generate_series(1, 20) n), array(select n::bigint << (n % 40) from generate_series(1, 20) n),
    array(select 1 + n % 2 from generate_series(1, 20) n), array_fill(null::text, array[20]), '5 s') from largesse.activity;
select largesse.claim_move(array_agg(activity_id), array_agg(id), 'succeeded', null, null, null) from largesse.claim;
insert into largesse.attempt (activity_id, claim_id, attempt, step, provider, started_at, duration_us, outcome)
  select activity_id, id, 1, 'deliver', 'simulator', now(), 1, 'done' from largesse.claim;

-- What can only be seen by looking is always run; everything else was seen in passing.
select probe.expect('a clean activity', (select string_agg(s.name, ' ') from largesse.activity a, largesse.audit_screen(a.id, true) s),
                    (select string_agg(d.name, ' ' order by d.name) from largesse.audit_definition d where d.source = 'audit' and d.suspect is null));
-- Two users whose counters were exchanged have the same sum in all, and not the same fingerprint; so have the counters of two days.
do $$
begin
  update largesse.usage set used = 3 - used where period = 'week' and user_id in (select user_id from largesse.claim where biz_id in ('b3', 'b4'));
  perform probe.expect('exchanged', (select sum(used)::text from largesse.usage where period = 'week'), '30');
  perform probe.expect('is suspect', (select count(*)::text from largesse.activity a, largesse.audit_screen(a.id, true) s where s.name = 'usage_not_matching_claims'), '1');
  raise exception 'undo' using errcode = 'P0099';
exception when sqlstate 'P0099' then null;
end $$;
do $$
begin
  update largesse.usage set period_start = period_start - 1 where period = 'day' and used = 2;
  perform probe.expect('another day is suspect', (select count(*)::text from largesse.activity a, largesse.audit_screen(a.id, true) s where s.name = 'usage_not_matching_claims'), '1');
  raise exception 'undo' using errcode = 'P0099';
exception when sqlstate 'P0099' then null;
end $$;

-- An audit that writes, by itself or by a function that may.
create function largesse.audit_writer(i_activity_id bigint) returns table (subject text, claim_id bigint, expected text, actual text) language sql volatile
as $$ with w as (delete from largesse.usage returning 1) select 'x', null::bigint, 'a', 'b' from w $$;
create function largesse.audit_caller(i_activity_id bigint) returns table (subject text, claim_id bigint, expected text, actual text) language sql volatile
as $$ select m.code, null::bigint, 'a', 'b' from largesse.activity_move(array[i_activity_id], 'paused', 'audit', 'x') m $$;
create function largesse.audit_counter(i_activity_id bigint) returns table (subject text, claim_id bigint, expected text, actual text) language sql volatile
as $$ select nextval('largesse.claim_id_seq')::text, null::bigint, 'a', 'b' $$;
select largesse.audit_register(n, 'medium', 'e', 'c', 'n') from unnest(array['writer', 'caller', 'counter']) n;
select probe.fails(format('select * from largesse.audit_run(%L, %s)', n, a.id), '42501') from largesse.activity a, unnest(array['writer', 'caller', 'counter']) n;
select probe.expect('nothing was written', (select count(*)::text from largesse.usage) || ' ' || (select status from largesse.activity), '80 published');
-- So does one that hides it in what it asks of the claims.
create function largesse.write_in_passing() returns bigint language sql volatile as $$ with w as (delete from largesse.usage returning 1) select count(*) from w $$;
select largesse.audit_register('sly', 'medium', 'e', 'c', 'n', i_of_claims => '{count(*)}', i_suspect => 's[1] > largesse.write_in_passing()');
select probe.fails(format('select * from largesse.audit_screen(%s, true)', a.id), '42501') from largesse.activity a;
delete from largesse.audit_definition where name in ('writer', 'caller', 'counter', 'sly');

-- The reconciler's role runs audits, and reads nothing of what they read.
set role largesse_reconciler;
select largesse.audit_run('usage_not_matching_claims', 1), largesse.audit_screen(1, true);
select largesse.audit_list();
reset role;
grant usage on schema probe to largesse_reconciler, largesse_auditor;
grant execute on all functions in schema probe to largesse_reconciler, largesse_auditor;
set role largesse_reconciler;
select probe.fails('select from largesse.claim', '42501'), probe.fails('select largesse.audit_usage_not_matching_claims(1)', '42501');
set role largesse_auditor;
select probe.fails('delete from largesse.claim', '42501'), probe.fails('insert into largesse.stock values (1, 0, 1)', '42501'), probe.fails('create table largesse.x ()', '42501'),
       probe.fails('create function largesse.x() returns int language sql as ''select 1''', '42501'), probe.fails('select largesse.audit_begin(''all'', null, null, false)', '42501');
select count(*) from largesse.claim;
reset role;
