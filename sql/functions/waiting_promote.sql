-- SPDX-License-Identifier: Apache-2.0
-- The waiting list: places that are free go to whoever waits first, strictly in order: as long as the first does not fit, all wait. Nobody is promoted before
-- the start, after the end, or while the activity is paused. A place is offered until its deadline, or, where nothing has to be accepted, taken at once. The
-- allowance is that of the periods in which the claim was made; where it is used up by now, the claim expires.
-- Parameters: i_activity_id; i_limit: entries at most. Result: how many left the list; fewer than i_limit: nothing more can be promoted now.
-- Locks: as claim_holdings_lock, then claims. Errors: 40P01, 40001 (repeat).
create or replace function largesse.waiting_promote(i_activity_id bigint, i_limit int) returns int
language plpgsql volatile security definer
set search_path = largesse, pg_temp set jit = off set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
set plan_cache_mode = force_custom_plan
as $$
declare
  v_act     largesse.activity;
  v_stock   largesse.stock;
  v_entry   record;
  v_offered bigint[] := '{}';
  v_over    bigint[] := '{}';
begin
  select * into v_stock from largesse.stock s where s.activity_id = i_activity_id and s.segment = 0 and s.waiting > 0 for update;
  if not found or v_stock.remaining = 0 then return 0; end if;
  select * into v_act from largesse.activity a where a.id = i_activity_id;
  if largesse.activity_open_state(v_act.status, v_act.start_at, v_act.end_at, largesse.clock_now()) is not null then return 0; end if;
  perform largesse.claim_holdings_lock(i_activity_id, '{}', i_limit);
  for v_entry in
    select e.claim_id, e.quantity, exists (
             select from largesse.activity_limit l
               left join largesse.usage u on u.activity_id = l.activity_id and u.user_id = e.user_id and u.period = l.period
                                         and u.period_start = largesse.period_start(l.period, c.created_at, v_act.time_zone)
               left join largesse.event_usage v on l.period = 'event' and v.event_code = v_act.event_code and v.user_id = e.user_id
              where l.activity_id = i_activity_id and coalesce(u.used, v.used, 0) + e.quantity > l.max_count) as is_over
      from (select * from largesse.waiting_entry e where e.activity_id = i_activity_id order by e.position limit i_limit) e
      join largesse.claim c on c.activity_id = e.activity_id and c.id = e.claim_id
     order by e.position
  loop
    if v_entry.is_over then
      v_over := v_over || v_entry.claim_id;
    else
      exit when v_stock.remaining < v_entry.quantity;
      v_stock.remaining := v_stock.remaining - v_entry.quantity;
      v_offered := v_offered || v_entry.claim_id;
    end if;
  end loop;
  if v_over <> '{}' then
    perform largesse.claim_move_alone(array_fill(i_activity_id, array[cardinality(v_over)]), v_over, 'expired', null,
      array_fill('LIMIT_REACHED'::text, array[cardinality(v_over)]), array_fill('the limit was reached before a place was free'::text, array[cardinality(v_over)]),
      false, true);
  end if;
  if v_offered <> '{}' then
    perform largesse.claim_move_alone(array_fill(i_activity_id, array[cardinality(v_offered)]), v_offered, 'offered', null, null, null, false,
                                      v_act.accept_within is not null);
    if v_act.accept_within is null then perform largesse.claim_confirm(i_activity_id, v_offered); end if;
  end if;
  return cardinality(v_over) + cardinality(v_offered);
end $$;

-- What is kept for somebody becomes theirs: due for delivery where there is a reward, else done.
-- Parameters: i_activity_id, i_claim_ids. Result: a row per claim that moved: its status now. Locks, errors: as claim_move_alone.
create or replace function largesse.claim_confirm(i_activity_id bigint, i_claim_ids bigint[])
returns table (claim_id bigint, status text)
language plpgsql volatile security definer
set search_path = largesse, pg_temp set jit = off set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
set plan_cache_mode = force_custom_plan
as $$
#variable_conflict use_column
declare
  v_group record;
begin
  for v_group in
    select case when c.reward_id is null then 'succeeded' else 'issuing' end as status, array_agg(c.activity_id) as keys, array_agg(c.id order by c.id) as claims
      from unnest(i_claim_ids) r(id)
      cross join lateral (select c.* from largesse.claim c where c.activity_id = i_activity_id and c.id = r.id limit 1) c
     where c.status in ('offered', 'held', 'expired') group by 1 order by 1
  loop
    return query
      select m.claim_id, v_group.status from largesse.claim_move_alone(v_group.keys, v_group.claims, v_group.status, null, null, null, false, true) m;
  end loop;
end $$;
