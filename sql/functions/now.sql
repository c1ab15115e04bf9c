-- SPDX-License-Identifier: Apache-2.0
-- What is going on now, for people who watch: cheap enough to be asked for every two seconds.

-- Writes down how many units are taken of what is live, or about to be; called every few seconds, the last one of a minute stands for it. Minutes that nobody
-- can ask for any more are removed once a minute.
-- Parameters: none. Result: how many activities. Locks: those rows. Errors: none.
create or replace function largesse.activity_sample() returns bigint
language plpgsql volatile security definer
set search_path = largesse, pg_temp set jit = off
as $$
declare
  v_now   timestamptz := largesse.clock_now();
  v_count bigint;
begin
  if extract(second from v_now) < 15 then
    delete from largesse.activity_minute m where m.minute < v_now - interval '35 minutes';
  end if;
  insert into largesse.activity_minute as m (activity_id, minute, taken)
    select a.id, date_trunc('minute', v_now), sum(s.taken)
      from largesse.activity a
      join largesse.stock s on s.activity_id = a.id
     where a.status in ('ongoing', 'paused') or (a.status = 'published' and a.start_at < v_now + interval '2 minutes')
     group by a.id order by a.id
    on conflict (activity_id, minute) do update set taken = excluded.taken where m.taken <> excluded.taken;
  get diagnostics v_count = row_count;
  return v_count;
end $$;

-- Units taken and refusals of an activity in each of the last 30 minutes, the present one last. Units given back meanwhile count against those taken.
-- Parameters: i_activity_id, i_now. Result: minute, accepted, refused; 30 rows, ascending. Locks, errors: none.
create or replace function largesse.activity_minutes(i_activity_id bigint, i_now timestamptz)
returns table (minute timestamptz, accepted bigint, refused bigint)
language sql stable
set search_path = largesse, pg_temp set jit = off
as $$
  with seen as (
    select m.minute, m.taken from largesse.activity_minute m
     where m.activity_id = i_activity_id and m.minute >= date_trunc('minute', i_now) - interval '34 minutes' and m.minute < date_trunc('minute', i_now)
    union all
    select date_trunc('minute', i_now), coalesce(sum(s.taken), 0)::bigint from largesse.stock s where s.activity_id = i_activity_id)
  select g.minute, coalesce(t.accepted, 0), coalesce(r.refused, 0)
    from generate_series(date_trunc('minute', i_now) - interval '29 minutes', date_trunc('minute', i_now), interval '1 minute') as g(minute)
    left join (select s.minute, greatest(s.taken - lag(s.taken) over (order by s.minute), 0) as accepted from seen s) t on t.minute = g.minute
    left join (select r.minute, sum(r.refusals)::bigint as refused from largesse.refusal_count r
                where r.activity_id = i_activity_id and r.minute >= date_trunc('minute', i_now) - interval '29 minutes' group by r.minute) r on r.minute = g.minute
   order by g.minute
$$;

-- One activity as the page shows it. A rate is what came in the last 60 seconds: this minute, and of the one before as much as is left of 60 seconds.
-- Parameters: i_activity, i_now. Result: JSON. Locks, errors: none.
create or replace function largesse.now_activity(i_activity largesse.activity, i_now timestamptz) returns json
language sql stable
set search_path = largesse, pg_temp set jit = off
as $$
  select json_strip_nulls(json_build_object(
           'code', i_activity.code, 'name', i_activity.name, 'kind', i_activity.kind, 'status', i_activity.status, 'eventCode', i_activity.event_code,
           'startAt', largesse.time_text(i_activity.start_at), 'endAt', largesse.time_text(i_activity.end_at), 'timeZone', i_activity.time_zone,
           'perMinute', json_build_object(
             'accepted', round(m.accepted[30] + m.accepted[29] * (60 - extract(second from i_now)) / 60),
             'refused', round(m.refused[30] + m.refused[29] * (60 - extract(second from i_now)) / 60)),
           'lastMinutes', m.items))::jsonb || jsonb_build_object('availability', largesse.activity_availability(i_activity.id,
             i_activity.stock_total + (select coalesce(sum(d.by), 0) from largesse.stock_adjustment d where d.activity_id = i_activity.id)))
    from (select array_agg(l.accepted order by l.minute) as accepted, array_agg(l.refused order by l.minute) as refused,
                 json_agg(json_build_object('at', largesse.time_text(l.minute), 'accepted', l.accepted, 'refused', l.refused) order by l.minute) as items
            from largesse.activity_minutes(i_activity.id, i_now) l) m
$$;

-- How far machines are behind: the longest that a due change of status has waited, claims whose call is due and not made (1000 means so many or more), requests that
-- wait to be judged (up to 10000), and the daemons that are there.
-- Parameters: i_now. Result: JSON. Locks, errors: none.
create or replace function largesse.now_lag(i_now timestamptz) returns json
language sql volatile
set search_path = largesse, pg_temp set jit = off
as $$
  select json_build_object(
    'transitionSeconds', (select coalesce(round(extract(epoch from max(i_now - case a.status when 'published' then a.start_at else a.end_at end))::numeric, 1), 0)
                            from largesse.activity a
                           where a.status in ('published', 'ongoing', 'paused') and case a.status when 'published' then a.start_at else a.end_at end < i_now),
    'deliveriesDue', largesse.claim_due_count(1000),
    'queued', (select count(*) from (select from largesse.claim_queue q where q.verdict is null limit 10000) q),
    'schedulers', (select count(*) from largesse.scheduler_instance i where i.seen_at > i_now - interval '5 seconds'),
    'fulfillers', (select count(*) from largesse.fulfiller_instance i where i.seen_at > i_now - interval '5 seconds'))
$$;

-- Parameters: i_limit: of activities. Result: one row: JSON text {serverTime, counts, activities, deadLetters, findings, operations, lag}; activities are those that
-- run (or are paused), then those that come, then those that ended within the last ten minutes, each by time; counts are of all, by status. Locks: none. Errors: none.
create or replace function largesse.now(i_limit int)
returns table (doc text)
language plpgsql volatile security definer
set search_path = largesse, pg_temp set jit = off
as $$
declare
  v_now timestamptz := largesse.clock_now();
begin
  return query select json_build_object(
    'serverTime', largesse.time_text(v_now),
    'counts', (select coalesce(json_object_agg(s.status, s.activities), '{}') from (
                 select a.status, count(*) as activities from largesse.activity a where a.status in ('published', 'ongoing', 'paused') group by a.status) s),
    'activities', (select coalesce(json_agg(largesse.now_activity(l.a, v_now) order by l.place, l.at, l.code), '[]') from (
                     select a, a.code, p.place, case p.place when 1 then a.end_at when 2 then a.start_at else a.end_at end as at
                       from largesse.activity a
                      cross join lateral (select case a.status when 'ongoing' then 1 when 'published' then 2 when 'paused' then case when a.start_at <= v_now then 1 else 2 end else 3 end) p(place)
                      where a.status in ('published', 'ongoing', 'paused') or (a.status = 'finished' and a.changed_at > v_now - interval '10 minutes')
                      order by 3, 4, 2 limit i_limit) l),
    'deadLetters', (select coalesce(json_object_agg(d.provider, d.letters order by d.provider), '{}') from (
                      select d.provider, count(*) as letters from largesse.dead_letter d where d.closed_at is null group by d.provider) d),
    'findings', (select count(*) from largesse.finding f where f.state <> 'gone'),
    'operations', (select count(*) from largesse.operation o where o.state = 'running'),
    'lag', largesse.now_lag(v_now))::text;
end $$;
