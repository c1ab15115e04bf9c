-- SPDX-License-Identifier: Apache-2.0
-- Writes claims that were found right: what they take, and the claims. Every statement that takes something is guarded.
-- Parameters: i_terms; i_claim_ids: the new claim of each request, null for those that were refused; the requests as in claim_submit_ruled; i_status of the
-- new claims; i_accepted, i_quantity: how many there are and of how many units. Result: none.
-- Locks: the caller holds the stock and what claim_lock_users locks; new rows in the order of claim_submit. Its caller's settings are in force.
-- Errors: 40001 when something was gone after all.
create or replace function largesse.claim_apply(
  i_terms largesse.claim_terms, i_claim_ids bigint[], i_biz_ids text[], i_user_ids bigint[], i_quantities int[], i_channels text[], i_number_sets text[],
  i_queued_at timestamptz[], i_segment int, i_status text, i_accepted bigint, i_quantity bigint) returns void
language plpgsql volatile
as $$
#variable_conflict use_column
declare
  v_rows bigint;
begin
  -- Rows that exist are found one by one and updated where they lie (we, or our stock row, hold them): a join by their keys becomes a scan of the whole
  -- activity while the tables look small to the planner.
  if i_status <> 'waiting' then
    perform largesse.claim_guard(largesse.stock_take(i_terms.activity_id, i_quantity, i_segment));
    if i_terms.periods <> '{}' then
      insert into largesse.usage as u (activity_id, user_id, period, period_start, used, max_used)
        select i_terms.activity_id, r.user_id, l.period,
               case when r.queued_at is null then l.start else largesse.period_start(l.period, r.queued_at, i_terms.zone) end, r.quantity, l.max_count
          from unnest(i_claim_ids, i_user_ids, i_quantities, i_queued_at) as r(id, user_id, quantity, queued_at),
               unnest(i_terms.periods, i_terms.starts, i_terms.maxima) as l(period, start, max_count)
         where r.id is not null
         order by r.user_id, l.period
      on conflict (activity_id, user_id, period, period_start) do update
        set used = u.used + excluded.used, max_used = excluded.max_used
        where u.used + excluded.used <= excluded.max_used;
      get diagnostics v_rows = row_count;
      perform largesse.claim_guard(v_rows = i_accepted * cardinality(i_terms.periods));
    end if;
    if i_terms.event_max is not null then
      insert into largesse.event_usage as u (event_code, user_id, used, max_used)
        select i_terms.event_code, r.user_id, r.quantity, i_terms.event_max
          from unnest(i_claim_ids, i_user_ids, i_quantities) as r(id, user_id, quantity) where r.id is not null order by r.user_id
      on conflict (event_code, user_id) do update
        set used = u.used + excluded.used, max_used = excluded.max_used
        where u.used + excluded.used <= excluded.max_used;
      get diagnostics v_rows = row_count;
      perform largesse.claim_guard(v_rows = i_accepted);
    end if;
  end if;
  if i_terms.exclusive_group is not null then
    insert into largesse.group_member as g (group_name, user_id, activity_id, live)
      select i_terms.exclusive_group, r.user_id, i_terms.activity_id, 1 from unnest(i_claim_ids, i_user_ids) as r(id, user_id) where r.id is not null order by r.user_id
    on conflict (group_name, user_id) do update
      set activity_id = excluded.activity_id, live = g.live + 1
      where g.live = 0 or g.activity_id = excluded.activity_id;
    get diagnostics v_rows = row_count;
    perform largesse.claim_guard(v_rows = i_accepted);
  end if;
  if i_terms.needs_qualification then
    update largesse.qualification q set claim_id = r.id
      from (select r.id, k.place
              from unnest(i_claim_ids, i_user_ids) as r(id, user_id)
              cross join lateral (
                select q.ctid as place from largesse.qualification q where q.activity_id = i_terms.activity_id and q.user_id = r.user_id limit 1) k
             where r.id is not null order by r.user_id) r
     where q.ctid = r.place and q.claim_id is null;
    get diagnostics v_rows = row_count;
    perform largesse.claim_guard(v_rows = i_accepted);
  end if;
  if i_terms.points_cost is not null then
    with debit as (
      update largesse.points_account p set balance = p.balance - r.points
        from (select r.id, i_terms.points_cost * r.quantity as points, k.place
                from unnest(i_claim_ids, i_user_ids, i_quantities) as r(id, user_id, quantity)
                cross join lateral (select p.ctid as place from largesse.points_account p where p.user_id = r.user_id limit 1) k
               where r.id is not null order by r.user_id) r
       where p.ctid = r.place and p.balance >= r.points
      returning p.user_id, r.id, r.points, p.balance
    )
    insert into largesse.points_entry (user_id, key, amount, balance, activity_id, claim_id, at)
      select d.user_id, 'claim/' || i_terms.activity_id || '-' || d.id, -d.points, d.balance, i_terms.activity_id, d.id, i_terms.now from debit d;
    get diagnostics v_rows = row_count;
    perform largesse.claim_guard(v_rows = i_accepted);
  end if;
  if i_number_sets is not null then
    update largesse.activity_number a set status = case i_status when 'held' then 'held' else 'sold' end, claim_id = n.id
      from (select r.id, k.place
              from unnest(i_claim_ids, i_number_sets) as r(id, number_set), unnest(r.number_set::bigint[]) n(number)
              cross join lateral (
                select a.ctid as place from largesse.activity_number a where a.activity_id = i_terms.activity_id and a.number = n.number limit 1) k
             where r.id is not null order by n.number) n
     where a.ctid = n.place and coalesce(a.status, '') = 'available';  -- plainly, it would invite the indexes of what is free
    get diagnostics v_rows = row_count;
    perform largesse.claim_guard(v_rows = i_quantity);
  end if;
  insert into largesse.claim
      (activity_id, id, user_id, created_at, updated_at, next_attempt_at, quantity, reward_id, biz_id, status, step, channel, deadline, numbers, points, payment_id, payment,
       succeeded_at)
    select i_terms.activity_id, r.id, r.user_id, coalesce(r.queued_at, i_terms.now), i_terms.now,
           case when i_status in ('held', 'issuing') then i_terms.sweep_at end, r.quantity, i_terms.reward_id, r.biz_id, i_status,
           case when i_status in ('held', 'issuing') then i_terms.step end, r.channel,
           case i_status when 'held' then i_terms.hold_until end, r.number_set::bigint[], i_terms.points_cost * r.quantity,
           i_terms.payment_id, case i_status when 'held' then 'due' end, case i_status when 'succeeded' then i_terms.now end
      from unnest(i_claim_ids, i_user_ids, i_quantities, i_biz_ids, i_channels, i_number_sets, i_queued_at)
             with ordinality as r(id, user_id, quantity, biz_id, channel, number_set, queued_at, ord)
     where r.id is not null
     -- Another segment's batch may have the same bizIds: who meets them waits for it, all in one order, and judges again.
     order by case when i_terms.segments > 1 then r.biz_id end collate "C", r.ord
  on conflict (activity_id, biz_id) do nothing;
  get diagnostics v_rows = row_count;
  perform largesse.claim_guard(v_rows = i_accepted);
  if i_status = 'waiting' then
    insert into largesse.waiting_entry (activity_id, claim_id, user_id, quantity)
      select i_terms.activity_id, r.id, r.user_id, r.quantity
        from unnest(i_claim_ids, i_user_ids, i_quantities) with ordinality as r(id, user_id, quantity, ord) where r.id is not null order by r.ord;
    update largesse.stock s set waiting = s.waiting + i_accepted where s.activity_id = i_terms.activity_id and s.segment = 0 and s.waiting + i_accepted <= i_terms.waiting_max;
    perform largesse.claim_guard(found);
  elsif i_status = 'succeeded' then
    perform largesse.claim_tell_succeeded(i_terms, array(select case when r.id is not null then r.biz_id end from unnest(i_claim_ids, i_biz_ids) as r(id, biz_id)));
  end if;
end $$;
