-- SPDX-License-Identifier: Apache-2.0
-- Repairs of points. Only what the ledger itself proves is set right; where entries contradict each other, a person decides.

-- A balance that is not what its ledger says, while the ledger agrees with itself and with the user's claims: its entries sum to the balance that its last one tells.
-- Parameters: i_activity_id, i_claim_id (not used), i_subject ('points user 7'), i_apply. Result: one row: before, after, outcome; not_repairable where an entry was changed or
-- is missing; none where the subject is not such a text. Locks: the account. Errors: 40P01 (repeat).
create or replace function largesse.repair_points_balance(i_activity_id bigint, i_claim_id bigint, i_subject text, i_apply boolean)
returns table (before text, after text, outcome text)
language plpgsql volatile
set search_path = largesse, pg_temp set jit = off set enable_seqscan = off set plan_cache_mode = force_generic_plan
as $$
declare
  v_user    bigint := substring(i_subject from '^points user ([0-9]{1,19})$')::bigint;
  v_balance bigint;
  v_ledger  record;
  v_claim   text;
  v_made    boolean := false;  -- the account, here
begin
  if v_user is null then return; end if;
  if i_apply then
    insert into largesse.points_account (user_id, balance) select v_user, 0 where exists (select from largesse.points_entry e where e.user_id = v_user) on conflict do nothing;
    v_made := found;
    perform 1 from largesse.points_account a where a.user_id = v_user for update;
  end if;
  select a.balance into v_balance from largesse.points_account a where a.user_id = v_user and not v_made;
  select coalesce(sum(e.amount), 0) as total, coalesce((array_agg(e.balance order by e.id desc))[1], 0) as last, count(*) as entries into v_ledger
    from largesse.points_entry e where e.user_id = v_user;
  before := format('balance %s', coalesce(v_balance::text, 'missing'));
  after := format('balance %s', v_ledger.total);
  select c.activity_id || '-' || c.id into v_claim
    from largesse.claim c join largesse.claim_state s on s.status = c.status
   where c.user_id = v_user and c.points is not null
     and case when s.holds_stock then -c.points else 0 end
         <> (select coalesce(sum(e.amount), 0) from largesse.points_entry e where e.activity_id = c.activity_id and e.claim_id = c.id and e.user_id = v_user)
   order by c.activity_id, c.id limit 1;
  if v_claim is not null and v_balance is distinct from v_ledger.total then
    after := format('the entries of claim %s are not what it cost: see to that first', v_claim); outcome := 'not_repairable';
  elsif v_ledger.total <> v_ledger.last then
    after := format('entries sum to %s, the last one says %s', v_ledger.total, v_ledger.last); outcome := 'not_repairable';
  elsif v_balance is not distinct from v_ledger.total or v_balance is null and v_ledger.entries = 0 then
    outcome := 'already_right'; after := before;
  else
    outcome := 'repaired';
    if i_apply then update largesse.points_account a set balance = v_ledger.total where a.user_id = v_user; end if;
  end if;
  return next;
end $$;

-- Points of a claim that came to nothing, which were debited and did not come back; or which did, while their entry is missing.
-- Parameters: i_activity_id, i_claim_id, i_subject (not used), i_apply. Result: as repair_points_balance; not_repairable in every other case.
-- Locks: the activity, its stock, the account. Errors: 40P01 (repeat).
create or replace function largesse.repair_points_return(i_activity_id bigint, i_claim_id bigint, i_subject text, i_apply boolean)
returns table (before text, after text, outcome text)
language plpgsql volatile
set search_path = largesse, pg_temp set jit = off set enable_seqscan = off set plan_cache_mode = force_generic_plan
as $$
declare
  v_claim   largesse.claim;
  v_holds   boolean;
  v_ours    record;
  v_account record;
begin
  perform largesse.repair_lock(i_activity_id, i_apply);
  v_claim := largesse.claim_row(i_activity_id, i_claim_id);
  if v_claim.id is null or v_claim.points is null then return; end if;
  if i_apply then perform 1 from largesse.points_account a where a.user_id = v_claim.user_id for update; end if;
  select s.holds_stock into v_holds from largesse.claim_state s where s.status = v_claim.status;
  select coalesce(-sum(e.amount) filter (where e.key = 'claim/' || i_activity_id || '-' || i_claim_id and e.user_id = v_claim.user_id), 0) as debited,
         coalesce(sum(e.amount) filter (where e.key = 'return/' || i_activity_id || '-' || i_claim_id and e.user_id = v_claim.user_id), 0) as returned,
         coalesce(sum(e.amount), 0) as total into v_ours
    from largesse.points_entry e where e.activity_id = i_activity_id and e.claim_id = i_claim_id;
  select coalesce(a.balance, 0) as balance, coalesce((select sum(e.amount) from largesse.points_entry e where e.user_id = v_claim.user_id), 0) as total into v_account
    from (values (1)) one(n) left join largesse.points_account a on a.user_id = v_claim.user_id;
  before := format('debited %s, returned %s, balance %s', v_ours.debited, v_ours.returned, v_account.balance);
  if v_ours.debited = v_claim.points and v_ours.returned = (case when v_holds then 0 else v_claim.points end) and v_ours.total = v_ours.returned - v_ours.debited then
    outcome := 'already_right'; after := before;
  elsif v_holds or v_ours.debited <> v_claim.points or v_ours.returned <> 0 or v_ours.total <> -v_claim.points then
    outcome := 'not_repairable'; after := format('the entries are not those of a claim of %s points that is %s', v_claim.points, v_claim.status);
  elsif v_account.balance not in (v_account.total, v_account.total + v_claim.points) then
    outcome := 'not_repairable'; after := format('the balance is not what its entries sum to, %s', v_account.total);
  else
    outcome := 'repaired'; after := format('debited %s, returned %s, balance %s', v_ours.debited, v_claim.points, v_account.total + v_claim.points);
    if i_apply and v_account.balance = v_account.total then
      perform largesse.points_return(v_claim);
    elsif i_apply then
      insert into largesse.points_entry (user_id, key, amount, balance, reason, actor, activity_id, claim_id, at)
        values (v_claim.user_id, 'return/' || i_activity_id || '-' || i_claim_id, v_claim.points, v_account.balance, v_claim.status, 'system', i_activity_id, i_claim_id,
                largesse.clock_now());
    end if;
  end if;
  return next;
end $$;
