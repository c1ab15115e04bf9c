-- SPDX-License-Identifier: Apache-2.0
-- Callbacks of providers: kept and applied in one transaction, once per event id. States move only as the table of moves allows, and never back.

-- A callback that matches nothing, or says another amount, for a person to look at. Without i_activity_id the letter is about no claim.
-- Parameters: the claim or nulls; provider, cause, code, detail, body. Result: the letter's id; the open one's, if the claim has one.
-- Locks: none but of the new row; the caller holds the claim. Errors: none.
create or replace function largesse.callback_letter(
  i_activity_id bigint, i_claim_id bigint, i_provider text, i_cause text, i_code text, i_detail text, i_body text) returns bigint
language plpgsql volatile security definer
set search_path = largesse, pg_temp set jit = off
as $$
declare
  v_id bigint;
begin
  insert into largesse.dead_letter (activity_id, claim_id, provider, cause, code, detail, body, fingerprint, opened_at)
    values (i_activity_id, i_claim_id, i_provider, i_cause, i_code, i_detail, i_body,
            largesse.dead_letter_fingerprint(i_cause, i_code, i_detail), largesse.clock_now())
    on conflict (activity_id, claim_id) where closed_at is null do nothing returning id into v_id;
  if v_id is null then
    select d.id into v_id from largesse.dead_letter d
      where d.activity_id = i_activity_id and d.claim_id = i_claim_id and d.closed_at is null;
  end if;
  return v_id;
end $$;

-- A delivery is said to have failed. It is believed where no call can be running any more that could still take effect, and where what was heard last from the
-- provider itself was "pending", or nobody can ask it; else somebody asks. A claim that waits for a person because its outcome is unknown is asked about too. Of what has succeeded
-- it moves nothing, but is told from what is no news.
-- Parameters: the claim's row, held by the caller; code and detail; i_can_inquire: whether the provider can be asked. Result: the state of the callback.
-- Locks: as claim_move; the caller holds the stock. Errors: 40P01 (repeat).
create or replace function largesse.callback_refused(i_claim largesse.claim, i_code text, i_detail text, i_can_inquire boolean) returns text
language plpgsql volatile security definer
set search_path = largesse, pg_temp set jit = off set enable_seqscan = off set plan_cache_mode = force_custom_plan
as $$
declare
  v_now     timestamptz := largesse.clock_now();
  v_leased  boolean := coalesce(i_claim.lease_until > v_now, false);
  v_trusted boolean := coalesce(i_claim.trust_after <= v_now, true);
begin
  if i_claim.status = 'succeeded' and i_claim.reversal is null then return 'contradicts'; end if;
  if i_claim.status <> 'issuing' or i_claim.reversal is not null or i_claim.attempts = 0 then return 'ignored'; end if;
  if not v_leased and (i_claim.outcome = 'pending' and (v_trusted or not i_can_inquire)
                       or i_claim.outcome = 'unknown' and v_trusted and not i_can_inquire) then
    if (select a.on_refused from largesse.activity a where a.id = i_claim.activity_id) = 'review' then
      update largesse.claim c
         set review_since = v_now, review_cause = 'delivery_refused', outcome = 'refused', step = 'deliver', next_attempt_at = null, pending_since = null, updated_at = v_now
       where c.activity_id = i_claim.activity_id and c.id = i_claim.id;
      perform largesse.dead_letter_open(array[i_claim.activity_id], array[i_claim.id], (select array[w.provider] from largesse.reward w where w.id = i_claim.reward_id),
                                        array['delivery_refused'], array[i_code], array[i_detail]);
    else
      perform 1 from largesse.claim_move(array[i_claim.activity_id], array[i_claim.id], 'failed', null, array[i_code], array[i_detail]);
    end if;
    return 'applied';
  end if;
  if not v_leased and i_can_inquire and i_claim.review_since is not null and i_claim.step = 'inquire' then
    perform largesse.claim_ask_again(i_claim.activity_id, i_claim.id, 'a callback says that the delivery failed');
    return 'inquires';
  end if;
  return case when largesse.claim_doubt(i_claim.activity_id, i_claim.id, 'inquire') then 'inquires' else 'ignored' end;
end $$;

-- News of a reversal that we asked for. Parameters: the claim's row, held by the caller; the outcome. Result: the state of the callback.
-- Locks: as claim_reversal_end; the caller holds the stock. Errors: as claim_reversal_end.
create or replace function largesse.callback_reversal(i_claim largesse.claim, i_outcome text) returns text
language plpgsql volatile security definer
set search_path = largesse, pg_temp set jit = off set enable_seqscan = off set plan_cache_mode = force_generic_plan
as $$
begin
  if i_claim.reversed_at is not null then return 'ignored'; end if;
  if i_outcome = 'done' then
    perform 1 from largesse.claim_reversal_end(array[i_claim.activity_id], array[i_claim.id], array['done']);
    return case when found then 'applied' else 'ignored' end;
  end if;
  if i_outcome <> 'refused' then return 'ignored'; end if;
  return case when largesse.claim_doubt(i_claim.activity_id, i_claim.id, 'inquire_reverse') then 'inquires' else 'ignored' end;
end $$;

-- News of a payment. That it was made is always true. That it failed is believed where no call can be running any more that could still take effect, and where what
-- was heard last from the provider itself was "pending", or nobody can ask it; else somebody asks. Of what is known to be paid it moves nothing.
-- Parameters: as callback_decide. Result: the state of the callback. Locks: as claim_paid and claim_payment_refused; the caller holds the stock. Errors: 40P01, 40001 (repeat).
create or replace function largesse.callback_payment(i_claim largesse.claim, i_callback largesse.callback, i_can_inquire boolean) returns text
language plpgsql volatile security definer
set search_path = largesse, pg_temp set jit = off set enable_seqscan = off set plan_cache_mode = force_generic_plan
as $$
declare
  v_now     timestamptz := largesse.clock_now();
  v_leased  boolean := coalesce(i_claim.lease_until > v_now, false);
  v_trusted boolean := coalesce(i_claim.trust_after <= v_now, true);
  v_key     bigint[] := array[i_claim.activity_id];
  v_id      bigint[] := array[i_claim.id];
  v_claim   largesse.claim;
begin
  if i_callback.outcome = 'done' then
    if i_claim.payment = 'done' then
      if i_claim.payment_ref is null then perform 1 from largesse.claim_paid(v_key, v_id, array[i_callback.ref]); end if;
      return 'ignored';
    end if;
    perform 1 from largesse.claim_paid(v_key, v_id, array[i_callback.ref]);
    v_claim := largesse.claim_row(i_claim.activity_id, i_claim.id);
    return case when v_claim.refund is not null then 'owes_refund' when v_claim.review_cause = 'late_payment' then 'paid_late' else 'applied' end;
  end if;
  if i_callback.outcome <> 'refused' then return 'ignored'; end if;
  if i_claim.payment = 'done' then return case when i_claim.refund is null then 'contradicts' else 'ignored' end; end if;
  if i_claim.payment not in ('due', 'pending', 'retry', 'unknown') then return 'ignored'; end if;
  if not v_leased and (i_claim.payment = 'pending' and (v_trusted or not i_can_inquire)
                       or i_claim.payment in ('unknown', 'due') and i_claim.step = 'inquire_charge' and v_trusted and not i_can_inquire) then
    perform 1 from largesse.claim_payment_refused(v_key, v_id, array[i_callback.code], array[i_callback.detail]);
    return 'applied';
  end if;
  if not v_leased and i_can_inquire and i_claim.review_since is not null and i_claim.step = 'inquire_charge' then
    perform largesse.claim_ask_again(i_claim.activity_id, i_claim.id, 'a callback says that the payment failed');
    return 'inquires';
  end if;
  return case when largesse.claim_doubt(i_claim.activity_id, i_claim.id, 'inquire_charge') then 'inquires' else 'ignored' end;
end $$;

-- News of a refund that we asked for. Parameters: the claim's row, held by the caller; the outcome. Result: the state of the callback.
-- Locks: as claim_refunded. Errors: 40P01 (repeat).
create or replace function largesse.callback_refund(i_claim largesse.claim, i_outcome text) returns text
language plpgsql volatile security definer
set search_path = largesse, pg_temp set jit = off set enable_seqscan = off set plan_cache_mode = force_generic_plan
as $$
begin
  if i_claim.refund = 'done' then return case i_outcome when 'refused' then 'contradicts' else 'ignored' end; end if;
  if i_outcome = 'done' then
    perform 1 from largesse.claim_refunded(array[i_claim.activity_id], array[i_claim.id]);
    return 'applied';
  end if;
  if i_outcome <> 'refused' then return 'ignored'; end if;
  return case when largesse.claim_doubt(i_claim.activity_id, i_claim.id, 'inquire_refund') then 'inquires' else 'ignored' end;
end $$;

-- A callback with another amount than the claim's proves nothing: what it is about waits for a person then, and a call under way is no longer heard, but for
-- its record. Parameters: the claim's row, held by the caller; the action; provider, what was said, body. Result: the letter's id. Locks: the caller's. Errors: none.
create or replace function largesse.callback_mismatch(i_claim largesse.claim, i_action text, i_provider text, i_detail text, i_body text) returns bigint
language plpgsql volatile security definer
set search_path = largesse, pg_temp set jit = off set enable_seqscan = off set plan_cache_mode = force_custom_plan
as $$
declare
  v_now     timestamptz := largesse.clock_now();
  v_letter  bigint;
  v_is_open boolean := case i_action when 'deliver' then i_claim.status = 'issuing' and i_claim.reversal is null
                                     when 'charge' then i_claim.payment in ('due', 'pending', 'retry', 'unknown')
                                     when 'refund' then i_claim.refund <> 'done' and i_claim.step in ('refund', 'inquire_refund')
                                     else false end;
begin
  -- Where the claim waits for something else, its letter is about that.
  if not v_is_open or i_claim.review_since is not null then
    v_letter := largesse.callback_letter(null, null, i_provider, 'callback_amount_mismatch', null, i_detail, i_body);
  end if;
  if not v_is_open then return v_letter; end if;
  update largesse.claim c
     set review_since = coalesce(c.review_since, v_now), review_cause = coalesce(c.review_cause, 'callback_amount_mismatch'), next_attempt_at = null,
         -- Something was done, it says: no plain new call. And the call under way may go on until its lease would have ended.
         step = case c.step when 'deliver' then 'inquire' when 'charge' then 'inquire_charge' when 'refund' then 'inquire_refund' else c.step end,
         trust_after = greatest(c.trust_after, c.lease_until),
         lease_until = null, doing = null, doubted_at = null, updated_at = v_now
   where c.activity_id = i_claim.activity_id and c.id = i_claim.id;
  return coalesce(v_letter, largesse.callback_letter(i_claim.activity_id, i_claim.id, i_provider, 'callback_amount_mismatch', null, i_detail, i_body));
end $$;

-- What a callback about a claim does. Parameters: the claim's row, held by the caller; the callback's row; i_expected: the claim's amount or null; i_can_inquire.
-- Result: the state of the callback. Locks: as claim_move; the caller holds the stock where something may be given back. Errors: as claim_move.
create or replace function largesse.callback_decide(i_claim largesse.claim, i_callback largesse.callback, i_expected bigint, i_can_inquire boolean) returns text
language plpgsql volatile security definer
set search_path = largesse, pg_temp set jit = off set enable_seqscan = off set plan_cache_mode = force_generic_plan
as $$
declare
  v_told record;
begin
  if (case i_callback.action
        when 'deliver' then i_claim.status in ('waiting', 'offered', 'held') or i_claim.payment <> 'done'  -- or null: nothing is to be paid
        when 'charge' then i_claim.payment is null or i_claim.attempts = 0
        when 'refund' then i_claim.refund is null
        else i_claim.reversal is null end) then
    return 'unmatched';  -- nobody asked for that
  end if;
  if i_callback.outcome in ('done', 'refused') and exists (
      select from largesse.callback b
       where b.activity_id = i_claim.activity_id and b.claim_id = i_claim.id and b.action = i_callback.action
         and b.occurred_at > i_callback.occurred_at and b.outcome in ('done', 'refused')
         and b.state in ('applied', 'ignored', 'contradicts', 'inquires', 'owes_reversal', 'owes_refund', 'paid_late')) then
    return 'stale';
  end if;
  if i_callback.outcome = 'done' and i_callback.amount <> i_expected then return 'amount_mismatch'; end if;
  if i_callback.action = 'reverse' then return largesse.callback_reversal(i_claim, i_callback.outcome); end if;
  if i_callback.action = 'charge' then return largesse.callback_payment(i_claim, i_callback, i_can_inquire); end if;
  if i_callback.action = 'refund' then return largesse.callback_refund(i_claim, i_callback.outcome); end if;
  if i_callback.outcome = 'refused' then return largesse.callback_refused(i_claim, i_callback.code, i_callback.detail, i_can_inquire); end if;
  if i_callback.outcome <> 'done' then return 'ignored'; end if;
  select t.owes_reversal into v_told from largesse.claim_told_done(array[i_claim.activity_id], array[i_claim.id], array[i_callback.ref]) t;
  return case when not found then 'ignored' when v_told.owes_reversal then 'owes_reversal' else 'applied' end;
end $$;

-- Keeps a callback and applies it. Parameters: the provider; its event id and our request id as given; claim and action that the request id names, or nulls;
-- outcome (done, refused, pending, ignored), reference, code, detail, amount, instant or nulls; body (masked, cut) and trace of the request;
-- i_can_inquire: whether the provider can be asked about that action.
-- Result: one row: verdict, the state of the callback (see largesse.callback), or 'duplicate' (the event was heard before; nothing changes); the dead
-- letter that it opened or null; the claim's bizId, activity and trace for logs, nulls without one.
-- Locks: the callback's key; stock, where the claim may give back or take; the claim; its letter. Errors: 40P01, 40001 (repeat); 55P03: the provider must repeat it.
create or replace function largesse.callback_apply(
  i_provider text, i_event_id text, i_request_id text, i_activity_id bigint, i_claim_id bigint, i_action text, i_outcome text,
  i_ref text, i_code text, i_detail text, i_amount bigint, i_occurred_at timestamptz, i_body text, i_trace uuid, i_can_inquire boolean)
returns table (verdict text, letter_id bigint, biz_id text, activity_code text, trace uuid)
language plpgsql volatile security definer
set search_path = largesse, pg_temp set jit = off set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
set plan_cache_mode = force_generic_plan set lock_timeout = '3s'  -- nobody hears the answer of one that waits for longer
as $$
#variable_conflict use_column
declare
  v_callback largesse.callback;
  v_claim    largesse.claim;
  v_reward   largesse.reward;
begin
  insert into largesse.callback (provider, event_id, request_id, action, outcome, ref, code, detail, amount, occurred_at, received_at, state, body, trace)
    values (i_provider, i_event_id, i_request_id, i_action, i_outcome, i_ref, i_code, i_detail, i_amount, i_occurred_at, largesse.clock_now(), 'unmatched',
            i_body, i_trace)
    on conflict do nothing returning * into v_callback;
  if not found then
    verdict := 'duplicate';
    return next;
    return;
  end if;
  if i_outcome = 'refused' or i_action in ('reverse', 'charge')
     and not (i_action = 'charge' and i_outcome = 'done' and largesse.claim_pays_in_time_held(array[i_activity_id], array[i_claim_id])) then
    perform 1 from largesse.stock s where s.activity_id = i_activity_id order by s.segment for update;
  end if;
  v_claim := largesse.claim_row_held(i_activity_id, i_claim_id);
  select w.* into v_reward from largesse.reward w where w.id = largesse.step_terms(i_action, v_claim.reward_id, v_claim.payment_id) and w.provider = i_provider;
  verdict := case when v_reward.id is null then case i_outcome when 'ignored' then 'ignored' else 'unmatched' end
                  else largesse.callback_decide(v_claim, v_callback, v_reward.amount * v_claim.quantity, i_can_inquire) end;
  if v_reward.id is not null then
    select v_claim.biz_id, a.code, v_claim.trace into biz_id, activity_code, trace from largesse.activity a where a.id = v_claim.activity_id;
  end if;
  if verdict = 'unmatched' then
    letter_id := largesse.callback_letter(null, null, i_provider, 'callback_unmatched', null,
                                          concat_ws('; ', format('%s of request id "%s" in event %s', i_outcome, i_request_id, i_event_id), largesse.archive_note(i_activity_id)), i_body);
  elsif verdict = 'paid_late' then
    select d.id into letter_id from largesse.dead_letter d where d.activity_id = v_claim.activity_id and d.claim_id = v_claim.id and d.closed_at is null;
  elsif verdict = 'amount_mismatch' then
    letter_id := largesse.callback_mismatch(v_claim, i_action, i_provider,
                                            format('request id %s: %s instead of %s in event %s', i_request_id,
                                                   case when i_amount < 0 then 'no amount that can be read' else i_amount::text end,
                                                   v_reward.amount * v_claim.quantity, i_event_id), i_body);
  end if;
  update largesse.callback b
     set state = verdict, activity_id = case when v_reward.id is not null then v_claim.activity_id end,
         claim_id = case when v_reward.id is not null then v_claim.id end
   where b.provider = i_provider and b.event_id = i_event_id;
  return next;
end $$;
