-- SPDX-License-Identifier: Apache-2.0
-- What providers say, whoever heard it: an answer to a call, to an inquiry, or a callback.

-- Deliveries that took effect. Always true, however late: what is being issued has succeeded; what gave everything back owes a reversal; what is being taken
-- back goes on being taken back, by the reference that is known now, and "nothing there to take back" is no end of it any more. Parameters: keys and the provider's references or nulls (parallel arrays).
-- Result: a row per claim that changed: its status now, and whether a reversal is owed by this news. Locks: the claims. Errors: 40P01 (repeat).
create or replace function largesse.claim_told_done(i_activity_ids bigint[], i_claim_ids bigint[], i_refs text[])
returns table (activity_id bigint, claim_id bigint, status text, owes_reversal boolean)
language plpgsql volatile security definer
set search_path = largesse, pg_temp set jit = off set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  v_plain bigint;
  v_moved bigint;
begin
  return query select m.activity_id, m.claim_id, 'succeeded', false from largesse.claim_move_plain(i_activity_ids, i_claim_ids, i_refs) m;
  get diagnostics v_plain = row_count;
  if v_plain = cardinality(i_claim_ids) then return; end if;
  return query
    select m.activity_id, m.claim_id, 'succeeded', false
      from largesse.claim_move_told(i_activity_ids, i_claim_ids, 'succeeded', i_refs, null, null, true) m;
  get diagnostics v_moved = row_count;
  if v_plain + v_moved = cardinality(i_claim_ids) then return; end if;
  execute format($q$
  with told as materialized (
    select c.activity_id, c.id, r.ref from unnest($1, $2, $3) as r(a, c, ref) join %1$s c on c.activity_id = r.a and c.id = r.c
     where c.reversed_at is null and case c.status when 'issuing' then c.reversal is not null
                                                   when 'succeeded' then c.provider_ref is null and r.ref is not null  -- a callback was faster, without it
                                                   else c.status in ('failed', 'rolled_back', 'expired', 'cancelled') end
     order by c.activity_id, c.id for no key update of c
  )
  update %1$s c set outcome = 'done', provider_ref = coalesce(t.ref, c.provider_ref) from told t where c.activity_id = t.activity_id and c.id = t.id
  $q$, largesse.month_relation('claim', i_activity_ids)) using i_activity_ids, i_claim_ids, i_refs;
  return query
    select late.activity_id, late.id, late.status, true
      from (select c.activity_id, c.id, c.status
              from unnest(largesse.claim_rows(i_activity_ids, i_claim_ids)) c where c.status in ('failed', 'rolled_back', 'expired', 'cancelled')) late
     where largesse.claim_owe_reversal(late.activity_id, late.id);
end $$;

-- Something is said to have failed, while a call about it may be under way or its outcome is not known: no proof, but a reason to ask at once; after the
-- call that is under way. Parameters: the claim; i_step: the inquiry that would tell. Result: whether somebody will ask: not where the claim waits for a person, or for something
-- else, and not where the action is certain not to have happened and will be made. Locks: the claim. Errors: 40P01 (repeat).
create or replace function largesse.claim_doubt(i_activity_id bigint, i_claim_id bigint, i_step text) returns boolean
language plpgsql volatile security definer
set search_path = largesse, pg_temp set jit = off set enable_seqscan = off set plan_cache_mode = force_custom_plan
as $$
declare
  v_now timestamptz := largesse.clock_now();
begin
  update largesse.claim c
     set doubted_at = case when c.lease_until > v_now then v_now end,
         next_attempt_at = case when c.lease_until > v_now then c.next_attempt_at else v_now end, sweeps = 0, updated_at = v_now
   where c.activity_id = i_activity_id and c.id = i_claim_id and c.step = i_step and c.review_since is null and (i_step <> 'inquire' or c.status = 'issuing');
  return found;
end $$;

-- A person need not look for now: the provider is asked first. Parameters: the claim, held by the caller; why. Result: none. Locks: the claim, its letters. Errors: none.
create or replace function largesse.claim_ask_again(i_activity_id bigint, i_claim_id bigint, i_reason text) returns void
language plpgsql volatile security definer
set search_path = largesse, pg_temp set jit = off set enable_seqscan = off set plan_cache_mode = force_custom_plan
as $$
declare
  v_now timestamptz := largesse.clock_now();
begin
  update largesse.claim c
     set review_since = null, review_cause = null, next_attempt_at = v_now, attempts_before = c.attempts, pending_since = null, sweeps = 0, updated_at = v_now
   where c.activity_id = i_activity_id and c.id = i_claim_id;
  update largesse.dead_letter d set activity_id = null, claim_id = null  -- another amount is a person's business all the same: see claim_move
   where d.activity_id = i_activity_id and d.claim_id = i_claim_id and d.closed_at is null and d.cause = 'callback_amount_mismatch';
  update largesse.dead_letter d set closed_at = v_now, closed_by = 'system', close_reason = i_reason, resolution = 'retried'
   where d.activity_id = i_activity_id and d.claim_id = i_claim_id and d.closed_at is null;
end $$;
