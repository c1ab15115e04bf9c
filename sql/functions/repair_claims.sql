-- SPDX-License-Identifier: Apache-2.0
-- Repairs of claims: nothing about them is decided, they are made to go on as they would by themselves.

-- A claim that is open is due now: its provider is asked, by the request id that it had. One that is finished is not due. Nothing else changes.
-- Parameters: i_activity_id, i_claim_id, i_subject (not used), i_apply. Result: one row: before, after, outcome; not_repairable where the claim is due already, is being
-- worked on, or waits for a person; none where there is no such claim. Locks: the claim. Errors: 40P01 (repeat).
create or replace function largesse.repair_claim_due(i_activity_id bigint, i_claim_id bigint, i_subject text, i_apply boolean)
returns table (before text, after text, outcome text)
language plpgsql volatile
set search_path = largesse, pg_temp set jit = off set enable_seqscan = off set plan_cache_mode = force_generic_plan
as $$
declare
  v_now   timestamptz := largesse.clock_now();
  v_claim largesse.claim;
  v_open  boolean;
begin
  if i_apply then v_claim := largesse.claim_row_held(i_activity_id, i_claim_id); else v_claim := largesse.claim_row(i_activity_id, i_claim_id); end if;
  if v_claim.id is null then return; end if;
  v_open := largesse.claim_is_open(v_claim);
  before := format('%s, %s', v_claim.status, case when v_claim.review_since is not null then 'under review' when v_claim.next_attempt_at is null then 'never due'
                                                  else 'due ' || largesse.time_text(v_claim.next_attempt_at) end);
  after := v_claim.status || case when v_open then ', due now' else ', never due' end;
  if v_claim.review_since is not null then
    outcome := 'not_repairable'; after := 'waits for a person: see its dead letter';
  elsif v_claim.lease_until > v_now then
    outcome := 'not_repairable'; after := 'a fulfiller works on it now';
  elsif not v_open and v_claim.next_attempt_at is null then
    outcome := 'already_right';
  elsif v_open and v_claim.next_attempt_at <= v_now then
    outcome := 'not_repairable'; after := 'it is due already: see that its provider is not paused and that a fulfiller serves its lane';
  else
    outcome := 'repaired';
    if i_apply then
      update largesse.claim c
         set next_attempt_at = case when v_open then v_now end, updated_at = v_now, sweeps = 0,
             -- What was begun is asked about, never simply done again.
             step = case when v_open and c.status = 'issuing' and c.step is null then case c.attempts when 0 then 'deliver' else 'inquire' end else c.step end
       where c.activity_id = i_activity_id and c.id = i_claim_id;
    end if;
  end if;
  return next;
end $$;

-- Claims that one provider leaves open for long are due now. Parameters: i_activity_id, i_claim_id (not used), i_subject ('stuck at simulator: last outcome pending'), i_apply.
-- Result: as repair_claim_due; not_repairable where asking again is of no use: the provider is paused or its breaker open, or all of them are due already.
-- Locks: the claims, ascending, 10000 at most. Errors: 40P01 (repeat).
create or replace function largesse.repair_claims_due(i_activity_id bigint, i_claim_id bigint, i_subject text, i_apply boolean)
returns table (before text, after text, outcome text)
language plpgsql volatile
set search_path = largesse, pg_temp set jit = off set plan_cache_mode = force_custom_plan
as $$
declare
  v_now    timestamptz := largesse.clock_now();
  v_asked  text[] := regexp_match(i_subject, '^stuck at (.*): ([^:]*)$');
  v_claims bigint[];
begin
  if v_asked is null then return; end if;
  if v_asked[2] <> 'never tried' and v_asked[2] not like 'last outcome %' then
    return query select i_subject, v_asked[2] || ': asking again is of no use before that ends', 'not_repairable'::text;
    return;
  end if;
  v_claims := array(
    select c.id from largesse.claim c left join largesse.reward w on w.id = c.reward_id
     where c.activity_id = i_activity_id and c.status = 'issuing' and c.review_since is null and c.next_attempt_at > v_now and (c.lease_until is null or c.lease_until <= v_now)
       and coalesce(c.issued_at, c.created_at) < v_now - interval '1 hour' and coalesce(w.provider, 'no provider') = v_asked[1]
       and v_asked[2] = coalesce('last outcome ' || c.outcome, 'never tried')
     order by c.id limit 10000);
  before := format('%s claims wait for a later attempt', cardinality(v_claims));
  after := format('%s claims due now', cardinality(v_claims));
  outcome := case when cardinality(v_claims) > 0 then 'repaired' else 'not_repairable' end;
  if outcome = 'not_repairable' then after := 'all of them are due already, or have ended'; end if;
  if i_apply and outcome = 'repaired' then
    perform 1 from largesse.claim c where c.activity_id = i_activity_id and c.id = any (v_claims) order by c.id for no key update;
    update largesse.claim c set next_attempt_at = v_now, updated_at = v_now, sweeps = 0
     where c.activity_id = i_activity_id and c.id = any (v_claims) and c.status = 'issuing' and c.review_since is null and c.next_attempt_at > v_now
       and (c.lease_until is null or c.lease_until <= v_now);
  end if;
  return next;
end $$;

-- A claim under review has its open letter, and one that is not has none. Parameters: as repair_claim_due. Result: as repair_claim_due. Locks: the claim, its letter.
-- Errors: 40P01 (repeat).
create or replace function largesse.repair_dead_letter(i_activity_id bigint, i_claim_id bigint, i_subject text, i_apply boolean)
returns table (before text, after text, outcome text)
language plpgsql volatile
set search_path = largesse, pg_temp set jit = off set enable_seqscan = off set plan_cache_mode = force_generic_plan
as $$
declare
  v_claim  largesse.claim;
  v_letter boolean;
begin
  if i_apply then v_claim := largesse.claim_row_held(i_activity_id, i_claim_id); else v_claim := largesse.claim_row(i_activity_id, i_claim_id); end if;
  if v_claim.id is null then return; end if;
  v_letter := exists (select from largesse.dead_letter d where d.activity_id = i_activity_id and d.claim_id = i_claim_id and d.closed_at is null);
  before := case when v_claim.review_since is null then 'not under review' else 'under review' end || case when v_letter then ', open dead letter' else ', no open dead letter' end;
  after := case when v_claim.review_since is null then 'not under review, no open dead letter' else 'under review, open dead letter' end;
  outcome := case when before = after then 'already_right' else 'repaired' end;
  if i_apply and outcome = 'repaired' then
    if v_letter then
      perform largesse.claim_letters_settled(array[i_activity_id], array[i_claim_id]);
    else
      perform largesse.dead_letter_open(array[i_activity_id], array[i_claim_id],
        array[coalesce((select w.provider from largesse.reward w
                         where w.id = case when largesse.claim_waits_for_money(v_claim) then v_claim.payment_id else coalesce(v_claim.reward_id, v_claim.payment_id) end), 'none')],
        array[coalesce(v_claim.review_cause, 'attempts_used_up')], array[v_claim.failure_code], array['opened again: the claim was under review without one']);
    end if;
  end if;
  return next;
end $$;

-- What was given back was delivered all the same: it is taken back at its provider. Parameters, result: as repair_claim_due; not_repairable where the provider cannot reverse.
-- Locks: the claim, its letter. Errors: 40P01 (repeat).
create or replace function largesse.repair_reversal(i_activity_id bigint, i_claim_id bigint, i_subject text, i_apply boolean)
returns table (before text, after text, outcome text)
language plpgsql volatile
set search_path = largesse, pg_temp set jit = off set enable_seqscan = off set plan_cache_mode = force_generic_plan
as $$
declare
  v_claim largesse.claim;
begin
  if i_apply then v_claim := largesse.claim_row_held(i_activity_id, i_claim_id); else v_claim := largesse.claim_row(i_activity_id, i_claim_id); end if;
  if v_claim.id is null then return; end if;
  before := format('%s, reversal %s', v_claim.status, coalesce(v_claim.reversal, 'none'));
  after := format('%s, reversal owed', v_claim.status);
  if v_claim.status not in ('failed', 'rolled_back', 'expired', 'cancelled') or v_claim.reversed_at is not null or coalesce(v_claim.reversal, 'not_found') <> 'not_found' then
    outcome := 'already_right'; after := before;
  elsif not exists (select from largesse.attempt t
                     where t.activity_id = i_activity_id and t.claim_id = i_claim_id and t.outcome = 'done' and t.step in ('deliver', 'inquire')) then
    outcome := 'already_right'; after := before;
  elsif not largesse.reward_can_be_reversed(v_claim.reward_id) then
    outcome := 'not_repairable'; after := 'its provider cannot take a delivery back, or no fulfiller that serves it has started';
  else
    outcome := 'repaired';
    if i_apply and not largesse.claim_owe_reversal(i_activity_id, i_claim_id) then
      outcome := 'not_repairable'; after := 'no reversal can be owed now';
    end if;
  end if;
  return next;
end $$;
