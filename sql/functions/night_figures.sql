-- SPDX-License-Identifier: Apache-2.0
-- The figures of a night, from rows that are never written again and their instants within it: whenever they are made, they are the same.

-- Writes down in which activities something happened in a night, once it is over. Parameters: i_date. Result: how many are to be looked at. Locks: none that exist
-- before. Errors: none.
create or replace function largesse.night_prepare(i_date date) returns bigint
language plpgsql volatile security definer
set search_path = largesse, pg_temp set jit = off
as $$
declare
  v_from  timestamptz;
  v_until timestamptz;
begin
  select n.from_at, n.until_at into strict v_from, v_until from largesse.night n where n.business_date = i_date;
  perform largesse.night_index();
  insert into largesse.night_activity as a (business_date, activity_id)
    select i_date, u.activity_id
      from (select c.activity_id from largesse.claim c where c.updated_at >= v_from
            union
            select r.activity_id from largesse.refusal_count r where r.minute >= v_from and r.minute < v_until
            union
            select p.activity_id from largesse.points_entry p where p.at >= v_from and p.at < v_until and p.activity_id is not null
            union
            select s.activity_id from largesse.stock_adjustment s where s.at >= v_from and s.at < v_until) u
     order by u.activity_id
    on conflict do nothing;
  return (select count(*) from largesse.night_activity a where a.business_date = i_date and a.figures is null)
       + (select count(*) from largesse.night n where n.business_date = i_date and n.whole is null);
end $$;

-- Makes the figures of the next activity of a night, and at the end those over all activities. Parameters: i_date. Result: whether there was something to make.
-- Locks: the activity's row of the night, or the night. Errors: none.
create or replace function largesse.night_step(i_date date) returns boolean
language plpgsql volatile security definer
set search_path = largesse, pg_temp set jit = off
as $$
declare
  v_next record;
begin
  select a.activity_id, n.from_at, n.until_at into v_next
    from largesse.night_activity a join largesse.night n on n.business_date = a.business_date
   where a.business_date = i_date and a.figures is null order by a.activity_id limit 1;
  if not found then
    update largesse.night n set whole = largesse.night_whole(n.from_at, n.until_at, n.time_zone) where n.business_date = i_date and n.whole is null;
    return found;
  end if;
  update largesse.night_activity a set figures = coalesce(largesse.night_activity_figures(a.activity_id, v_next.from_at, v_next.until_at), '')
   where a.business_date = i_date and a.activity_id = v_next.activity_id and a.figures is null;
  return true;
end $$;

-- Of an activity within a time. Parameters: i_activity_id, i_from, i_until. Result: JSON text; null when nothing happened. Locks, errors: none.
create or replace function largesse.night_activity_figures(i_activity_id bigint, i_from timestamptz, i_until timestamptz) returns text
language plpgsql stable
set search_path = largesse, pg_temp set jit = off set plan_cache_mode = force_custom_plan
as $$
declare
  v_claims   record;
  v_refusals json := (select json_object_agg(r.code, r.n order by r.code)
                        from (select c.code, sum(c.refusals)::bigint as n from largesse.refusal_count c
                               where c.activity_id = i_activity_id and c.minute >= i_from and c.minute < i_until group by c.code) r);
  v_points   json := (select json_build_object('taken', coalesce(-sum(p.amount) filter (where p.amount < 0), 0),
                                               'returned', coalesce(sum(p.amount) filter (where p.amount > 0), 0))
                        from largesse.points_entry p where p.activity_id = i_activity_id and p.at >= i_from and p.at < i_until having count(*) > 0);
  v_stock    bigint := (select sum(s.by) from largesse.stock_adjustment s where s.activity_id = i_activity_id and s.at >= i_from and s.at < i_until);
begin
  with touched as materialized (
    select c.quantity, c.status, c.reward_id, c.payment_id, c.created_at,
           case when c.succeeded_at >= i_from and c.succeeded_at < i_until and c.reward_id is not null
             then greatest((date_part('epoch', c.succeeded_at - coalesce(c.issued_at, c.created_at)) * 1000000)::bigint, 0) end as delay_us,
           c.created_at >= i_from and c.created_at < i_until as is_made,
           -- What was written before these columns were there has the last change instead.
           coalesce(s.at >= i_from and s.at < i_until, false) as is_succeeded,
           coalesce(c.expired_at >= i_from and c.expired_at < i_until, false) as is_expired,
           coalesce(c.ended_at >= i_from and c.ended_at < i_until, false) as is_ended,
           coalesce(c.paid_at >= i_from and c.paid_at < i_until, false) as is_paid,
           coalesce(c.refunded_at >= i_from and c.refunded_at < i_until, false) as is_refunded,
           coalesce(c.reversed_at >= i_from and c.reversed_at < i_until, false) as is_reversed
      from largesse.claim c
      cross join lateral (select coalesce(c.succeeded_at, case c.status when 'succeeded' then c.updated_at end) as at) s
     where c.activity_id = i_activity_id and c.updated_at >= i_from
  ), money as (
    select m.what, w.provider, case m.what when 'delivered' then w.code when 'reversed' then w.code end as reward, w.currency, count(*) as n,
           sum(m.quantity) as quantity, sum(m.quantity::numeric * w.amount) as amount
      from (select 'delivered' as what, t.reward_id as terms, t.quantity from touched t where t.is_succeeded
            union all select 'reversed', t.reward_id, t.quantity from touched t where t.is_reversed
            union all select 'paid', t.payment_id, t.quantity from touched t where t.is_paid
            union all select 'refunded', t.payment_id, t.quantity from touched t where t.is_refunded) m
      join largesse.reward w on w.id = m.terms
     group by m.what, w.provider, 3, w.currency
  ), hours as (
    select h.hour, coalesce(sum(t.n), 0)::bigint as n
      from generate_series(0, greatest(ceil(extract(epoch from i_until - i_from) / 3600)::int - 1, 0)) as h(hour)
      left join (select floor(extract(epoch from t.created_at - i_from) / 3600)::int as hour, count(*) as n from touched t where t.is_made group by 1) t on t.hour = h.hour
     group by h.hour
  )
  select count(*) filter (where t.is_made or t.is_succeeded or t.is_expired or t.is_ended or t.is_paid or t.is_refunded or t.is_reversed) as n,
         largesse.night_count(count(*) filter (where t.is_made), sum(t.quantity) filter (where t.is_made)) as made,
         largesse.night_count(count(*) filter (where t.is_succeeded), sum(t.quantity) filter (where t.is_succeeded)) as succeeded,
         largesse.night_count(count(*) filter (where t.is_expired), sum(t.quantity) filter (where t.is_expired)) as expired,
         largesse.night_count(count(*) filter (where t.is_ended and t.status = 'cancelled'), sum(t.quantity) filter (where t.is_ended and t.status = 'cancelled')) as cancelled,
         largesse.night_count(count(*) filter (where t.is_ended and t.status = 'failed'), sum(t.quantity) filter (where t.is_ended and t.status = 'failed')) as failed,
         largesse.night_count(count(*) filter (where t.is_ended and t.status = 'rolled_back'), sum(t.quantity) filter (where t.is_ended and t.status = 'rolled_back')) as rolled_back,
         (select json_agg(h.n order by h.hour) from hours h) as by_hour,
         (select largesse.delay_json(count(*), percentile_disc(array[0.5, 0.9, 0.99]) within group (order by d.delay_us), max(d.delay_us))
            from touched d where d.delay_us is not null) as delivery,
         (select json_object_agg(w.what, w.items order by w.what)
            from (select m.what, json_agg(json_strip_nulls(json_build_object('provider', m.provider, 'rewardCode', m.reward, 'currency', m.currency, 'count', m.n,
                                                                             'quantity', m.quantity, 'amount', m.amount))
                                          order by m.provider, m.reward, m.currency) as items
                    from money m group by m.what) w) as money
    into v_claims from touched t;
  if v_claims.n = 0 and v_refusals is null and v_points is null and v_stock is null then return null; end if;
  return (select json_strip_nulls(json_build_object(
            'code', a.code, 'kind', a.kind, 'claims', v_claims.made, 'succeeded', v_claims.succeeded, 'cancelled', v_claims.cancelled, 'expired', v_claims.expired,
            'failed', v_claims.failed, 'rolledBack', v_claims.rolled_back, 'claimsByHour', v_claims.by_hour, 'timeToDelivery', v_claims.delivery, 'refusals', v_refusals, 'points', v_points,
            'stockAdjusted', v_stock, 'money', v_claims.money))::text
            from largesse.activity a where a.id = i_activity_id);
end $$;

-- A number of claims. Parameters: how many, and of how many units (null: none). Result: JSON. Locks, errors: none.
create or replace function largesse.night_count(i_count bigint, i_quantity numeric) returns json
language sql immutable parallel safe
as $$ select json_build_object('count', i_count, 'quantity', coalesce(i_quantity, 0)) $$;
