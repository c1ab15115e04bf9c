-- SPDX-License-Identifier: Apache-2.0
-- Judges many claims of one activity in one transaction, as if one came after the other in the order of the arrays.
-- Parameters: i_activity_id; one array element per request; i_sweep_after (how long the first message may take before the sweeper
-- publishes again).
-- Result: a row per request (ord from 1): ACCEPTED (claim_id, at), REPLAYED (detail = the claim as it is now), BIZ_ID_REUSED, or a refusal's
-- code (detail = what explains it, JSON); and row 0 with the activity's status, remaining stock and the instant of the judgement.
-- Locks: stock row, then usage rows by user and period, then claims. The instant is read once, after the stock lock.
-- Errors: 40001 when a concurrent transaction took what was just seen (repeat it); nothing is changed then.
create or replace function largesse.claim_submit(
  i_activity_id bigint, i_biz_ids text[], i_user_ids bigint[], i_quantities int[], i_channels text[],
  i_sweep_after interval)
returns table (ord int, verdict text, claim_id bigint, status text, at timestamptz, detail text)
language plpgsql volatile security definer
set search_path = largesse, pg_temp set jit = off set enable_seqscan = off set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  v_remaining bigint;
  v_wanted    bigint;
  v_largest   int;
  v_is_distinct boolean;
  v_now       timestamptz;
  v_activity  record;
  v_refusal   text;
  v_ids       bigint[];
begin
  select s.remaining into v_remaining
    from largesse.stock s where s.activity_id = i_activity_id and s.segment = 0 for update;
  v_now := largesse.clock_now();
  select a.status, a.reward_id, largesse.activity_open_state(a.status, a.start_at, a.end_at, v_now) as refusal, l.*
    into v_activity
    from largesse.activity a
    cross join lateral (
      select coalesce(array_agg(l.period), '{}') as periods, coalesce(array_agg(l.max_count), '{}') as maxima,
             coalesce(array_agg(largesse.period_start(l.period, v_now, a.time_zone)), '{}') as starts,
             coalesce(array_agg(largesse.period_reset(l.period, v_now, a.time_zone)), '{}') as resets
        from (select l.period, l.max_count from largesse.activity_limit l where l.activity_id = a.id order by l.period) l) l
    where a.id = i_activity_id;
  v_refusal := case when found then v_activity.refusal else 'ACTIVITY_NOT_FOUND' end;
  if v_refusal is not null then
    return query
      select l.ord, case l.verdict when 'UNKNOWN' then v_refusal else l.verdict end, l.claim_id, l.status, l.at, l.detail
        from largesse.claim_lookup(i_activity_id, i_biz_ids, i_user_ids, i_quantities, i_channels) l;
    return;
  end if;

  -- No block with EXCEPTION anywhere here: a row locked outside of one and updated inside it leaves a multixact behind, a thousand a second in a rush.
  -- Nobody else adds claims or usage of this activity meanwhile, so that once nothing repeats within the batch nothing can collide.
  select sum(r.quantity), max(r.quantity), count(*) = count(distinct r.user_id) and count(*) = count(distinct r.biz_id collate "C")
    into v_wanted, v_largest, v_is_distinct
    from unnest(i_quantities, i_user_ids, i_biz_ids) as r(quantity, user_id, biz_id);
  if not v_is_distinct or v_remaining < v_wanted then
    return query select * from largesse.claim_submit_in_order(
      i_activity_id, i_biz_ids, i_user_ids, i_quantities, i_channels, v_now, v_now + i_sweep_after,
      v_activity.status, v_activity.reward_id, v_activity.periods, v_activity.starts, v_activity.maxima, v_activity.resets);
    return;
  end if;
  if v_largest > any (v_activity.maxima)
     -- One probe each, not `= any (array)`: that becomes a scan of the whole activity while the tables look small to the planner.
     or exists (select from unnest(i_biz_ids) b(biz_id) cross join lateral (
           select from largesse.claim c where c.activity_id = i_activity_id and c.biz_id = b.biz_id limit 1) k)
     or exists (select from unnest(i_user_ids) r(user_id) cross join lateral (
           select from largesse.usage u where u.activity_id = i_activity_id and u.user_id = r.user_id limit 1) k) then
    return query select * from largesse.claim_submit_together(
      i_activity_id, i_biz_ids, i_user_ids, i_quantities, i_channels, v_now, v_now + i_sweep_after,
      v_activity.status, v_activity.reward_id, v_activity.periods, v_activity.starts, v_activity.maxima, v_activity.resets, v_remaining);
    return;
  end if;

  -- All new clicks of users who have nothing yet, the common case of a spike: plain inserts.
  v_ids := array(select nextval('largesse.claim_id_seq') from generate_series(1, cardinality(i_biz_ids)));
  insert into largesse.usage (activity_id, user_id, period, period_start, used, max_used)
    select i_activity_id, r.user_id, l.period, l.start, r.quantity, l.max_count
      from unnest(v_activity.periods, v_activity.starts, v_activity.maxima) as l(period, start, max_count),
           unnest(i_user_ids, i_quantities) as r(user_id, quantity);
  insert into largesse.claim (activity_id, id, user_id, created_at, updated_at, next_attempt_at, quantity, reward_id, biz_id, status, step, channel)
    select i_activity_id, r.id, r.user_id, v_now, v_now, v_now + i_sweep_after, r.quantity, v_activity.reward_id, r.biz_id, 'issuing', 'deliver', r.channel
      from unnest(v_ids, i_user_ids, i_quantities, i_biz_ids, i_channels) as r(id, user_id, quantity, biz_id, channel);
  update largesse.stock s set remaining = s.remaining - v_wanted, taken = s.taken + v_wanted
    where s.activity_id = i_activity_id and s.segment = 0 and (s.remaining is null or s.remaining >= v_wanted);
  perform largesse.claim_guard(found);  -- a stock row that is missing is not unlimited stock
  return query
    select 0, v_activity.status, v_remaining - v_wanted, null::text, v_now, null::text
    union all
    select r.ord::int, 'ACCEPTED', r.id, 'issuing', v_now, null from unnest(v_ids) with ordinality as r(id, ord);
end $$;
