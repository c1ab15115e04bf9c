-- SPDX-License-Identifier: Apache-2.0
-- The one function that changes the state of claims. Only legal moves happen; what the new state does not hold is given back in the same transaction, and
-- what it does hold and the old one did not is taken: stock, allowance of the periods in which the claim was made, points, numbers, group and qualification.
-- A signed message that named another amount is a person's business whatever becomes of the claim: its letter stays open, about no claim any more.
-- A move ends what was due, a reversal that was not made yet, a review and its dead letter; and it is told to the business as event claim.<i_to>.
-- What is issued is due at once. What expired comes back only by decision: the caller has looked whether it can hold what it asked for (claim_hold_refusal).
-- A registration that is cancelled after its reward was delivered owes a reversal; a payment that was made, or may have been, is seen to (claim_payment_at_end).
-- Parameters: keys (parallel arrays); i_to; what to record with each (arrays, or null): provider's reference, failure code and detail; i_is_news: no decision,
-- but what a provider says of its delivery: only what is being issued, and not taken back, follows; i_tells: false where the next move follows at once.
-- Result: the claims that moved. Others were not in a state from which i_to can be reached, and stay as they are.
-- Locks: where something is given back or taken, as claim_holdings_lock, then claims, then letters; all claims must then be of one activity. Where numbers become
-- sold, these, then claims. Else the claims. Errors: 22023 when a move that gives or takes names several activities; 40P01, 40001 (repeat).
create or replace function largesse.claim_move_alone(
  i_activity_ids bigint[], i_claim_ids bigint[], i_to text, i_refs text[], i_codes text[], i_details text[], i_is_news boolean, i_tells boolean)
returns table (activity_id bigint, claim_id bigint)
language plpgsql volatile security definer
set search_path = largesse, pg_temp set jit = off set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
set plan_cache_mode = force_generic_plan  -- of what names its partition there is no plan to be kept; see claim_rows.sql
as $$
#variable_conflict use_column
declare
  v_now      timestamptz;
  v_relation text := largesse.month_relation('claim', i_activity_ids);
  v_locked   boolean;
  v_moved    record;
begin
  v_locked := i_to = 'offered' or not (select s.holds_stock from largesse.claim_state s where s.status = i_to);
  if not v_locked and not i_is_news then
    execute format('select exists (select from unnest($1, $2) as r(a, c) join %s c on c.activity_id = r.a and c.id = r.c where c.status = ''expired'')', v_relation)
      into v_locked using i_activity_ids, i_claim_ids;
  end if;
  if v_locked then
    if (select count(distinct a) from unnest(i_activity_ids) a) > 1 then
      raise exception 'claims that give stock back or take it must be of one activity' using errcode = 'invalid_parameter_value';
    end if;
    perform largesse.claim_holdings_lock(i_activity_ids[1], i_claim_ids, 100);
  elsif not i_is_news then
    perform largesse.claim_numbers_lock(i_activity_ids, i_claim_ids);
  end if;
  v_now := largesse.clock_now();
  execute format($q$
  with asked as (
    select r.* from unnest($1, $2, $3, $4, $5) as r(activity_id, claim_id, ref, code, detail)
  ), found_rows as (
    select c.activity_id, c.id, c.status, c.reversal, asked.ref, asked.code, asked.detail
      from asked join %1$s c on c.activity_id = asked.activity_id and c.id = asked.claim_id
      join largesse.claim_state_move m on m.from_status = c.status and m.to_status = $6
      where (not $7 or c.status = 'issuing' and c.reversal is null) and ($8 or c.status <> 'expired')
      order by c.activity_id, c.id for no key update of c
  ), moved as (
    update %1$s c
       set status = $6, updated_at = $9,
           succeeded_at = case $6 when 'succeeded' then coalesce(c.succeeded_at, $9) else c.succeeded_at end,
           expired_at = case $6 when 'expired' then coalesce(c.expired_at, $9) else c.expired_at end,
           ended_at = case when $6 in ('cancelled', 'failed', 'rolled_back') then $9 else c.ended_at end,
           next_attempt_at = case $6 when 'issuing' then $9 end, doubted_at = null,
           -- A charge under way goes on, and what is known of it stays: claim_payment_at_end decides by it.
           lease_until = case when c.payment in ('due', 'pending', 'retry', 'unknown') then c.lease_until end,
           doing = case when c.payment in ('due', 'pending', 'retry', 'unknown') then c.doing end,
           trust_after = case when c.payment in ('due', 'pending', 'retry', 'unknown') then c.trust_after end,
           review_since = null, review_cause = null, sweeps = 0,
           deadline = case $6 when 'offered' then $9 + coalesce((select a.accept_within from largesse.activity a where a.id = c.activity_id), '0') end,
           step = case when $6 = 'issuing' then 'deliver' when $6 = 'succeeded' and c.reward_id is null then null else c.step end,
           attempts_before = case $6 when 'issuing' then c.attempts else c.attempts_before end,
           issued_at = case $6 when 'issuing' then $9 else c.issued_at end,
           outcome = case $6 when 'succeeded' then case when c.reward_id is not null then 'done' end when 'issuing' then null when 'failed' then 'refused'
                               else c.outcome end,
           provider_ref = coalesce(f.ref, c.provider_ref), failure_code = f.code, failure_detail = f.detail,
           reversal = case when $6 = 'rolled_back' then c.reversal end, reversal_since = case when $6 = 'rolled_back' then c.reversal_since end
      from found_rows f where c.activity_id = f.activity_id and c.id = f.id
    returning c.activity_id, c.id, f.status as from_status, row(c.*)::largesse.claim as claim
  )
  select array_agg(m.activity_id) as a, array_agg(m.id) as c, array_agg(m.claim) as claims, array_agg(m.from_status) as from_statuses
    from (select * from moved order by moved.activity_id, moved.id) m
  $q$, v_relation)
    into v_moved using i_activity_ids, i_claim_ids, i_refs, i_codes, i_details, i_to, i_is_news, v_locked, v_now;
  if v_moved.a is null then return; end if;
  perform largesse.claim_letters_settled(v_moved.a, v_moved.c);
  if v_locked then
    perform largesse.claim_holdings_move(v_moved.claims, v_moved.from_statuses, i_to);
    v_moved.claims := largesse.claim_after_end(v_moved.claims, v_moved.from_statuses, i_to);
  end if;
  if i_to in ('issuing', 'succeeded') and not i_is_news and exists (select from unnest(v_moved.claims) c where c.numbers is not null) then
    execute $q$update largesse.activity_number n set status = 'sold' from unnest($1) c
                where c.numbers is not null and n.activity_id = c.activity_id and n.claim_id = c.id
                  and coalesce(n.status, '') = 'held'$q$ using v_moved.claims;  -- plainly, it would invite the index of all that are held
  end if;
  if i_tells then perform largesse.claim_tell(v_moved.claims, i_to, v_now); end if;
  return query select m.a, m.c from unnest(v_moved.a, v_moved.c) as m(a, c);
end $$;

-- Tells the business of a move. The id is the same whenever this news is told: a claim comes to each state once, but for what expired and was paid for late.
-- Parameters: i_claims (their rows after it), i_to, i_at. Result: none. Locks, errors: none.
create or replace function largesse.claim_tell(i_claims largesse.claim[], i_to text, i_at timestamptz) returns void
language plpgsql volatile
set search_path = largesse, pg_temp set jit = off set plan_cache_mode = force_generic_plan
as $$
declare
  v record;
begin
  select array_agg(n.subject || '.' || i_to) as events, array_agg(n.subject) as subjects, array_agg(n.trace) as traces, array_agg(n.doc) as docs
    into v
    from (select c.activity_id || '-' || c.id as subject, coalesce(replace(c.trace::text, '-', ''), '') as trace,
                 largesse.claim_json(c, (select a.code from largesse.activity a where a.id = c.activity_id)) as doc
            from unnest(i_claims) c) n;
  perform largesse.event_emit('claim.' || i_to, i_at, v.events, v.subjects, v.traces, v.docs);
end $$;

-- What a move gives back and takes. Parameters: i_claims of one activity (their rows after it), what they were before, i_to. Result: none.
-- Locks: the caller has called claim_holdings_lock; then qualifications, the waiting list. Errors: as claim_give_back, claim_take_up.
create or replace function largesse.claim_holdings_move(i_claims largesse.claim[], i_from text[], i_to text) returns void
language plpgsql volatile
set search_path = largesse, pg_temp set jit = off set plan_cache_mode = force_generic_plan
as $$
declare
  v_act     largesse.activity;
  v_to      largesse.claim_state;
  v_waited  largesse.claim[];
  v_given   largesse.claim[];
  v_taken   largesse.claim[];
  v_left    largesse.claim[];
  v_joined  largesse.claim[];
begin
  select * into strict v_act from largesse.activity a where a.id = i_claims[1].activity_id;
  select * into strict v_to from largesse.claim_state s where s.status = i_to;
  select array_agg(i_claims[f.n]) filter (where f.status = 'waiting'),
         array_agg(i_claims[f.n]) filter (where s.holds_stock and not v_to.holds_stock),
         array_agg(i_claims[f.n]) filter (where not s.holds_stock and v_to.holds_stock),
         array_agg(i_claims[f.n]) filter (where (s.holds_stock or f.status = 'waiting') and not v_to.holds_stock),
         array_agg(i_claims[f.n]) filter (where not s.holds_stock and f.status <> 'waiting' and v_to.holds_stock)
    into v_waited, v_given, v_taken, v_left, v_joined
    from unnest(i_from) with ordinality as f(status, n) join largesse.claim_state s on s.status = f.status;
  if v_waited is not null then
    execute 'delete from largesse.waiting_entry e using unnest($1) c where e.activity_id = c.activity_id and e.claim_id = c.id' using v_waited;
    update largesse.stock s set waiting = s.waiting - cardinality(v_waited) where s.activity_id = v_act.id and s.segment = 0;
  end if;
  if v_given is not null then perform largesse.claim_give_back(v_act, v_given); end if;
  if v_left is not null then perform largesse.claim_leave(v_act, v_left); end if;
  if v_taken is not null then perform largesse.claim_take_up(v_act, v_taken); end if;
  if v_joined is not null then perform largesse.claim_join(v_act, v_joined); end if;
end $$;

-- What a claim that ends leaves behind at providers: a delivery that the user gave back, and payments. Parameters: as claim_holdings_move.
-- Result: the claims as they are then. Locks: the claims, letters. Errors: none.
create or replace function largesse.claim_after_end(i_claims largesse.claim[], i_from text[], i_to text) returns largesse.claim[]
language plpgsql volatile
set search_path = largesse, pg_temp set jit = off set plan_cache_mode = force_generic_plan
as $$
declare
  v_keys     bigint[];
  v_claims   bigint[];
  v_is_owed  boolean := false;
begin
  if i_to = 'cancelled' then
    select bool_or(largesse.claim_owe_reversal(i_claims[f.n].activity_id, i_claims[f.n].id)) into v_is_owed
      from unnest(i_from) with ordinality as f(status, n) where f.status = 'succeeded' and i_claims[f.n].reward_id is not null;
  end if;
  select array_agg(c.activity_id), array_agg(c.id) into v_keys, v_claims
    from unnest(i_claims) c join largesse.claim_state s on s.status = i_to and not s.holds_stock
   where c.payment = 'done' and c.refund is null or c.payment in ('due', 'retry', 'pending', 'unknown');
  if v_claims is not null then perform largesse.claim_payment_at_end(v_keys, v_claims); end if;
  if v_claims is null and v_is_owed is not true then return i_claims; end if;
  return largesse.claim_rows(array(select c.activity_id from unnest(i_claims) c), array(select c.id from unnest(i_claims) c));
end $$;

-- Moves claims, and whoever waits first for what they give back. Parameters, result, locks, errors: as claim_move_alone.
create or replace function largesse.claim_move_told(
  i_activity_ids bigint[], i_claim_ids bigint[], i_to text, i_refs text[], i_codes text[], i_details text[], i_is_news boolean)
returns table (activity_id bigint, claim_id bigint)
language plpgsql volatile security definer
set search_path = largesse, pg_temp set jit = off set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
begin
  return query
    select m.activity_id, m.claim_id from largesse.claim_move_alone(i_activity_ids, i_claim_ids, i_to, i_refs, i_codes, i_details, i_is_news, true) m;
  if found and not (select s.holds_stock from largesse.claim_state s where s.status = i_to) then
    perform largesse.waiting_promote(i_activity_ids[1], 100);
  end if;
end $$;

-- A move that is decided, by us or by a person. Parameters, result, locks, errors: as claim_move_told.
create or replace function largesse.claim_move(
  i_activity_ids bigint[], i_claim_ids bigint[], i_to text, i_refs text[], i_codes text[], i_details text[])
returns table (activity_id bigint, claim_id bigint)
language plpgsql volatile security definer
set search_path = largesse, pg_temp set jit = off set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
begin
  return query select m.activity_id, m.claim_id from largesse.claim_move_told(i_activity_ids, i_claim_ids, i_to, i_refs, i_codes, i_details, false) m;
end $$;

-- The common move, of claims whose delivery was done at the first telling, in one statement: those that are being issued, not under review and not being taken
-- back. Nothing is given back and nothing else ends by it, so that the row needs not be looked at before. Everything else is left to claim_move_told.
-- Parameters: keys and the provider's references or nulls (parallel arrays). Result: the claims that moved; others stay as they are.
-- Locks: the claims, ascending; then letters. Errors: 40P01 (repeat).
create or replace function largesse.claim_move_plain(i_activity_ids bigint[], i_claim_ids bigint[], i_refs text[])
returns table (activity_id bigint, claim_id bigint)
language plpgsql volatile security definer
set search_path = largesse, pg_temp set jit = off set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
#variable_conflict use_column
declare
  v_now       timestamptz := largesse.clock_now();
  v_partition regclass;
  v_activity  record;
  v_reward    record;
  v           record;
begin
  perform 1 from largesse.claim_state_move m where m.from_status = 'issuing' and m.to_status = 'succeeded';
  if not found then return; end if;
  -- Most batches are of one activity and one reward: their codes are looked up once.
  select a.id, a.code, a.reward_id into v_activity from largesse.activity a where a.id = i_activity_ids[1];
  select w.id, w.code into v_reward from largesse.reward w where w.id = v_activity.reward_id;
  for v_partition in select p.partition from largesse.claim_partitions(i_activity_ids) p loop
    execute format($q$
      with moved as (
        update %s c
           set status = 'succeeded', updated_at = $4, succeeded_at = coalesce(c.succeeded_at, $4), next_attempt_at = null, lease_until = null, doing = null, trust_after = null, doubted_at = null,
               sweeps = 0, outcome = 'done', provider_ref = coalesce(r.ref, c.provider_ref), failure_code = null, failure_detail = null
          from (select * from unnest($1, $2, $3) as u(activity_id, claim_id, ref) order by u.activity_id, u.claim_id) r
         where c.activity_id = r.activity_id and c.id = r.claim_id and c.status = 'issuing' and c.review_since is null and c.reversal is null
        returning c.activity_id, c.id, c.activity_id || '-' || c.id as subject, coalesce(replace(c.trace::text, '-', ''), '') as trace,
                  largesse.claim_doc(row(c.*)::largesse.claim,
                    case when c.activity_id = $5 then $6 else (select a.code from largesse.activity a where a.id = c.activity_id) end,
                    case when c.reward_id = $7 then $8 else (select w.code from largesse.reward w where w.id = c.reward_id) end, 0) as doc
      )
      select array_agg(m.activity_id) as activity_ids, array_agg(m.id) as claim_ids, array_agg(m.subject || '.succeeded') as event_ids,
             array_agg(m.subject) as subjects, array_agg(m.trace) as traces, array_agg(m.doc) as docs
        from moved m
      $q$, v_partition)
      into v using i_activity_ids, i_claim_ids, i_refs, v_now, v_activity.id, v_activity.code, v_reward.id, v_reward.code;
    continue when v.claim_ids is null;
    -- What is not under review has no open letter; should one be left all the same, it ends here as in every move. Nearly always there are none at all.
    if exists (select from largesse.dead_letter d where d.closed_at is null) then
      update largesse.dead_letter d set closed_at = v_now, closed_by = 'system', resolution = 'settled'
        from unnest(v.activity_ids, v.claim_ids) as m(a, c) where d.activity_id = m.a and d.claim_id = m.c and d.closed_at is null;
    end if;
    perform largesse.event_emit('claim.succeeded', v_now, v.event_ids, v.subjects, v.traces, v.docs);
    return query select m.a, m.c from unnest(v.activity_ids, v.claim_ids) as m(a, c);
  end loop;
end $$;
