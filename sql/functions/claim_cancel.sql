-- SPDX-License-Identifier: Apache-2.0
-- What people do about their own claims: giving them up, and accepting the place that is kept for them. Doing it again changes nothing.

-- Where a claim is found by the click that made it. Parameters: i_code, i_biz_id. Result: its key; no row: there is no such claim. Locks: none. Errors: none.
create or replace function largesse.claim_find(i_code text, i_biz_id text)
returns table (activity_id bigint, claim_id bigint)
language sql stable security definer
set search_path = largesse, pg_temp set jit = off set enable_seqscan = off
as $$
  select c.activity_id, c.id from largesse.activity a join largesse.claim c on c.activity_id = a.id
   where a.code = i_code and a.status <> 'draft' and c.biz_id = i_biz_id
$$;

-- The row of a claim, locked with what its moves may change; what was kept too long has expired before anything else is asked of it.
-- Parameters: the claim. Result: its row. Locks: as claim_holdings_lock, then the claim. Errors: 40P01, 40001 (repeat).
create or replace function largesse.claim_held(i_activity_id bigint, i_claim_id bigint) returns largesse.claim
language plpgsql volatile
set search_path = largesse, pg_temp set jit = off set enable_seqscan = off set plan_cache_mode = force_generic_plan
as $$
declare
  v_claim largesse.claim;
begin
  perform largesse.claim_holdings_lock(i_activity_id, array[i_claim_id], 100);
  v_claim := largesse.claim_row_held(i_activity_id, i_claim_id);
  if v_claim.deadline <= largesse.clock_now() then
    perform largesse.claim_expire_these(i_activity_id, array[i_claim_id]);
    v_claim := largesse.claim_row(i_activity_id, i_claim_id);
  end if;
  return v_claim;
end $$;

-- Gives a claim up: a place on the waiting list, an offer, numbers that are not paid for, or a registration that is not being taken back.
-- Parameters: the claim; i_reason (may be null). Result: one row: outcome 'ok', or STATE_CONFLICT or COUPON_USED with its detail; the claim as it is now; whether this call
-- changed it. No row: there is no such claim. Locks: as claim_held, letters. Errors: 40P01, 40001 (repeat).
create or replace function largesse.claim_cancel(i_activity_id bigint, i_claim_id bigint, i_reason text)
returns table (outcome text, detail text, doc text, is_changed boolean)
language plpgsql volatile security definer
set search_path = largesse, pg_temp set jit = off set enable_seqscan = off set plan_cache_mode = force_generic_plan
as $$
declare
  v_claim largesse.claim := largesse.claim_held(i_activity_id, i_claim_id);
  v_act   largesse.activity;
begin
  if v_claim.id is null then return; end if;
  select * into v_act from largesse.activity a where a.id = i_activity_id;
  outcome := 'ok';
  is_changed := false;
  if v_claim.status = 'cancelled' then
    null;
  elsif v_act.status = 'archived' then
    outcome := 'STATE_CONFLICT'; detail := 'the activity is archived';
  elsif v_claim.status = 'succeeded' and largesse.coupon_is_used(i_activity_id, i_claim_id) then
    outcome := 'COUPON_USED'; detail := 'an order has used it; release the order first';
  elsif v_claim.status in ('waiting', 'offered', 'held') or v_claim.status = 'succeeded' and v_act.kind = 'registration' and v_claim.reversal is null then
    perform largesse.claim_move(array[i_activity_id], array[i_claim_id], 'cancelled', null,
                                array[case when i_reason is not null then 'CANCELLED' end], array[i_reason]);
    v_claim := largesse.claim_row(i_activity_id, i_claim_id);
    is_changed := true;
  else
    outcome := 'STATE_CONFLICT';
    detail := case when v_claim.reversal is not null then 'the claim is being taken back' else 'a claim that is ' || v_claim.status || ' cannot be cancelled' end;
  end if;
  doc := largesse.claim_json(v_claim, v_act.code);
  return next;
end $$;

-- Accepts an offered place before its deadline, which counts even after the activity's end.
-- Parameters: the claim. Result: as claim_cancel, and where there is something to deliver now, the lane and the attempt to publish; else nulls.
-- Locks: as claim_held. Errors: 40P01, 40001 (repeat).
create or replace function largesse.claim_accept(i_activity_id bigint, i_claim_id bigint)
returns table (outcome text, detail text, doc text, is_changed boolean, provider text, attempt int)
language plpgsql volatile security definer
set search_path = largesse, pg_temp set jit = off set enable_seqscan = off set plan_cache_mode = force_generic_plan
as $$
declare
  v_claim largesse.claim := largesse.claim_held(i_activity_id, i_claim_id);
  v_act   largesse.activity;
begin
  if v_claim.id is null then return; end if;
  select * into v_act from largesse.activity a where a.id = i_activity_id;
  outcome := 'ok';
  is_changed := v_claim.status = 'offered';
  if is_changed then
    perform largesse.claim_confirm(i_activity_id, array[i_claim_id]);
    v_claim := largesse.claim_row(i_activity_id, i_claim_id);
    if v_claim.status = 'issuing' then
      select w.provider, v_claim.attempts into provider, attempt from largesse.reward w where w.id = v_claim.reward_id;
    end if;
  elsif v_act.kind <> 'registration' or v_claim.status not in ('issuing', 'succeeded') then
    outcome := 'STATE_CONFLICT';
    detail := case v_claim.failure_code when 'OFFER_EXPIRED' then 'the offer was ' || v_claim.failure_detail
                else 'a claim that is ' || v_claim.status || ' cannot be accepted' end;
  end if;
  doc := largesse.claim_json(v_claim, v_act.code);
  return next;
end $$;
