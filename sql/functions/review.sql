-- SPDX-License-Identifier: Apache-2.0
-- What became of an activity, or of all activities of an event: first what is to be looked at, then one short statement per activity and part, at last all of them
-- together. Nothing is written and nothing locked; the parts of an activity on which claims are made are a moment apart. Groups are few whatever the planner thinks of
-- expressions: they are hashed, not sorted.

-- What a review goes through. Parameters: i_what ('activity', 'event'), i_code. Result: a row per activity, in the order of their starts (drafts of an event left out; at
-- most 2000): its id, and the time that all of them cover, cut into buckets: from when, seconds of each, how many. No row: there is none of this code; one without an
-- activity: an event without any. Locks, errors: none.
create or replace function largesse.review_begin(i_what text, i_code text)
returns table (activity_id bigint, from_at timestamptz, width int, buckets int)
language plpgsql stable security definer
set search_path = largesse, pg_temp set jit = off
as $$
#variable_conflict use_column
declare
  v_ids   bigint[];
  v_from  timestamptz;
  v_until timestamptz;
  v_now   timestamptz := largesse.clock_now();
begin
  if i_what = 'event' and not exists (select from largesse.event e where e.code = i_code) then return; end if;
  select array_agg(a.id order by a.start_at, a.id), min(a.start_at), max(a.latest_end_at) into v_ids, v_from, v_until
    from (select a.* from largesse.activity a
           where case i_what when 'event' then a.event_code = i_code and a.status <> 'draft' else a.code = i_code end order by a.start_at, a.id limit 2000) a;
  if v_ids is null and i_what <> 'event' then return; end if;
  v_from := coalesce(v_from, v_now);
  v_until := greatest(least(v_until, v_now), v_from + interval '1 minute');
  width := largesse.review_width(ceil(extract(epoch from v_until - v_from))::bigint);
  from_at := v_from;
  buckets := ceil(extract(epoch from v_until - v_from) / width)::int;
  return query select i.id, from_at, width, buckets from unnest(coalesce(v_ids, array[null::bigint])) with ordinality as i(id, place) order by i.place;
end $$;

-- Into how long pieces a time is cut, so that there are at most 72. Parameters: i_seconds. Result: seconds. Locks, errors: none.
create or replace function largesse.review_width(i_seconds bigint) returns int
language sql immutable
as $$
  select min(w) from unnest(array[1, 5, 10, 30, 60, 300, 600, 900, 1800, 3600, 10800, 21600, 43200, 86400, 604800, 2592000, 31536000]) w where i_seconds <= w * 72::bigint
$$;

-- The bucket of an instant: what was before the first is in it, what came after the last has the number behind it. Parameters: i_at, i_from, i_width, i_buckets. Result: from 0
-- to i_buckets; null for null. Locks, errors: none.
create or replace function largesse.review_bucket(i_at timestamptz, i_from timestamptz, i_width int, i_buckets int) returns int
language sql immutable
as $$ select case when i_at is not null then least(greatest(floor(date_part('epoch', i_at - i_from) / i_width), 0), i_buckets)::int end $$;

-- A duration in milliseconds, rounded up to three digits: so durations of many activities can be counted and put together. Parameters: i_us: microseconds. Result: the number.
-- Locks, errors: none.
create or replace function largesse.review_ms(i_us bigint) returns bigint
language sql immutable
as $$
  select case when i_us <= 999000 then (i_us + 999) / 1000 when i_us <= 9990000 then (i_us + 9999) / 10000 * 10 when i_us <= 99900000 then (i_us + 99999) / 100000 * 100
           when i_us <= 999000000 then (i_us + 999999) / 1000000 * 1000 when i_us <= 9990000000 then (i_us + 9999999) / 10000000 * 10000
           else (i_us + 99999999) / 100000000 * 100000 end
$$;

-- One part of an activity. Parameters: i_activity_id; i_part: 1: claims and stock, 2: times to delivery, 3: calls at providers, 4: refusals, adjustments, limits, dead letters; the buckets as
-- review_begin gives them. Result: JSON text for review_end. Locks, errors: none.
create or replace function largesse.review_part(i_activity_id bigint, i_part int, i_from timestamptz, i_width int, i_buckets int) returns text
language sql stable security definer
set search_path = largesse, pg_temp set jit = off
as $$
  select case i_part when 1 then largesse.review_claims(i_activity_id, i_from, i_width, i_buckets)
                     when 2 then largesse.review_delays_of(i_activity_id)
                     when 3 then largesse.review_calls(i_activity_id)
                     else largesse.review_rest(i_activity_id, i_from, i_width, i_buckets) end
$$;

-- Claims, grouped by what is told of them, and when each took its stock and gave it back. One that waited took it when it was issued; whether one that ended without that had
-- been offered a place is not kept, and it counts as never having had one. Parameters, result: as review_part. Locks, errors: none.
create or replace function largesse.review_claims(i_activity_id bigint, i_from timestamptz, i_width int, i_buckets int) returns text
language plpgsql stable
set search_path = largesse, pg_temp set jit = off set work_mem = '64MB' set enable_sort = off set plan_cache_mode = force_custom_plan
as $$
declare
  v_waits boolean := (select a.waiting_max is not null from largesse.activity a where a.id = i_activity_id);
  v_is_away boolean := largesse.archive_is_away(i_activity_id);
  v_width interval := make_interval(secs => i_width);
  v_until timestamptz := i_from + v_width * i_buckets;
begin
  return (
    -- Instants are cut into pieces first, which is cheap, and these are numbered afterwards.
    with raw as (
      select date_bin(v_width, case when c.created_at >= v_until then v_until else c.created_at end, i_from) as made,
             date_bin(v_width, case when c.succeeded_at >= v_until then v_until else c.succeeded_at end, i_from) as done,
             case when v_waits then date_bin(v_width, coalesce(c.issued_at, c.succeeded_at, case when c.status in ('issuing', 'failed', 'rolled_back') then c.created_at
                                                                                                when c.status = 'offered' then c.updated_at end), i_from) end as taken,
             date_bin(v_width, case when c.expired_at is not null then c.expired_at when c.status = 'expired' then c.updated_at end, i_from) as expired,
             date_bin(v_width, case when c.issued_at > c.expired_at and not v_waits then c.issued_at end, i_from) as retaken,
             date_bin(v_width, case when c.ended_at is not null then c.ended_at when c.status in ('cancelled', 'failed', 'rolled_back') then c.updated_at end, i_from) as ended,
             c.status, c.failure_code, c.reward_id, c.payment_id, c.paid_at is not null as is_paid, c.refunded_at is not null as is_refunded,
             c.reversed_at is not null as is_reversed, c.review_since is not null as is_under_review, count(*) as n, sum(c.quantity) as quantity
        from (select b.* from largesse.claim b where not v_is_away and b.activity_id = i_activity_id
              union all select b.* from largesse.archive_claims(i_activity_id) b where v_is_away) c
       group by 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14
    ), seen as materialized (
      select largesse.review_bucket(r.made, i_from, i_width, i_buckets) as made, largesse.review_bucket(r.done, i_from, i_width, i_buckets) as done,
             largesse.review_bucket(case when v_waits then r.taken else r.made end, i_from, i_width, i_buckets) as taken,
             largesse.review_bucket(r.expired, i_from, i_width, i_buckets) as expired, largesse.review_bucket(r.retaken, i_from, i_width, i_buckets) as retaken,
             largesse.review_bucket(r.ended, i_from, i_width, i_buckets) as ended, r.status, r.failure_code, r.reward_id, r.payment_id, r.is_paid, r.is_refunded,
             r.is_reversed, r.is_under_review, r.n, r.quantity
        from raw r
    )
    select json_build_object(
      'a', i_activity_id,
      'groups', coalesce((select json_agg(json_build_array(s.made, s.done, s.taken, s.expired, s.retaken, s.ended, s.status, s.failure_code, s.reward_id, s.payment_id, s.is_paid,
                                                           s.is_refunded, s.is_reversed, s.is_under_review, s.n, s.quantity)) from seen s), '[]'::json),
      'held', coalesce((select sum(s.quantity) from seen s where s.status in (select t.status from largesse.claim_state t where t.holds_stock)), 0),
      'total', (select a.stock_total from largesse.activity a where a.id = i_activity_id),
      'adjustments', coalesce((select sum(d.by) from largesse.stock_adjustment d where d.activity_id = i_activity_id), 0),
      'remaining', (select sum(k.remaining) from largesse.stock k where k.activity_id = i_activity_id))::text);
end $$;

-- Times from when a delivery came due to when the claim succeeded. Parameters: i_activity_id. Result: as review_part. Locks, errors: none.
create or replace function largesse.review_delays_of(i_activity_id bigint) returns text
language plpgsql stable
set search_path = largesse, pg_temp set jit = off set work_mem = '64MB' set enable_sort = off set plan_cache_mode = force_custom_plan
as $$
declare
  v_is_away boolean := largesse.archive_is_away(i_activity_id);
begin
  return (
    select json_build_object('a', i_activity_id, 'delays', coalesce(json_agg(json_build_array(d.ms, d.n)), '[]'::json))::text
      from (select largesse.review_ms(greatest((date_part('epoch', c.succeeded_at - coalesce(c.issued_at, c.created_at)) * 1000000)::bigint, 0)) as ms, count(*) as n
              from (select b.* from largesse.claim b where not v_is_away and b.activity_id = i_activity_id
              union all select b.* from largesse.archive_claims(i_activity_id) b where v_is_away) c
             where c.succeeded_at is not null and c.reward_id is not null group by 1) d);
end $$;

-- Calls at providers, grouped. A call is a repeated one when its claim had a call of the same step before; inquiries are none. Parameters: i_activity_id. Result: as review_part.
-- Locks, errors: none.
create or replace function largesse.review_calls(i_activity_id bigint) returns text
language plpgsql stable
set search_path = largesse, pg_temp set jit = off set work_mem = '64MB' set enable_sort = off set plan_cache_mode = force_custom_plan
as $$
begin
  return (
    select json_build_object('a', i_activity_id, 'calls', coalesce(json_agg(json_build_array(g.provider, g.step, g.outcome, g.ms, g.is_again, g.n)), '[]'::json))::text
      from (select t.provider, t.step, t.outcome, largesse.review_ms(t.duration_us) as ms, t.is_again, count(*) as n
              from (select t.provider, t.step, t.outcome, t.duration_us,
                           case when t.attempt > 1 or t.call > 1
                             then t.step in ('deliver', 'charge', 'refund', 'reverse')
                                  and exists (select from largesse.attempt b where b.activity_id = t.activity_id and b.claim_id = t.claim_id
                                                                               and (b.attempt, b.call) < (t.attempt, t.call) and b.step = t.step)
                             else false end as is_again
                      from largesse.attempt t where t.activity_id = i_activity_id) t
             group by 1, 2, 3, 4, 5) g);
end $$;

-- Refusals, adjustments of stock, limits and who has come to them, and what people had to look at. Parameters, result: as review_part. Locks, errors: none.
create or replace function largesse.review_rest(i_activity_id bigint, i_from timestamptz, i_width int, i_buckets int) returns text
language plpgsql stable
set search_path = largesse, pg_temp set jit = off set plan_cache_mode = force_custom_plan
as $$
begin
  return json_build_object(
    'a', i_activity_id,
    'refusals', coalesce((select json_agg(json_build_array(r.bucket, r.code, r.n))
                            from (select largesse.review_bucket(c.minute, i_from, i_width, i_buckets) as bucket, c.code, sum(c.refusals) as n
                                    from largesse.refusal_count c where c.activity_id = i_activity_id group by 1, 2) r), '[]'::json),
    'adjusted', coalesce((select json_agg(json_build_array(s.bucket, s.units))
                            from (select largesse.review_bucket(d.at, i_from, i_width, i_buckets) as bucket, sum(d.by) as units
                                    from largesse.stock_adjustment d where d.activity_id = i_activity_id group by 1) s), '[]'::json),
    'limits', coalesce((select json_agg(json_build_array(l.period, l.max_count, u.users, u.at_limit))
                          from largesse.activity_limit l
                          cross join lateral (select count(*) as users, count(*) filter (where u.used >= l.max_count) as at_limit
                                                from largesse.usage u where u.activity_id = i_activity_id and u.period = l.period and u.used > 0) u
                         where l.activity_id = i_activity_id and l.period <> 'event'), '[]'::json),
    'letters', coalesce((select json_agg(json_build_array(d.provider, d.cause, d.fingerprint, d.n, d.still_open))
                           from (select d.provider, d.cause, coalesce(d.fingerprint, d.cause) as fingerprint, count(*) as n, count(*) filter (where d.closed_at is null) as still_open
                                   from largesse.dead_letter d where d.activity_id = i_activity_id group by 1, 2, 3) d), '[]'::json))::text;
end $$;
