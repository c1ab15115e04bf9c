-- SPDX-License-Identifier: Apache-2.0
-- Taking deliveries back at the provider: from the decision to the last news of it. `reversal` says how far it is; it is open until it is 'done' or
-- 'not_found' (there was nothing to take back).

-- Decides that deliveries are taken back: the reversal is due as soon as no delivery can be running any more, with a ladder of its own. A review mark is
-- lifted; its letter is the caller's. Where a reversal is open already, it is made due again. The status stays until it is done.
-- Parameters: keys (parallel arrays). Result: the claims that it was decided for: issuing or succeeded ones with a reward, and no call about them under way.
-- Locks: the claims, ascending. Errors: 40P01 (repeat).
create or replace function largesse.claim_reverse(i_activity_ids bigint[], i_claim_ids bigint[])
returns table (activity_id bigint, claim_id bigint)
language plpgsql volatile security definer
set search_path = largesse, pg_temp set jit = off set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
#variable_conflict use_column
declare
  v_now timestamptz := largesse.clock_now();
begin
  return query
  with wanted as materialized (
    select c.activity_id, c.id
      from unnest(i_activity_ids, i_claim_ids) as r(a, c) join largesse.claim c on c.activity_id = r.a and c.id = r.c
     where c.status in ('issuing', 'succeeded') and c.reward_id is not null and (c.lease_until is null or c.lease_until <= v_now)
     order by c.activity_id, c.id for no key update of c
  )
  update largesse.claim c
     set step = case when c.reversal in ('unknown', 'pending') then 'inquire_reverse' else 'reverse' end,
         reversal = case when c.reversal in ('unknown', 'pending') then c.reversal else 'owed' end, reversal_since = coalesce(c.reversal_since, v_now),
         next_attempt_at = greatest(v_now, c.trust_after), lease_until = null, doing = null, updated_at = v_now, attempts_before = c.attempts, pending_since = null, sweeps = 0,
         review_since = null, review_cause = null
    from wanted w where c.activity_id = w.activity_id and c.id = w.id
  returning c.activity_id, c.id;
end $$;

-- News of a delivery that a claim had given up: what was delivered must be taken back. Due at once; a review mark stays. Where the provider cannot reverse, a
-- person must see to it: the claim goes to review with its dead letter. Parameters: the claim. Result: whether a reversal is owed by this news: not where
-- one is open or was done, and not where the claim still holds what it took. Locks: the claim, then its letter. Errors: 40P01 (repeat).
create or replace function largesse.claim_owe_reversal(i_activity_id bigint, i_claim_id bigint) returns boolean
language plpgsql volatile security definer
set search_path = largesse, pg_temp set jit = off set enable_seqscan = off set plan_cache_mode = force_custom_plan
as $$
declare
  v_now      timestamptz := largesse.clock_now();
  v_provider text;
  v_cannot   boolean;
begin
  update largesse.claim c
     set reversal = 'owed', reversal_since = v_now, updated_at = v_now,
         -- Money that is on its way back goes first; see claim_next_debt.
         step = case when w.refunds then c.step else 'reverse' end,
         next_attempt_at = case when w.refunds then c.next_attempt_at when c.review_since is null then v_now end,
         lease_until = case when w.refunds then c.lease_until end, doing = case when w.refunds then c.doing end,
         trust_after = case when w.refunds then c.trust_after end, pending_since = case when w.refunds then c.pending_since end,
         attempts_before = case when w.refunds then c.attempts_before else c.attempts end, sweeps = 0
    from (select k.activity_id, k.id, coalesce(k.refund, 'done') <> 'done' and (k.next_attempt_at is not null or k.review_since is not null) as refunds from largesse.claim k
           where k.activity_id = i_activity_id and k.id = i_claim_id for no key update) w
   where c.activity_id = i_activity_id and c.id = i_claim_id
     and c.status in ('failed', 'rolled_back', 'expired', 'cancelled') and c.reward_id is not null
     and c.reversed_at is null and (c.reversal is null or c.reversal = 'not_found')
  returning (select t.provider from largesse.reward t where t.id = c.reward_id) into v_provider;
  if not found then return false; end if;
  select not s.can_reverse into v_cannot from largesse.provider_state s where s.provider = v_provider;
  if v_cannot then
    update largesse.claim c set next_attempt_at = null, review_since = coalesce(c.review_since, v_now), review_cause = coalesce(c.review_cause, 'reversal_not_possible')
     where c.activity_id = i_activity_id and c.id = i_claim_id and c.step = 'reverse';
    if found then
      perform largesse.dead_letter_open(array[i_activity_id], array[i_claim_id], array[v_provider], array['reversal_not_possible'], null,
                                        array['the provider cannot take back what it delivered after everything had been given back']);
    end if;
  end if;
  return true;
end $$;

-- The end of reversals: what is still held is given back in the same transaction, once; the claim is then rolled back, or stays what it was if it had given
-- back before. Parameters: keys (parallel arrays), i_outcomes: 'done' (the provider took it back) or 'not_found' (it had never delivered, for certain).
-- All claims must be of one activity. Result: a row per claim that this call ended the reversal of: its status now.
-- Locks: as claim_move, then letters. Errors: as claim_move.
create or replace function largesse.claim_reversal_end(i_activity_ids bigint[], i_claim_ids bigint[], i_outcomes text[])
returns table (activity_id bigint, claim_id bigint, status text)
language plpgsql volatile security definer
set search_path = largesse, pg_temp set jit = off set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  v_now   timestamptz := largesse.clock_now();
  v_ended record;
begin
  if (select count(distinct a) from unnest(i_activity_ids) a) > 1 then
    raise exception 'claims that give stock back must be of one activity' using errcode = 'invalid_parameter_value';
  end if;
  -- Before the claims, which are marked before they move: what is told of the move says that the reversal is over.
  perform 1 from largesse.stock s where s.activity_id = i_activity_ids[1] order by s.segment for update;
  execute format($q$
  with wanted as materialized (
    select c.activity_id, c.id, r.outcome
      from unnest($1, $2, $3) as r(a, c, outcome) join %1$s c on c.activity_id = r.a and c.id = r.c
     where c.reversed_at is null and (r.outcome = 'done' or c.reversal is distinct from 'not_found')
     order by c.activity_id, c.id for no key update of c
  ), ended as (
    update %1$s c
       set reversal = w.outcome, reversal_since = coalesce(c.reversal_since, $4), reversed_at = case w.outcome when 'done' then $4 end,
           next_attempt_at = null, lease_until = null, doing = null, trust_after = null, doubted_at = null, review_since = null, review_cause = null,
           sweeps = 0, updated_at = $4
      from wanted w where c.activity_id = w.activity_id and c.id = w.id
    returning c.activity_id, c.id
  ), letters_closed as (
    update largesse.dead_letter d set closed_at = $4, closed_by = 'system', resolution = 'settled'
      from ended where d.activity_id = ended.activity_id and d.claim_id = ended.id and d.closed_at is null
  )
  select array_agg(ended.activity_id order by ended.activity_id, ended.id) as a, array_agg(ended.id order by ended.activity_id, ended.id) as c from ended
  $q$, largesse.month_relation('claim', i_activity_ids)) into v_ended using i_activity_ids, i_claim_ids, i_outcomes, v_now;
  if v_ended.a is null then return; end if;
  perform 1 from largesse.claim_move(v_ended.a, v_ended.c, 'rolled_back', null, null, null);
  perform largesse.claim_next_debt(v_ended.a, v_ended.c);
  return query
    select c.activity_id, c.id, c.status from unnest(largesse.claim_rows(v_ended.a, v_ended.c)) c;
end $$;
