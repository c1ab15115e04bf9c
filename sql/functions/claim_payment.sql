-- SPDX-License-Identifier: Apache-2.0
-- Payments of claims: whom a step speaks to, what a payment brings, what its failure brings, and what an ended claim owes. `payment` says how far taking the
-- money is, `refund` how far giving it back is; `step` and the due time say what somebody does next about either, as for deliveries.

-- The terms that a step is about: those of payment, or those of the reward. Parameters: the step; the claim's terms. Result: a row of reward. Locks, errors: none.
create or replace function largesse.step_terms(i_step text, i_reward_id int, i_payment_id int) returns int
language sql immutable parallel safe
as $$
  select case when i_step in ('charge', 'inquire_charge', 'refund', 'inquire_refund') then i_payment_id else i_reward_id end
$$;

-- What ended claims owe and still have to find out; called by whatever ends them, in the same transaction, after the move. A payment that is known is owed back. One that was
-- certainly never asked for never will be. About any other the provider is asked until it says what became of it, with patience that begins anew: a lease that
-- runs and the instant before which "not found" says nothing stay as they are.
-- Parameters: keys (parallel arrays). Result: none. Locks: the claims, which the caller holds. Errors: none.
create or replace function largesse.claim_payment_at_end(i_activity_ids bigint[], i_claim_ids bigint[]) returns void
language plpgsql volatile security definer
set search_path = largesse, pg_temp set jit = off set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
set plan_cache_mode = force_generic_plan
as $$
declare
  v_now timestamptz := largesse.clock_now();
begin
  execute format($q$
  update %1$s c
     set payment = case e.fate when 'void' then 'void' else c.payment end,
         refund = case e.fate when 'owed' then 'owed' end, refund_since = case e.fate when 'owed' then $3 end,
         -- What is being taken back at the provider of the reward goes first; see claim_next_debt.
         step = case e.fate when 'void' then c.step when 'asked' then 'inquire_charge'
                            else case when coalesce(c.reversal, 'done') in ('done', 'not_found') then 'refund' else c.step end end,
         next_attempt_at = case when e.fate = 'void' then null
                                when e.fate = 'owed' and coalesce(c.reversal, 'done') not in ('done', 'not_found') then c.next_attempt_at
                                else greatest($3, c.lease_until) end,
         attempts_before = c.attempts, sweeps = 0, pending_since = case when e.fate = 'asked' and c.payment = 'pending' then $3 end
    from unnest($1, $2) as r(a, c)
   cross join lateral (
     select k.*, case when k.payment = 'done' then 'owed' when k.step = 'charge' then 'void' else 'asked' end as fate
       from %1$s k
      where k.activity_id = r.a and k.id = r.c and k.status in ('cancelled', 'expired', 'failed', 'rolled_back')
        and (k.payment = 'done' and k.refund is null or k.payment in ('due', 'retry', 'pending', 'unknown'))) e
   where c.activity_id = e.activity_id and c.id = e.id
  $q$, largesse.month_relation('claim', i_activity_ids)) using i_activity_ids, i_claim_ids, v_now;
end $$;

-- When one of the two things that an ended claim may owe is done, the other one is due. Parameters: keys (parallel arrays), held by the caller. Result: none.
-- Locks: the claims. Errors: none.
create or replace function largesse.claim_next_debt(i_activity_ids bigint[], i_claim_ids bigint[]) returns void
language plpgsql volatile security definer
set search_path = largesse, pg_temp set jit = off set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
set plan_cache_mode = force_generic_plan
as $$
begin
  execute format($q$
  update %s c
     set step = case when c.reversal in ('owed', 'retry', 'refused') then 'reverse' when c.reversal in ('pending', 'unknown') then 'inquire_reverse'
                     when c.refund in ('owed', 'retry', 'refused') then 'refund' else 'inquire_refund' end,
         next_attempt_at = largesse.clock_now(), attempts_before = c.attempts, pending_since = null, trust_after = null, sweeps = 0
    from unnest($1, $2) as r(a, c)
   where c.activity_id = r.a and c.id = r.c and c.next_attempt_at is null and c.review_since is null
     and (c.reversal in ('owed', 'pending', 'retry', 'unknown') or c.refund in ('owed', 'pending', 'retry', 'unknown'))
  $q$, largesse.month_relation('claim', i_activity_ids)) using i_activity_ids, i_claim_ids;
end $$;

-- Closes open letters of claims, in the system's name. Parameters: keys (parallel arrays). Result: none. Locks: the letters; the caller holds the claims. Errors: none.
create or replace function largesse.claim_letters_settled(i_activity_ids bigint[], i_claim_ids bigint[]) returns void
language plpgsql volatile security definer
set search_path = largesse, pg_temp set jit = off set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
set plan_cache_mode = force_generic_plan
as $$
begin
  if not exists (select from unnest(i_activity_ids, i_claim_ids) as r(a, c) cross join lateral (
                   select from largesse.dead_letter d where d.activity_id = r.a and d.claim_id = r.c and d.closed_at is null limit 1) d) then
    return;
  end if;
  -- A signed message that named another amount is a person's business whatever becomes of the claim.
  execute $q$
    update largesse.dead_letter d
       set activity_id = case when n.is_kept then null else d.activity_id end, claim_id = case when n.is_kept then null else d.claim_id end,
           closed_at = case when not n.is_kept then $3 end, closed_by = case when not n.is_kept then 'system' end, resolution = case when not n.is_kept then 'settled' end
      from unnest($1, $2) as r(a, c)
      cross join lateral (select d.id, d.cause = 'callback_amount_mismatch' as is_kept from largesse.dead_letter d
                           where d.activity_id = r.a and d.claim_id = r.c and d.closed_at is null limit 1) n
     where d.id = n.id
    $q$ using i_activity_ids, i_claim_ids, largesse.clock_now();
end $$;

-- Whether a payment that is made now comes in time for all of some claims: then nothing is given back or taken, and what is written down is theirs alone, so that
-- nobody need hold the stock. A second of the hold must be left. Parameters: keys (parallel arrays). Result: the answer. Locks, errors: none.
create or replace function largesse.claim_pays_in_time(i_activity_ids bigint[], i_claim_ids bigint[]) returns boolean
language plpgsql stable security definer
set search_path = largesse, pg_temp set jit = off set plan_cache_mode = force_generic_plan
as $$
declare
  v_latest timestamptz := largesse.clock_now() + interval '1 second';
begin
  return (select count(*) = cardinality(i_claim_ids) and bool_and(c.status = 'held' and c.payment <> 'done' and c.deadline > v_latest)
            from unnest(largesse.claim_rows(i_activity_ids, i_claim_ids)) c) is true;
end $$;

-- The same, with what such a payment changes locked in order. Parameters, result: as claim_pays_in_time. Locks: where it is true: numbers, then the claims.
-- Errors: 40001 where it is true no more when they are locked (repeat); 40P01 (repeat).
create or replace function largesse.claim_pays_in_time_held(i_activity_ids bigint[], i_claim_ids bigint[]) returns boolean
language plpgsql volatile security definer
set search_path = largesse, pg_temp set jit = off set plan_cache_mode = force_generic_plan
as $$
begin
  if not largesse.claim_pays_in_time(i_activity_ids, i_claim_ids) then return false; end if;
  perform largesse.claim_numbers_lock(i_activity_ids, i_claim_ids);
  perform largesse.claim_rows_held(i_activity_ids, i_claim_ids);
  return largesse.claim_guard(largesse.claim_pays_in_time(i_activity_ids, i_claim_ids));
end $$;

-- Payments were made: news that is always true, however late and however often it is told. A claim that is held and in time goes on: its numbers are sold, its
-- reward is due, or it has succeeded. One whose hold has run out expires first. What has ended is paid late: its activity says whether it gets everything back
-- that it had asked for (if all of that is free), or the money goes back, or a person decides.
-- Parameters: keys and the provider's references or nulls (parallel arrays), all of one activity. Result: a row per claim that this news changed: its status now, and
-- whether it waits for a person. Locks: as claim_pays_in_time_held; else as claim_holdings_lock, then the claims; letters. Errors: 22023 for several
-- activities; 40P01, 40001 (repeat).
create or replace function largesse.claim_paid(i_activity_ids bigint[], i_claim_ids bigint[], i_refs text[])
returns table (activity_id bigint, claim_id bigint, status text, under_review boolean)
language plpgsql volatile security definer
set search_path = largesse, pg_temp set jit = off set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  v_activity largesse.activity;
  v_now      timestamptz;
  v_rows     largesse.claim[];
  v_keys     bigint[];
  v_claims   bigint[];
  v_claim    largesse.claim;
begin
  if (select count(distinct a) from unnest(i_activity_ids) a) > 1 then
    raise exception 'claims that take or give stock must be of one activity' using errcode = 'invalid_parameter_value';
  end if;
  if not largesse.claim_pays_in_time_held(i_activity_ids, i_claim_ids) then perform largesse.claim_holdings_lock(i_activity_ids[1], i_claim_ids, 0); end if;
  v_now := largesse.clock_now();
  select * into v_activity from largesse.activity a where a.id = i_activity_ids[1];
  -- From here on none of these begins or ends: that takes the stock's lock, and theirs.
  v_rows := largesse.claim_rows(i_activity_ids, i_claim_ids);
  v_claims := array(select c.id from unnest(v_rows) c where c.status = 'held' and c.deadline <= v_now and c.payment_id is not null order by c.id);
  if cardinality(v_claims) > 0 then
    perform 1 from largesse.claim_move(array_fill(v_activity.id, array[cardinality(v_claims)]), v_claims, 'expired', null, null, null);
    v_rows := largesse.claim_rows(i_activity_ids, i_claim_ids);
  end if;

  select array_agg(c.activity_id order by c.id), array_agg(c.id order by c.id) into v_keys, v_claims
    from unnest(v_rows) c where c.status = 'held' and c.payment <> 'done';
  if v_claims is not null then
    perform largesse.claim_paid_mark(v_keys, v_claims, array(
      select (select r.ref from unnest(i_claim_ids, i_refs) as r(c, ref) where r.c = v.c and r.ref is not null limit 1)
        from unnest(v_claims) with ordinality as v(c, n) order by v.n));
    return query select g.activity_id, g.claim_id, g.status, false from largesse.claim_go_on(v_keys, v_claims) g;
  end if;

  select array_agg(c.activity_id order by c.id), array_agg(c.id order by c.id) into v_keys, v_claims
    from unnest(v_rows) c where c.status in ('expired', 'cancelled', 'failed', 'rolled_back') and c.payment <> 'done';
  if v_claims is not null then
    perform largesse.claim_paid_mark(v_keys, v_claims, array(
      select (select r.ref from unnest(i_claim_ids, i_refs) as r(c, ref) where r.c = v.c and r.ref is not null limit 1)
        from unnest(v_claims) with ordinality as v(c, n) order by v.n));
    foreach v_claim in array largesse.claim_rows(v_keys, v_claims) loop
      return query select p.activity_id, p.claim_id, p.status, p.under_review from largesse.claim_paid_late(v_claim, v_activity.late_payment) p;
    end loop;
  end if;
  -- Known already, but not the reference: a callback was faster, without it.
  if exists (select from unnest(v_rows) c where c.payment = 'done' and c.payment_ref is null) then
    execute format($q$
      update %s c set payment_ref = r.ref from unnest($1, $2, $3) as r(a, c, ref)
       where c.activity_id = r.a and c.id = r.c and c.payment = 'done' and c.payment_ref is null and r.ref is not null
      $q$, largesse.month_relation('claim', i_activity_ids)) using i_activity_ids, i_claim_ids, i_refs;
  end if;
end $$;

-- Writes down that claims are paid: nothing is due about it any more, and nobody need look. Parameters: keys and references or nulls (parallel arrays). Result:
-- none. Locks: the claims; their letters. Errors: none.
create or replace function largesse.claim_paid_mark(i_activity_ids bigint[], i_claim_ids bigint[], i_refs text[]) returns void
language plpgsql volatile security definer
set search_path = largesse, pg_temp set jit = off set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
set plan_cache_mode = force_generic_plan
as $$
begin
  execute format($q$
  with held as materialized (
    select c.activity_id, c.id, r.ref from unnest($1, $2, $3) as r(a, c, ref) join %1$s c on c.activity_id = r.a and c.id = r.c
     order by c.id for no key update of c
  )
  update %1$s c
     set payment = 'done', payment_ref = coalesce(r.ref, c.payment_ref), updated_at = largesse.clock_now(), paid_at = coalesce(c.paid_at, largesse.clock_now()), next_attempt_at = null, lease_until = null, doing = null,
         trust_after = null, doubted_at = null, pending_since = null, attempts_before = c.attempts, sweeps = 0, review_since = null, review_cause = null
    from held r where c.activity_id = r.activity_id and c.id = r.id
  $q$, largesse.month_relation('claim', i_activity_ids)) using i_activity_ids, i_claim_ids, i_refs;
  perform largesse.claim_letters_settled(i_activity_ids, i_claim_ids);
end $$;

-- Claims that are paid go on: what they asked for is theirs, and the reward is due with a ladder of its own; without one they have succeeded.
-- Parameters: keys (parallel arrays), of one activity. Result: the claims and their status now. Locks: the caller has called claim_holdings_lock; the claims. Errors: as claim_move.
create or replace function largesse.claim_go_on(i_activity_ids bigint[], i_claim_ids bigint[])
returns table (activity_id bigint, claim_id bigint, status text)
language plpgsql volatile security definer
set search_path = largesse, pg_temp set jit = off set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  v_part record;
begin
  for v_part in
    select case when c.reward_id is null then 'succeeded' else 'issuing' end as next, array_agg(c.activity_id order by c.id) as a, array_agg(c.id order by c.id) as c
      from unnest(largesse.claim_rows(i_activity_ids, i_claim_ids)) c group by 1
  loop
    return query select m.activity_id, m.claim_id, v_part.next from largesse.claim_move(v_part.a, v_part.c, v_part.next, null, null, null) m;
  end loop;
end $$;

-- A payment that was made after its claim had ended. Parameters: the claim's row, marked as paid; the activity's policy. Result: the claim, its status now, and
-- whether it waits for a person. Locks: the caller holds all. Errors: as claim_move.
create or replace function largesse.claim_paid_late(i_claim largesse.claim, i_policy text)
returns table (activity_id bigint, claim_id bigint, status text, under_review boolean)
language plpgsql volatile security definer
set search_path = largesse, pg_temp set jit = off set enable_seqscan = off set plan_cache_mode = force_custom_plan
as $$
#variable_conflict use_column
declare
  v_now    timestamptz := largesse.clock_now();
  v_key    bigint[] := array[i_claim.activity_id];
  v_id     bigint[] := array[i_claim.id];
begin
  activity_id := i_claim.activity_id; claim_id := i_claim.id; status := i_claim.status; under_review := false;
  if i_policy = 'reallocate' and largesse.claim_reallocation_refusal(i_claim) is null then
    select g.status into strict status from largesse.claim_go_on(v_key, v_id) g;
  elsif i_policy = 'review' and i_claim.status in ('expired', 'cancelled') then
    update largesse.claim c set review_since = v_now, review_cause = 'late_payment' where c.activity_id = i_claim.activity_id and c.id = i_claim.id;
    perform largesse.dead_letter_open(v_key, v_id, (select array[w.provider] from largesse.reward w where w.id = i_claim.payment_id), array['late_payment'], null,
                                      array['it was paid after the claim had ended: give what was bought (retry), or the money back (refund)']);
    under_review := true;
  else
    perform largesse.claim_payment_at_end(v_key, v_id);
  end if;
  return next;
end $$;

-- Whether a claim whose hold has ended may have again all that it had asked for: while its activity takes claims, and if everything is free and no rule is
-- against it. Parameters: its row. Result: null, or the code of the first refusal. Locks: the caller has called claim_holdings_lock. Errors: none.
create or replace function largesse.claim_reallocation_refusal(i_claim largesse.claim) returns text
language plpgsql stable security definer
set search_path = largesse, pg_temp set jit = off set enable_seqscan = off
as $$
declare
  v_activity largesse.activity;
begin
  if i_claim.status <> 'expired' then return 'STATE_CONFLICT'; end if;
  select * into v_activity from largesse.activity a where a.id = i_claim.activity_id;
  return coalesce(largesse.activity_open_state(v_activity.status, v_activity.start_at, v_activity.end_at, largesse.clock_now()),
                  largesse.claim_hold_refusal(i_claim));
end $$;

-- Payments will not be made: the claims that are held for them expire and give everything back; those that ended before owe nothing. A payment that is known to
-- be made stays made. Parameters: keys; failure codes and details (parallel arrays, or null); of one activity. Result: the claims that this changed, and their
-- status now. Locks: as claim_holdings_lock; the claims; letters. Errors: as claim_move.
create or replace function largesse.claim_payment_refused(i_activity_ids bigint[], i_claim_ids bigint[], i_codes text[], i_details text[])
returns table (activity_id bigint, claim_id bigint, status text)
language plpgsql volatile security definer
set search_path = largesse, pg_temp set jit = off set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  v_keys   bigint[];
  v_claims bigint[];
begin
  if (select count(distinct a) from unnest(i_activity_ids) a) > 1 then
    raise exception 'claims that give stock back must be of one activity' using errcode = 'invalid_parameter_value';
  end if;
  perform largesse.claim_holdings_lock(i_activity_ids[1], i_claim_ids, 0);
  execute format($q$
  with found_rows as materialized (
    select c.activity_id, c.id from unnest($1, $2) as r(a, c) join %1$s c on c.activity_id = r.a and c.id = r.c
     where c.payment in ('due', 'pending', 'retry', 'unknown') order by c.id for no key update of c
  ), marked as (
    update %1$s c
       set payment = 'refused', updated_at = largesse.clock_now(), next_attempt_at = null, lease_until = null, doing = null, trust_after = null, doubted_at = null,
           pending_since = null, sweeps = 0, review_since = null, review_cause = null
      from found_rows f where c.activity_id = f.activity_id and c.id = f.id
    returning c.activity_id, c.id
  )
  select array_agg(m.activity_id order by m.id), array_agg(m.id order by m.id) from marked m
  $q$, largesse.month_relation('claim', i_activity_ids)) into v_keys, v_claims using i_activity_ids, i_claim_ids;
  if v_claims is null then return; end if;
  perform largesse.claim_letters_settled(v_keys, v_claims);
  perform 1 from largesse.claim_move(v_keys, v_claims, 'expired', null,
    array(select coalesce((select r.code from unnest(i_claim_ids, i_codes) as r(c, code) where r.c = v.c limit 1), 'PAYMENT_REFUSED') from unnest(v_claims) with ordinality as v(c, n) order by v.n),
    array(select (select r.detail from unnest(i_claim_ids, i_details) as r(c, detail) where r.c = v.c limit 1) from unnest(v_claims) with ordinality as v(c, n) order by v.n));
  return query select c.activity_id, c.id, c.status from unnest(largesse.claim_rows(v_keys, v_claims)) c;
end $$;

-- Tells the business that money went back, as event claim.refunded. Parameters: keys (parallel arrays). Result: none. Locks, errors: none.
create or replace function largesse.claim_tell_refunded(i_activity_ids bigint[], i_claim_ids bigint[]) returns void
language plpgsql volatile security definer
set search_path = largesse, pg_temp set jit = off set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
set plan_cache_mode = force_generic_plan
as $$
begin
  perform largesse.claim_tell(largesse.claim_rows(i_activity_ids, i_claim_ids), 'refunded', largesse.clock_now());
end $$;

-- Money was given back. Always true, once; the business is told. Parameters: keys (parallel arrays). Result: the claims that this news changed, and their status.
-- Locks: the claims, then letters. Errors: none.
create or replace function largesse.claim_refunded(i_activity_ids bigint[], i_claim_ids bigint[])
returns table (activity_id bigint, claim_id bigint, status text)
language plpgsql volatile security definer
set search_path = largesse, pg_temp set jit = off set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  v_done record;
begin
  execute format($q$
  with found_rows as materialized (
    select c.activity_id, c.id from unnest($1, $2) as r(a, c) join %1$s c on c.activity_id = r.a and c.id = r.c
     where c.refund <> 'done' order by c.activity_id, c.id for no key update of c
  ), marked as (
    update %1$s c
       set refund = 'done', refunded_at = largesse.clock_now(), updated_at = largesse.clock_now(), next_attempt_at = null, lease_until = null, doing = null,
           trust_after = null, doubted_at = null, pending_since = null, sweeps = 0, review_since = null, review_cause = null
      from found_rows f where c.activity_id = f.activity_id and c.id = f.id
    returning c.activity_id, c.id, c.status
  )
  select array_agg(m.activity_id) as a, array_agg(m.id) as c, array_agg(m.status) as status from marked m
  $q$, largesse.month_relation('claim', i_activity_ids)) into v_done using i_activity_ids, i_claim_ids;
  if v_done.a is null then return; end if;
  perform largesse.claim_letters_settled(v_done.a, v_done.c);
  perform largesse.claim_next_debt(v_done.a, v_done.c);
  perform largesse.claim_tell_refunded(v_done.a, v_done.c);
  return query select * from unnest(v_done.a, v_done.c, v_done.status);
end $$;
