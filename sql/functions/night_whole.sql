-- SPDX-License-Identifier: Apache-2.0
-- The figures of a night that are made over all activities at once: calls at providers, times to delivery, what was given back. From instants that are never
-- written again, found by their indexes: what it costs is proportional to the night, however long the history before it.

-- A number of durations as reports show it, in whole milliseconds, rounded up. Parameters: i_count, i_us: the 50th, 90th and 99th percentile in microseconds, i_max.
-- Result: JSON; null for none. Locks, errors: none.
create or replace function largesse.delay_json(i_count bigint, i_us bigint[], i_max bigint) returns json
language sql immutable
as $$
  select json_build_object('count', i_count, 'p50Ms', (i_us[1] + 999) / 1000, 'p90Ms', (i_us[2] + 999) / 1000, 'p99Ms', (i_us[3] + 999) / 1000, 'maxMs', (i_max + 999) / 1000)
   where i_count > 0
$$;

-- Which activity a claim belongs to, as reports name claims. Parameters: i_activity_id, i_claim_id. Result: the claim's id. Locks, errors: none.
create or replace function largesse.claim_text(i_activity_id bigint, i_claim_id bigint) returns text
language sql immutable parallel safe
as $$ select i_activity_id || '-' || i_claim_id $$;

-- Calls at providers that began within a time. Parameters: i_from, i_until. Result: JSON, an item per provider; null: none. Locks, errors: none.
create or replace function largesse.night_providers(i_from timestamptz, i_until timestamptz) returns json
language sql stable
set search_path = largesse, pg_temp set jit = off set work_mem = '64MB'
as $$
  with calls as materialized (
    select t.provider, t.step, t.outcome, t.duration_us from largesse.attempt t where t.started_at >= i_from and t.started_at < i_until
  ), sums as (
    select c.provider, count(*) as n, percentile_disc(array[0.5, 0.9, 0.99]) within group (order by c.duration_us) as us, max(c.duration_us) as longest
      from calls c group by c.provider
  )
  select json_agg(json_build_object(
           'provider', s.provider, 'calls', s.n,
           'outcomes', (select json_object_agg(o.outcome, o.n order by o.outcome) from (select c.outcome, count(*) as n from calls c where c.provider = s.provider group by 1) o),
           'steps', (select json_object_agg(o.step, o.n order by o.step) from (select c.step, count(*) as n from calls c where c.provider = s.provider group by 1) o),
           'latency', largesse.delay_json(s.n, s.us, s.longest)) order by s.provider)
    from sums s
$$;

-- Times from when a delivery came due to when the claim succeeded, of those that succeeded within a time. Parameters: i_from, i_until. Result: JSON; null: none.
-- Locks, errors: none.
create or replace function largesse.night_delivery(i_from timestamptz, i_until timestamptz) returns json
language sql stable
set search_path = largesse, pg_temp set jit = off set work_mem = '64MB' set plan_cache_mode = force_custom_plan
as $$
  select largesse.delay_json(count(*), percentile_disc(array[0.5, 0.9, 0.99]) within group (order by d.us), max(d.us))
    from (select greatest((date_part('epoch', c.succeeded_at - coalesce(c.issued_at, c.created_at)) * 1000000)::bigint, 0) as us
            from largesse.claim c
           where c.updated_at >= i_from and c.succeeded_at >= i_from and c.succeeded_at < i_until and c.reward_id is not null) d
$$;

-- What was given back within a time: payments refunded and deliveries reversed, each with its claim and the business date on which that was paid or delivered.
-- Amounts are negative: over the report of that date and this one they add up to nothing. Parameters: i_from, i_until, i_zone. Result: JSON: sums by date, and at most
-- 10000 items; null: none. Locks, errors: none.
create or replace function largesse.night_returns(i_from timestamptz, i_until timestamptz, i_zone text) returns json
language sql stable
set search_path = largesse, pg_temp set jit = off set plan_cache_mode = force_custom_plan
as $$
  with returned as materialized (
    select r.*, to_char(r.made_at at time zone i_zone, 'YYYY-MM-DD') as made_on, row_number() over (order by r.what, r.activity_id, r.claim_id) as place
      from (select 'refunded' as what, c.activity_id, c.id as claim_id, w.provider, null::text as reward, w.currency, c.quantity,
                   -(c.quantity::numeric * w.amount) as amount, coalesce(c.paid_at, c.created_at) as made_at, c.refunded_at as at
              from largesse.claim c join largesse.reward w on w.id = c.payment_id
             where c.updated_at >= i_from and c.refunded_at >= i_from and c.refunded_at < i_until
            union all
            select 'reversed', c.activity_id, c.id, w.provider, w.code, w.currency, c.quantity, -(c.quantity::numeric * w.amount), coalesce(c.succeeded_at, c.created_at), c.reversed_at
              from largesse.claim c join largesse.reward w on w.id = c.reward_id
             where c.updated_at >= i_from and c.reversed_at >= i_from and c.reversed_at < i_until) r
  )
  select json_build_object(
    'count', count(*), 'listed', least(count(*), 10000),
    'byDate', (select json_agg(json_strip_nulls(json_build_object('what', d.what, 'madeOn', d.made_on, 'provider', d.provider, 'currency', d.currency, 'count', d.n,
                                                                  'quantity', d.quantity, 'amount', d.amount)) order by d.what, d.made_on, d.provider, d.currency)
                 from (select r.what, r.made_on, r.provider, r.currency, count(*) as n, sum(r.quantity) as quantity, sum(r.amount) as amount
                         from returned r group by 1, 2, 3, 4) d),
    'items', (select json_agg(json_strip_nulls(json_build_object('what', r.what, 'claimId', largesse.claim_text(r.activity_id, r.claim_id), 'activityCode', a.code,
                                                                 'provider', r.provider, 'rewardCode', r.reward, 'quantity', r.quantity, 'amount', r.amount, 'currency', r.currency,
                                                                 'madeOn', r.made_on, 'at', largesse.time_text(r.at))) order by r.place)
                from returned r join largesse.activity a on a.id = r.activity_id where r.place <= 10000))
    from returned having count(*) > 0
$$;

-- All of these of a night. Parameters: i_from, i_until, i_zone. Result: JSON text. Locks, errors: none.
create or replace function largesse.night_whole(i_from timestamptz, i_until timestamptz, i_zone text) returns text
language sql stable
as $$
  select json_strip_nulls(json_build_object('timeToDelivery', largesse.night_delivery(i_from, i_until), 'providers', largesse.night_providers(i_from, i_until),
                                            'returns', largesse.night_returns(i_from, i_until, i_zone)))::text
$$;

-- Sums up where in the tables which time lies, for what was added since: without it, what vacuum has not come to yet is read as a whole. A table that somebody else
-- is working on is left to them. Parameters: none. Result: none. Locks: each table's for maintenance, for as long as that takes; claims go on. Errors: none.
create or replace function largesse.night_index() returns void
language plpgsql volatile security definer
set search_path = largesse, pg_temp set jit = off set lock_timeout = '100ms'
as $$
declare
  v_index regclass;
begin
  for v_index in
    select i.indexrelid::regclass from pg_index i join pg_class c on c.oid = i.indexrelid join pg_am m on m.oid = c.relam join pg_class t on t.oid = i.indrelid
     where m.amname = 'brin' and c.relkind = 'i' and c.relnamespace = 'largesse'::regnamespace and t.relpersistence = 'p'
  loop
    begin
      perform brin_summarize_new_values(v_index);
    exception when lock_not_available then null;
    end;
  end loop;
end $$;
