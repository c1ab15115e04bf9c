-- SPDX-License-Identifier: Apache-2.0
-- Repairs of what live claims keep for their users: places in groups, qualifications, numbers, places in waiting lists.

-- A user's live claims in an activity: waiting, or holding stock. Parameters: i_activity_id, i_user_id. Result: their ids, ascending. Locks, errors: none.
create or replace function largesse.repair_live_claims(i_activity_id bigint, i_user_id bigint) returns bigint[]
language plpgsql stable
set search_path = largesse, pg_temp set jit = off set enable_seqscan = off set plan_cache_mode = force_generic_plan
as $$
begin
  return array(select c.id from largesse.claim c join largesse.claim_state s on s.status = c.status
                where c.activity_id = i_activity_id and c.user_id = i_user_id and (s.holds_stock or c.status = 'waiting') order by c.id);
end $$;

-- A user's place in an exclusive group. Parameters: i_activity_id, i_claim_id (not used), i_subject ('group member 7'), i_apply. Result: one row: before, after, outcome;
-- not_repairable where the user has live claims in another activity of the group too; none where the subject is not such a text. Locks: the activity, its stock, the place.
-- Errors: 40P01 (repeat).
create or replace function largesse.repair_group_member(i_activity_id bigint, i_claim_id bigint, i_subject text, i_apply boolean)
returns table (before text, after text, outcome text)
language plpgsql volatile
set search_path = largesse, pg_temp set jit = off set enable_seqscan = off set plan_cache_mode = force_generic_plan
as $$
declare
  v_user   bigint := substring(i_subject from '^group member ([0-9]{1,19})$')::bigint;
  v_group  text := (select a.exclusive_group from largesse.activity a where a.id = i_activity_id);
  v_member largesse.group_member;
  v_live   int;
  v_other  boolean;
begin
  if v_user is null or v_group is null then return; end if;
  perform largesse.repair_lock(i_activity_id, i_apply);
  if i_apply then perform 1 from largesse.group_member m where m.group_name = v_group and m.user_id = v_user for update; end if;
  select * into v_member from largesse.group_member m where m.group_name = v_group and m.user_id = v_user;
  v_live := cardinality(largesse.repair_live_claims(i_activity_id, v_user));
  v_other := exists (select from largesse.activity a where a.exclusive_group = v_group and a.id <> i_activity_id and largesse.repair_live_claims(a.id, v_user) <> '{}');
  before := case when v_member.user_id is null then 'not in the group' else format('%s live claims in activity %s', v_member.live, v_member.activity_id) end;
  if v_live = (case when v_member.activity_id = i_activity_id then v_member.live else 0 end) then
    after := before; outcome := 'already_right';
  elsif v_live > 0 and v_other then
    after := 'has live claims in another activity of the group too'; outcome := 'not_repairable';
  else
    after := format('%s live claims in activity %s', v_live, i_activity_id); outcome := 'repaired';
  end if;
  if i_apply and outcome = 'repaired' then
    insert into largesse.group_member as m (group_name, user_id, activity_id, live) values (v_group, v_user, i_activity_id, v_live)
      on conflict (group_name, user_id) do update set activity_id = excluded.activity_id, live = excluded.live
        where m is not distinct from v_member;  -- not one that came while this looked
    if not found then outcome := 'not_repairable'; after := 'somebody else changes it now'; end if;
  end if;
  return next;
end $$;

-- A qualification: used by the user's live claim, or unused. Parameters: i_activity_id, i_claim_id (not used), i_subject ('qualification user 7 claim 15'), i_apply.
-- Result: as repair_group_member; not_repairable where the user is not on the list, or has several live claims. Locks: the activity, its stock, the qualification.
-- Errors: 40P01 (repeat).
create or replace function largesse.repair_qualification(i_activity_id bigint, i_claim_id bigint, i_subject text, i_apply boolean)
returns table (before text, after text, outcome text)
language plpgsql volatile
set search_path = largesse, pg_temp set jit = off set enable_seqscan = off set plan_cache_mode = force_generic_plan
as $$
declare
  v_user  bigint := substring(i_subject from '^qualification user ([0-9]{1,19}) claim [0-9]{1,19}$')::bigint;
  v_needs boolean := (select a.needs_qualification from largesse.activity a where a.id = i_activity_id);
  v_row   largesse.qualification;
  v_live  bigint[];
  v_right bigint;
begin
  if v_user is null then return; end if;
  perform largesse.repair_lock(i_activity_id, i_apply);
  if i_apply then perform 1 from largesse.qualification q where q.activity_id = i_activity_id and q.user_id = v_user for update; end if;
  select * into v_row from largesse.qualification q where q.activity_id = i_activity_id and q.user_id = v_user;
  v_live := largesse.repair_live_claims(i_activity_id, v_user);
  v_right := case when v_needs then v_live[1] when v_row.claim_id = any (v_live) then v_row.claim_id end;
  before := case when v_row.user_id is null then 'not on the list' when v_row.claim_id is null then 'unused' else 'used by claim ' || v_row.claim_id end;
  after := case when v_right is null then 'unused' else 'used by claim ' || v_right end;
  outcome := case when v_row.user_id is null and v_right is null or v_row.user_id is not null and v_row.claim_id is not distinct from v_right and (not v_needs or cardinality(v_live) < 2)
                    then 'already_right'
                  when v_row.user_id is null or v_needs and cardinality(v_live) > 1 then 'not_repairable'
                  else 'repaired' end;
  if outcome = 'not_repairable' then
    after := case when v_row.user_id is null then 'whoever has a claim is not on the list' else format('%s live claims, and one qualification', cardinality(v_live)) end;
  elsif i_apply and outcome = 'repaired' then
    update largesse.qualification q set claim_id = v_right where q.activity_id = i_activity_id and q.user_id = v_user;
  end if;
  return next;
end $$;

-- A number: held or sold by the one live claim that asked for it, else available. Parameters: i_activity_id, i_claim_id (not used), i_subject ('number 8 of claim 15'),
-- i_apply. Result: as repair_group_member; not_repairable where the number is not in the set, several live claims want it, or the claim that
-- has it is missing or has lost its numbers. Locks: the activity, its stock, the number.
-- Errors: 40P01 (repeat).
create or replace function largesse.repair_number(i_activity_id bigint, i_claim_id bigint, i_subject text, i_apply boolean)
returns table (before text, after text, outcome text)
language plpgsql volatile
set search_path = largesse, pg_temp set jit = off set plan_cache_mode = force_custom_plan
as $$
declare
  v_number bigint := substring(i_subject from '^number ([0-9]{1,12}) of claim [0-9]{1,19}$')::bigint;
  v_row    largesse.activity_number;
  v_owners bigint[];
  v_right  record;
begin
  if v_number is null then return; end if;
  perform largesse.repair_lock(i_activity_id, i_apply);
  if i_apply then perform 1 from largesse.activity_number n where n.activity_id = i_activity_id and n.number = v_number for update; end if;
  select * into v_row from largesse.activity_number n where n.activity_id = i_activity_id and n.number = v_number;
  v_owners := array(select c.id from largesse.claim c
                     where c.activity_id = i_activity_id and v_number = any (c.numbers) and c.status in (select s.status from largesse.claim_state s where s.holds_stock)
                     order by c.id);
  select coalesce(max(case c.status when 'held' then 'held' else 'sold' end), 'available') as status, max(c.id) as claim_id into v_right
    from largesse.claim c where c.activity_id = i_activity_id and c.id = v_owners[1];
  before := case when v_row.number is null then 'not in the set' when v_row.claim_id is null then 'available' else v_row.status || ' by claim ' || v_row.claim_id end;
  after := case when v_right.claim_id is null then 'available' else v_right.status || ' by claim ' || v_right.claim_id end;
  if v_row.number is null and v_right.claim_id is null or cardinality(v_owners) < 2 and v_row.status = v_right.status and v_row.claim_id is not distinct from v_right.claim_id then
    outcome := 'already_right';
  elsif v_row.number is null then
    outcome := 'not_repairable'; after := format('claim %s holds a number that is not in the set', v_right.claim_id);
  elsif cardinality(v_owners) > 1 then
    outcome := 'not_repairable'; after := format('claims %s hold the same number', array_to_string(v_owners, ', '));
  elsif v_row.claim_id is not null and v_right.claim_id is distinct from v_row.claim_id and not exists (
          select from largesse.claim c where c.activity_id = i_activity_id and c.id = v_row.claim_id) then
    outcome := 'not_repairable'; after := format('claim %s, which has it, is missing: see to that first', v_row.claim_id);
  elsif exists (select from largesse.claim c
                 where c.activity_id = i_activity_id and c.id = v_row.claim_id and c.status in (select s.status from largesse.claim_state s where s.holds_stock)
                   and coalesce(cardinality(c.numbers), 0) < c.quantity and not v_number = any (coalesce(c.numbers, '{}'))) then
    -- Set free, it would be sold again, although somebody has it, and perhaps paid for it.
    outcome := 'not_repairable'; after := format('claim %s is live and has lost its numbers: put them back into the claim, or roll it back', v_row.claim_id);
  else
    outcome := 'repaired';
    if i_apply then
      update largesse.activity_number n set status = v_right.status, claim_id = v_right.claim_id where n.activity_id = i_activity_id and n.number = v_number;
    end if;
  end if;
  return next;
end $$;

-- A place in a waiting list, or how many wait. A claim that is missing comes back between those that were made before and after it, where its own place is free.
-- Parameters: i_activity_id, i_claim_id (not used), i_subject ('claim 15' or 'waiting'), i_apply. Result: as repair_group_member.
-- Locks: the activity, its stock, the entries. Errors: 40P01, 40001 (repeat).
create or replace function largesse.repair_waiting(i_activity_id bigint, i_claim_id bigint, i_subject text, i_apply boolean)
returns table (before text, after text, outcome text)
language plpgsql volatile
set search_path = largesse, pg_temp set jit = off set enable_seqscan = off set plan_cache_mode = force_generic_plan
as $$
declare
  v_id    bigint := substring(i_subject from '^claim ([0-9]{1,19})$')::bigint;
  v_claim largesse.claim;
  v_entry largesse.waiting_entry;
  v_count record;
begin
  if v_id is null and i_subject <> 'waiting' then return; end if;
  perform largesse.repair_lock(i_activity_id, i_apply);
  select c.* into v_claim from largesse.claim c where c.activity_id = i_activity_id and c.id = v_id and c.status = 'waiting';
  select e.* into v_entry from largesse.waiting_entry e where e.activity_id = i_activity_id and e.claim_id = v_id;
  select (select sum(s.waiting) from largesse.stock s where s.activity_id = i_activity_id) as told,
         (select count(*) from largesse.waiting_entry e where e.activity_id = i_activity_id) as entries into v_count;
  if v_id is null then
    before := format('the stock row says %s', v_count.told); after := format('the stock row says %s', v_count.entries);
  else
    before := case when v_entry.claim_id is null then 'not in the list' else format('user %s in the list for %s', v_entry.user_id, v_entry.quantity) end;
    after := case when v_claim.id is null then 'not in the list' else format('user %s in the list for %s', v_claim.user_id, v_claim.quantity) end;
  end if;
  outcome := case when before = after then 'already_right' else 'repaired' end;
  if i_apply and outcome = 'repaired' then
    if v_claim.id is null then
      delete from largesse.waiting_entry e where e.activity_id = i_activity_id and e.claim_id = v_id;
    elsif v_entry.claim_id is not null then
      update largesse.waiting_entry e set user_id = v_claim.user_id, quantity = v_claim.quantity where e.activity_id = i_activity_id and e.claim_id = v_id;
    else
      perform largesse.repair_waiting_entry(v_claim);
    end if;
    update largesse.stock s
       set waiting = case s.segment when 0 then (select count(*) from largesse.waiting_entry e where e.activity_id = i_activity_id) else 0 end
     where s.activity_id = i_activity_id;
    perform largesse.waiting_promote(i_activity_id, 100);
    update largesse.activity a set changed_at = largesse.clock_now() where a.id = i_activity_id;  -- schedulers remember how many wait
  end if;
  return next;
end $$;

-- Puts a waiting claim back into the list: before the first that was made after it if there is room for it, else at the end. Parameters: the claim. Result: none.
-- Locks: the caller holds the stock. Errors: none.
create or replace function largesse.repair_waiting_entry(i_claim largesse.claim) returns void
language plpgsql volatile
set search_path = largesse, pg_temp set jit = off
as $$
declare
  v_next bigint := (select min(e.position) from largesse.waiting_entry e where e.activity_id = i_claim.activity_id and e.claim_id > i_claim.id);
  v_free bigint := v_next - 1;
begin
  if v_next is null or v_free < 1 or exists (select from largesse.waiting_entry e where e.activity_id = i_claim.activity_id and e.position = v_free) then
    insert into largesse.waiting_entry (activity_id, claim_id, user_id, quantity) values (i_claim.activity_id, i_claim.id, i_claim.user_id, i_claim.quantity);
  else
    insert into largesse.waiting_entry (activity_id, position, claim_id, user_id, quantity) overriding system value
      values (i_claim.activity_id, v_free, i_claim.id, i_claim.user_id, i_claim.quantity);
  end if;
end $$;
