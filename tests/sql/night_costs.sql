-- SPDX-License-Identifier: Apache-2.0
-- What a night costs does not grow with the history before it: pages read for the report of the last of 1, 10 and 100 nights, each of the same size, of an activity that
-- lasts for all of them and one for each night. Prints them with the times.
set time zone 'UTC';
create schema probe;
create table probe.clock (at timestamptz not null);
insert into probe.clock values ('2026-01-01 00:00Z');
grant usage on schema probe to public;
grant select on probe.clock to public;
create or replace function largesse.clock_now() returns timestamptz language sql volatile parallel safe as $$ select at from probe.clock $$;
create table probe.cost (nights int primary key, pages bigint not null, ms numeric not null);
select largesse.reward_put('voucher', 'shop', 250, 'EUR', '{}');
select largesse.activity_put(jsonb_build_object('code', c, 'name', 'n', 'kind', 'reward', 'timeZone', 'UTC', 'rewardCode', 'voucher', 'startAt', '2026-01-01T00:00:00Z', 'endAt', e,
  'stock', '{"total": 1000000}'::jsonb, 'limits', '[]'::jsonb), 'test', null) from (values ('always', '2026-06-01T00:00:00Z'), ('0', '2026-01-31T00:00:00Z')) v(c, e);
insert into largesse.activity select (jsonb_populate_record(a, jsonb_build_object('id', a.id + d, 'code', d))).* from largesse.activity a, generate_series(1, 99) d where a.code = '0';

-- Days from one number to another: of each 300 claims of the activity that lasts, 300 of one of its own, a call for each, refusals.
create function probe.days(i_from int, i_until int) returns void language sql as $$
  insert into largesse.claim (activity_id, user_id, created_at, updated_at, quantity, reward_id, biz_id, status, succeeded_at)
    select a.id, i, t.at, t.at + interval '1 s', 1, a.reward_id, d || '-' || i, 'succeeded', t.at + interval '1 s'
      from generate_series(i_from, i_until) d cross join generate_series(1, 300) i
      cross join lateral (select timestamptz '2026-01-01Z' + d * interval '1 day' + i * interval '4 min' as at) t
      join largesse.activity a on a.code in ('always', d::text) order by d, i;
  insert into largesse.attempt (activity_id, claim_id, attempt, step, provider, started_at, duration_us, outcome)
    select c.activity_id, c.id, 1, 'deliver', 'shop', c.created_at, 1000 + c.user_id, 'done' from largesse.claim c
     where c.created_at >= timestamptz '2026-01-01Z' + i_from * interval '1 day' order by c.created_at;
  insert into largesse.refusal_count select a.id, timestamptz '2026-01-01Z' + d * interval '1 day' + i * interval '1 hour', 'SOLD_OUT', 5
    from largesse.activity a, generate_series(i_from, i_until) d, generate_series(0, 23) i where a.code = 'always';
$$;
-- The report of a date, without the audit.
create function probe.night(i_date date) returns void language plpgsql as $$
declare
  v_run bigint;
begin
  update probe.clock set at = i_date + interval '1 day 3 hours';
  perform largesse.night_take(i_date, 'UTC', '02:00', 1, 'probe', '1 hour', false);
  v_run := (select run_id from largesse.audit_begin('night', i_date, null, true, 'UTC'));
  perform largesse.audit_end(v_run, 0);
  perform largesse.night_prepare(i_date);
  while largesse.night_step(i_date) loop end loop;
  perform largesse.night_finish(i_date, 1, v_run);
end $$;
-- The report of the last of so many nights, with what was read for it; the one before it first, so that what a session reads once belongs to neither.
create function probe.measure(i_nights int) returns void language plpgsql as $$
declare
  v_plan json;
begin
  if i_nights > 1 then perform probe.night(date '2026-01-01' + i_nights - 2); end if;
  execute format('explain (analyze, buffers, format json) select probe.night(%L)', date '2026-01-01' + i_nights - 1) into v_plan;
  insert into probe.cost values (i_nights, (v_plan #>> '{0,Plan,Shared Hit Blocks}')::bigint + (v_plan #>> '{0,Plan,Shared Read Blocks}')::bigint,
    round((v_plan #>> '{0,Execution Time}')::numeric, 1));
end $$;

select probe.days(0, 0);
vacuum analyze largesse.claim; vacuum analyze largesse.attempt; analyze largesse.activity;
select probe.measure(1);
select probe.days(1, 9);
analyze largesse.claim; analyze largesse.attempt; analyze largesse.activity;
select probe.measure(10);
select probe.days(10, 99);
analyze largesse.claim; analyze largesse.attempt; analyze largesse.activity;
select probe.measure(100);
\o
select nights, pages, ms from probe.cost order by nights;
do $$
declare
  v_first bigint := (select pages from probe.cost where nights = 10);
  v_last  bigint := (select pages from probe.cost where nights = 100);
begin
  if (select count(*) from largesse.claim) <> 60000 or (select claims from largesse.night where business_date = '2026-04-10') <> 600 then raise exception 'the nights are not of the same size'; end if;
  if v_last > v_first * 1.5 then raise exception 'the report of a night reads % pages after 100 nights, % after 10', v_last, v_first; end if;
end $$;
