-- SPDX-License-Identifier: Apache-2.0
-- What claims hold, beside themselves: stock, allowances, points, numbers; and, waiting ones too, their user's place in an exclusive group and a qualification.
-- These functions take and give back for claims of one activity at a time; claim_move decides when.

-- Gives units of stock back, to the segments that gave them. Parameters: i_activity_id, i_quantity. Result: none.
-- Locks: the caller holds all stock rows of the activity. Errors: 23514 when more is given back than was taken.
create or replace function largesse.stock_give(i_activity_id bigint, i_quantity bigint) returns void
language plpgsql volatile
set search_path = largesse, pg_temp set jit = off set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
set plan_cache_mode = force_generic_plan
as $$
begin
  with room as (
    select s.segment, s.taken, sum(s.taken) over (order by s.remaining, s.segment) - s.taken as before,
           row_number() over (order by s.remaining desc, s.segment desc) = 1 as is_last
      from largesse.stock s where s.activity_id = i_activity_id
  ), share as (
    select r.segment, case when r.is_last then i_quantity - r.before else least(r.taken, i_quantity - r.before) end as units
      from room r where r.before < i_quantity
  )
  update largesse.stock s set remaining = s.remaining + share.units, taken = s.taken - share.units
    from share where s.activity_id = i_activity_id and s.segment = share.segment;
end $$;

-- Locks what a move of claims may change, in the order in which everybody does: stock; then, of their users, event limits, groups, points; then their numbers.
-- The first of the waiting list may move too, when a place returns. What belongs to the activity alone is guarded by its stock rows.
-- Parameters: i_activity_id, i_claim_ids; i_waiting: of how many who wait. Result: none. Locks: these. Errors: 40P01 (repeat).
create or replace function largesse.claim_holdings_lock(i_activity_id bigint, i_claim_ids bigint[], i_waiting int) returns void
language plpgsql volatile
set search_path = largesse, pg_temp set jit = off set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
set plan_cache_mode = force_generic_plan
as $$
declare
  v_act   largesse.activity;
  v_users bigint[];
begin
  perform 1 from largesse.stock s where s.activity_id = i_activity_id order by s.segment for update;
  select * into v_act from largesse.activity a where a.id = i_activity_id;
  if v_act.event_code is null and v_act.exclusive_group is null and v_act.kind not in ('exchange', 'number') then return; end if;
  v_users := array(
    select c.user_id from unnest(i_claim_ids) r(id)
     cross join lateral (  -- as in claim_row
       select c.user_id from largesse.claim c where c.activity_id = i_activity_id and c.id between r.id and r.id order by c.id limit 1) c
    union
    select e.user_id from (select e.user_id from largesse.waiting_entry e where e.activity_id = i_activity_id order by e.position limit i_waiting) e
    order by 1);
  if v_act.event_code is not null then
    perform 1 from unnest(v_users) r(user_id)
      cross join lateral (select from largesse.event_usage u where u.event_code = v_act.event_code and u.user_id = r.user_id for update) u;
  end if;
  if v_act.exclusive_group is not null then
    perform 1 from unnest(v_users) r(user_id)
      cross join lateral (select from largesse.group_member m where m.group_name = v_act.exclusive_group and m.user_id = r.user_id for update) m;
  end if;
  if v_act.kind = 'exchange' then
    perform 1 from unnest(v_users) r(user_id) cross join lateral (select from largesse.points_account p where p.user_id = r.user_id for update) p;
  elsif v_act.kind = 'number' then
    perform largesse.claim_numbers_lock(array_fill(i_activity_id, array[cardinality(i_claim_ids)]), i_claim_ids);
  end if;
end $$;

-- Locks the numbers that claims asked for. Parameters: keys (parallel arrays). Result: none. Locks: these. Errors: 40P01 (repeat).
create or replace function largesse.claim_numbers_lock(i_activity_ids bigint[], i_claim_ids bigint[]) returns void
language plpgsql volatile
set search_path = largesse, pg_temp set jit = off set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
set plan_cache_mode = force_generic_plan
as $$
declare
  v_first bigint := (select min(a) from unnest(i_activity_ids) a);
  v_last  bigint := (select max(a) from unnest(i_activity_ids) a);
begin
  -- One look-up for each number, in their order: joined, they would be found by reading all numbers of the activity while the table looks small to the planner.
  -- The range of activities leaves only their months' partitions; that of ids is as in claim_row.
  perform 1
    from (select c.activity_id, asked.number
            from unnest(i_activity_ids, i_claim_ids) r(a, c)
            cross join lateral (
              select k.activity_id, k.numbers from largesse.claim k
               where k.activity_id between v_first and v_last and k.activity_id = r.a and k.id between r.c and r.c order by k.id limit 1) c
            cross join lateral unnest(c.numbers) as asked(number)
           order by 1, 2 offset 0) asked
    cross join lateral (select from largesse.activity_number n where n.activity_id = asked.activity_id and n.number = asked.number limit 1 for update) n;
end $$;

-- The allowances that claims use: by user, period and where it began, each by the instant at which its claim was judged. The keys come with them: a join by what
-- the planner knows beforehand would walk through all counters of the activity.
-- Parameters: i_act, i_claims. Result: a row per counter and what they use of it together. Locks, errors: none.
create or replace function largesse.claim_allowances(i_act largesse.activity, i_claims largesse.claim[])
returns table (activity_id bigint, event_code text, user_id bigint, period text, start date, quantity bigint, max_count bigint)
language sql stable  -- without settings of its own, so that the planner puts it in line
as $$
  select i_act.id, i_act.event_code, c.user_id, l.period, largesse.period_start(l.period, c.created_at, i_act.time_zone), sum(c.quantity), l.max_count
    from unnest(i_claims) c cross join largesse.activity_limit l where l.activity_id = i_act.id
   group by 3, 4, 5, 7
$$;

-- Claims that held and no longer do: stock, allowances, points (once for each claim, by the key of its entry) and what numbers are still theirs go back.
-- Parameters: i_act, i_claims (their rows after the move). Result: none. Locks: the caller has called claim_holdings_lock. Errors: 23514 (the books were wrong).
create or replace function largesse.claim_give_back(i_act largesse.activity, i_claims largesse.claim[]) returns void
language plpgsql volatile
set search_path = largesse, pg_temp set jit = off set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
set plan_cache_mode = force_generic_plan
as $$
declare
  v_claim    largesse.claim;
  v_quantity bigint := (select sum(c.quantity) from unnest(i_claims) c);
begin
  perform largesse.stock_give(i_act.id, v_quantity);
  if exists (select from largesse.activity_limit l where l.activity_id = i_act.id and l.period <> 'event') then
    execute format($q$
      update %s u set used = u.used - g.quantity
        from largesse.claim_allowances($1, $2) g
       where g.period <> 'event' and u.activity_id = g.activity_id and u.user_id = g.user_id and u.period = g.period and u.period_start = g.start
      $q$, largesse.month_relation('usage', array[i_act.id])) using i_act, i_claims;
  end if;
  if i_act.event_code is not null then
    execute $q$
      update largesse.event_usage u set used = u.used - g.quantity
        from largesse.claim_allowances($1, $2) g where g.period = 'event' and u.event_code = g.event_code and u.user_id = g.user_id
      $q$ using i_act, i_claims;
  end if;
  if i_act.kind = 'exchange' then
    foreach v_claim in array i_claims loop
      if v_claim.points is not null then perform largesse.points_return(v_claim); end if;
    end loop;
  elsif i_act.kind = 'number' then
    execute $q$
      update largesse.activity_number n set status = 'available', claim_id = null
        from unnest($1) c where n.activity_id = c.activity_id and n.claim_id = c.id
      $q$ using i_claims;
  end if;
end $$;

-- Returns what was debited for a claim, once. Parameters: the claim. Result: none. Locks: the user's account, held by the caller. Errors: none.
create or replace function largesse.points_return(i_claim largesse.claim) returns void
language plpgsql volatile
set search_path = largesse, pg_temp
as $$
declare
  v_key     text := 'return/' || i_claim.activity_id || '-' || i_claim.id;
  v_balance bigint;
begin
  perform 1 from largesse.points_entry e where e.user_id = i_claim.user_id and e.key = v_key;
  if found then return; end if;
  insert into largesse.points_account as p (user_id, balance) values (i_claim.user_id, i_claim.points)
    on conflict (user_id) do update set balance = p.balance + excluded.balance returning p.balance into v_balance;
  insert into largesse.points_entry (user_id, key, amount, balance, reason, actor, activity_id, claim_id, at)
    values (i_claim.user_id, v_key, i_claim.points, v_balance, i_claim.status, 'system', i_claim.activity_id, i_claim.id, i_claim.updated_at);
end $$;

-- Claims that did not hold and now do: stock, allowances by the instants at which they were made, and the numbers asked for, with their guards.
-- Parameters: i_act, i_claims (their rows after the move). Result: none. Locks: the caller has called claim_holdings_lock.
-- Errors: 40001 where something is not there any more: the caller looks before, under the locks (claim_hold_refusal).
create or replace function largesse.claim_take_up(i_act largesse.activity, i_claims largesse.claim[]) returns void
language plpgsql volatile
set search_path = largesse, pg_temp set jit = off set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
set plan_cache_mode = force_custom_plan
as $$
declare
  v_quantity bigint := (select sum(c.quantity) from unnest(i_claims) c);
  v_wanted   bigint;
  v_taken    bigint;
begin
  perform largesse.claim_guard(largesse.stock_take(i_act.id, v_quantity, null));
  select count(*) into v_wanted from largesse.claim_allowances(i_act, i_claims) g where g.period <> 'event';
  insert into largesse.usage as u (activity_id, user_id, period, period_start, used, max_used)
    select g.activity_id, g.user_id, g.period, g.start, g.quantity, g.max_count
      from largesse.claim_allowances(i_act, i_claims) g where g.period <> 'event' order by 2, 3, 4
    on conflict (activity_id, user_id, period, period_start) do update set used = u.used + excluded.used, max_used = excluded.max_used
      where u.used + excluded.used <= excluded.max_used;
  get diagnostics v_taken = row_count;
  perform largesse.claim_guard(v_taken = v_wanted);
  select count(*) into v_wanted from largesse.claim_allowances(i_act, i_claims) g where g.period = 'event';
  if v_wanted > 0 then
    insert into largesse.event_usage as u (event_code, user_id, used, max_used)
      select i_act.event_code, g.user_id, g.quantity, g.max_count from largesse.claim_allowances(i_act, i_claims) g where g.period = 'event' order by 2
      on conflict (event_code, user_id) do update set used = u.used + excluded.used, max_used = excluded.max_used
        where u.used + excluded.used <= excluded.max_used;
    get diagnostics v_taken = row_count;
    perform largesse.claim_guard(v_taken = v_wanted);
  end if;
  if i_act.kind = 'number' then
    select coalesce(sum(cardinality(c.numbers)), 0) into v_wanted from unnest(i_claims) c;
    update largesse.activity_number n set status = 'sold', claim_id = asked.claim_id
      from (select c.activity_id, c.id as claim_id, unnest(c.numbers) as number from unnest(i_claims) c) asked
     where n.activity_id = asked.activity_id and n.number = asked.number and coalesce(n.status, '') = 'available';  -- as in claim_apply
    get diagnostics v_taken = row_count;
    perform largesse.claim_guard(v_taken = v_wanted);
  end if;
end $$;

-- Claims that end, waiting ones too: the place in the group becomes anybody's with the last of them, and the qualification is unused again.
-- Parameters: i_act, i_claims. Result: none. Locks: the caller has called claim_holdings_lock; qualifications. Errors: 23514 (the books were wrong).
create or replace function largesse.claim_leave(i_act largesse.activity, i_claims largesse.claim[]) returns void
language plpgsql volatile
set search_path = largesse, pg_temp set jit = off set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
set plan_cache_mode = force_generic_plan
as $$
begin
  if i_act.exclusive_group is not null then
    execute $q$
      update largesse.group_member m set live = m.live - g.claims
        from (select ($1).exclusive_group as name, c.user_id, count(*) as claims from unnest($2) c group by 2) g
       where m.group_name = g.name and m.user_id = g.user_id and m.activity_id = ($1).id
      $q$ using i_act, i_claims;
  end if;
  -- Also where the list was switched off since; most activities never had one.
  if exists (select from largesse.qualification q where q.activity_id = i_act.id) then
    execute $q$
      update largesse.qualification q set claim_id = null
        from unnest($1) c where q.activity_id = c.activity_id and q.user_id = c.user_id and q.claim_id = c.id
      $q$ using i_claims;
  end if;
end $$;

-- Claims that had ended and live again. Parameters: i_act, i_claims. Result: none. Locks: as claim_leave. Errors: as claim_take_up.
create or replace function largesse.claim_join(i_act largesse.activity, i_claims largesse.claim[]) returns void
language plpgsql volatile
set search_path = largesse, pg_temp set jit = off set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
set plan_cache_mode = force_custom_plan
as $$
declare
  v_taken bigint;
begin
  if i_act.exclusive_group is not null then
    insert into largesse.group_member as m (group_name, user_id, activity_id, live)
      select i_act.exclusive_group, c.user_id, i_act.id, count(*) from unnest(i_claims) c group by 2 order by 2
      on conflict (group_name, user_id) do update set activity_id = excluded.activity_id, live = m.live + excluded.live
        where m.live = 0 or m.activity_id = excluded.activity_id;
    get diagnostics v_taken = row_count;
    perform largesse.claim_guard(v_taken = (select count(distinct c.user_id) from unnest(i_claims) c));
  end if;
  if i_act.needs_qualification then
    update largesse.qualification q set claim_id = c.id
      from unnest(i_claims) c where q.activity_id = c.activity_id and q.user_id = c.user_id and q.claim_id is null;
    get diagnostics v_taken = row_count;
    perform largesse.claim_guard(v_taken = cardinality(i_claims));
  end if;
end $$;

-- Whether a claim that holds nothing could hold again what it asked for; in the order in which claims are judged.
-- Parameters: i_claim: its row. Result: null, or the code of the first refusal. Locks: the caller has called claim_holdings_lock. Errors: none.
create or replace function largesse.claim_hold_refusal(i_claim largesse.claim) returns text
language sql stable
set search_path = largesse, pg_temp set jit = off set enable_seqscan = off
as $$
  select case
    when exists (
      select from largesse.claim_allowances(a, array[i_claim]) g
        left join largesse.usage u on u.activity_id = a.id and u.user_id = g.user_id and u.period = g.period and u.period_start = g.start
        left join largesse.event_usage e on g.period = 'event' and e.event_code = a.event_code and e.user_id = g.user_id
       where coalesce(u.used, e.used, 0) + g.quantity > g.max_count) then 'LIMIT_REACHED'
    -- What waits is in its group and has its qualification.
    when i_claim.status <> 'waiting' and a.needs_qualification and not exists (
      select from largesse.qualification q where q.activity_id = a.id and q.user_id = i_claim.user_id and q.claim_id is null) then 'NOT_QUALIFIED'
    when i_claim.status <> 'waiting' and exists (
      select from largesse.group_member m
       where m.group_name = a.exclusive_group and m.user_id = i_claim.user_id and m.live > 0 and m.activity_id <> a.id) then 'EXCLUSIVE_GROUP'
    when exists (
      select from unnest(i_claim.numbers) asked(number)
       where not exists (select from largesse.activity_number n
                          where n.activity_id = a.id and n.number = asked.number and n.status = 'available')) then 'NUMBER_TAKEN'
    when (select sum(s.remaining) < i_claim.quantity from largesse.stock s where s.activity_id = a.id) then 'SOLD_OUT' end
    from largesse.activity a where a.id = i_claim.activity_id
$$;
