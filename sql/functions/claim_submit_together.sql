-- SPDX-License-Identifier: Apache-2.0
-- The fast half of claim_submit: one statement for the whole batch, right when all would fit and nothing repeats.
-- Parameters: as claim_submit, and what it read under the stock lock (the limits as parallel arrays).
-- Result: as claim_submit. Locks: the caller holds the stock row; usage rows by the index, claims.
-- Errors: 23505, 21000 or 40001 when a bizId or user repeats or a guard did not hold; the caller has made sure of both, so nothing catches them:
-- the statement fails whole and is repeated (40001) or halved by the scheduler.

-- Refuses to go on unless a guard held. Parameters: i_held. Result: true. Locks: none. Errors: 40001.
create or replace function largesse.claim_guard(i_held boolean) returns boolean
language plpgsql volatile
as $$
#variable_conflict use_column
begin
  if i_held is not true then
    raise exception 'stock or usage changed while a batch was judged' using errcode = 'serialization_failure';
  end if;
  return true;
end $$;

create or replace function largesse.claim_submit_together(
  i_activity_id bigint, i_biz_ids text[], i_user_ids bigint[], i_quantities int[], i_channels text[],
  i_now timestamptz, i_sweep_at timestamptz, i_status text, i_reward_id int,
  i_periods text[], i_starts date[], i_maxima bigint[], i_resets timestamptz[], i_remaining bigint)
returns table (ord int, verdict text, claim_id bigint, status text, at timestamptz, detail text)
language plpgsql volatile
set search_path = largesse, pg_temp set jit = off set enable_seqscan = off set plan_cache_mode = force_generic_plan
as $$
begin
  return query
  with judged as materialized (
    select r.ord::int as ord, r.biz_id, r.user_id, r.quantity, r.channel, k.id as known_id,
           o.period as over_period, o.used as over_used, o.max_count as over_max, o.resets_at as over_resets,
           case when k.id is null and o.period is null then nextval('largesse.claim_id_seq') end as new_id
      from unnest(i_biz_ids, i_user_ids, i_quantities, i_channels) with ordinality as r(biz_id, user_id, quantity, channel, ord)
      left join lateral (
        select c.id from largesse.claim c
          where c.activity_id = i_activity_id and c.biz_id = r.biz_id limit 1) k on true
      left join lateral (
        select l.period, coalesce(u.used, 0) as used, l.max_count, l.resets_at
          from unnest(i_periods, i_starts, i_maxima, i_resets) with ordinality as l(period, start, max_count, resets_at, n)
          left join lateral (
            select u.used from largesse.usage u
              where u.activity_id = i_activity_id and u.user_id = r.user_id and u.period = l.period and u.period_start = l.start
              limit 1) u on true
          where coalesce(u.used, 0) + r.quantity > l.max_count
          order by l.n limit 1) o on true
  ), usage_taken as (
    insert into largesse.usage as u (activity_id, user_id, period, period_start, used, max_used)
      select i_activity_id, j.user_id, l.period, l.start, j.quantity, l.max_count
        from judged j, unnest(i_periods, i_starts, i_maxima) as l(period, start, max_count)
        where j.new_id is not null
      on conflict (activity_id, user_id, period, period_start) do update
        set used = u.used + excluded.used, max_used = excluded.max_used
        where u.used + excluded.used <= excluded.max_used
      returning 1
  ), stock_taken as (
    update largesse.stock s set remaining = s.remaining - w.quantity, taken = s.taken + w.quantity
      from (select coalesce(sum(j.quantity), 0) as quantity from judged j where j.new_id is not null) w
      where s.activity_id = i_activity_id and s.segment = 0 and w.quantity > 0
        and (s.remaining is null or s.remaining >= w.quantity)
      returning s.remaining
  ), accepted as (
    insert into largesse.claim
        (activity_id, id, user_id, created_at, updated_at, next_attempt_at, quantity, reward_id, biz_id, status, step, channel)
      select i_activity_id, j.new_id, j.user_id, i_now, i_now, i_sweep_at, j.quantity, i_reward_id, j.biz_id,
             'issuing', 'deliver', j.channel
        from judged j where j.new_id is not null order by j.ord
      returning 1
  ), held as materialized (
    select largesse.claim_guard(
        (select count(*) from usage_taken) = n.accepted * cardinality(i_periods)
        and (select count(*) from stock_taken) = least(n.accepted, 1)
        and (select count(*) from accepted) = n.accepted
        -- A user who comes twice is judged in order: what the first takes, the second must see.
        and n.users = n.unknown) as ok
      from (select count(j.new_id) as accepted, count(*) as unknown, count(distinct j.user_id) as users
              from judged j where j.known_id is null) n
  )
  select 0, i_status, case when i_remaining is not null then coalesce((select s.remaining from stock_taken s), i_remaining) end,
         null::text, i_now, null::text
    from held where held.ok
  union all
  select j.ord,
         case when j.new_id is not null then 'ACCEPTED'
              when j.known_id is null then 'LIMIT_REACHED'
              when (k.user_id, k.quantity) = (j.user_id, j.quantity) and k.channel is not distinct from j.channel then 'REPLAYED'
              else 'BIZ_ID_REUSED' end,
         coalesce(j.new_id, j.known_id),
         case when j.new_id is not null then 'issuing' else k.status end,
         i_now,
         case when j.known_id is not null then
                case when (k.user_id, k.quantity) = (j.user_id, j.quantity) and k.channel is not distinct from j.channel then k.shown end
              when j.over_period is not null then largesse.limit_json(j.over_period, j.over_max, j.over_used, j.over_resets) end
    from judged j
    left join lateral (
      select c.user_id, c.quantity, c.channel, c.status,
             case when c.user_id = j.user_id then largesse.claim_json(c, a.code) end as shown
        from largesse.claim c join largesse.activity a on a.id = i_activity_id
        where j.known_id is not null and c.activity_id = i_activity_id and c.id = j.known_id) k on true;
end $$;
