-- SPDX-License-Identifier: Apache-2.0
-- Operations are done in steps: each is one transaction over items of one activity, at the operation's pace. Anybody may take the next step, so an
-- operation goes on after whoever began it is gone, and two who drive it do each item once.

-- Sends claims round again: due now, with a fresh ladder. Parameters: keys (parallel arrays). Result: none. Locks: the claims. Errors: none.
create or replace function largesse.operation_apply_again(i_activity_ids bigint[], i_claim_ids bigint[]) returns void
language sql volatile
set search_path = largesse, pg_temp set jit = off set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
  update largesse.claim c
     set review_since = null, review_cause = null, next_attempt_at = largesse.clock_now(), updated_at = largesse.clock_now(),
         attempts_before = c.attempts, pending_since = null, sweeps = 0
    from unnest(i_activity_ids, i_claim_ids) as r(a, c) where c.activity_id = r.a and c.id = r.c
$$;

-- A person knows what machines could not find out. Where a delivery was being taken back, "delivered" means that the user keeps it, and "not delivered" that
-- it was taken back by other means. Of a payment "delivered" means that it was made, of a refund that the money was given back; the opposite, that it never will be. Claims
-- that do not wait for a person are left alone.
-- Parameters, result, locks, errors: as operation_apply.
create or replace function largesse.operation_apply_resolve(i_op largesse.operation, i_activity_ids bigint[], i_claim_ids bigint[]) returns void
language plpgsql volatile
set search_path = largesse, pg_temp set jit = off set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
set plan_cache_mode = force_custom_plan
as $$
declare
  v_issuing bigint[];
  v_taken   bigint[];   -- being taken back
  v_rest    bigint[];   -- what is not about money
begin
  -- The news of a payment may leave its claim to a person again, for another reason: only the rest is settled below.
  v_rest := array(
    select r.id from unnest(i_activity_ids, i_claim_ids) as r(a, id)
     cross join lateral (select k as row from largesse.claim k where k.activity_id = r.a and k.id = r.id limit 1) k
     where not largesse.claim_waits_for_money(k.row) order by 1);
  perform largesse.operation_apply_resolve_money(i_op, i_activity_ids, i_claim_ids);
  if cardinality(v_rest) = 0 then return; end if;
  i_activity_ids := array_fill(i_activity_ids[1], array[cardinality(v_rest)]); i_claim_ids := v_rest;
  select array_agg(c.id order by c.id) filter (where c.status = 'issuing'), array_agg(c.id order by c.id) filter (where c.reversal not in ('done', 'not_found'))
    into v_issuing, v_taken
    from unnest(i_activity_ids, i_claim_ids) as r(a, c) join largesse.claim c on c.activity_id = r.a and c.id = r.c where c.review_since is not null;
  if v_taken is not null and not i_op.as_delivered then
    perform largesse.claim_reversal_end(array_fill(i_activity_ids[1], array[cardinality(v_taken)]), v_taken, array_fill('done'::text, array[cardinality(v_taken)]));
  end if;
  if v_issuing is not null and i_op.as_delivered then
    perform largesse.claim_move(array_fill(i_activity_ids[1], array[cardinality(v_issuing)]), v_issuing, 'succeeded',
      array_fill(i_op.proof, array[cardinality(v_issuing)]), null, null);
  elsif v_issuing is not null then
    perform largesse.claim_move(array_fill(i_activity_ids[1], array[cardinality(v_issuing)]), v_issuing, 'failed', null,
      array_fill('NOT_DELIVERED'::text, array[cardinality(v_issuing)]), array_fill(coalesce(i_op.proof, i_op.reason), array[cardinality(v_issuing)]));
  end if;
  -- What had its final state already, and the user keeps: nothing is due any more, and nothing waits for a person.
  update largesse.claim c
     set review_since = null, review_cause = null, next_attempt_at = null, updated_at = largesse.clock_now(),
         step = case when c.reversal not in ('done', 'not_found') then 'inquire' else c.step end,
         reversal = case when c.reversal in ('done', 'not_found') then c.reversal end,
         reversal_since = case when c.reversal in ('done', 'not_found') then c.reversal_since end
    from unnest(i_activity_ids, i_claim_ids) as r(a, c)
   where c.activity_id = r.a and c.id = r.c and c.review_since is not null;
end $$;

-- As operation_apply_resolve, for what waits for a person because of a payment or a refund. Parameters, result, locks, errors: as operation_apply.
create or replace function largesse.operation_apply_resolve_money(i_op largesse.operation, i_activity_ids bigint[], i_claim_ids bigint[]) returns void
language plpgsql volatile
set search_path = largesse, pg_temp set jit = off set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
set plan_cache_mode = force_custom_plan
as $$
declare
  v_unpaid bigint[];   -- nobody knows whether they are paid
  v_paid   bigint[];   -- the money should go back
begin
  select array_agg((k.row).id order by (k.row).id) filter (where (k.row).payment <> 'done'), array_agg((k.row).id order by (k.row).id) filter (where (k.row).payment = 'done')
    into v_unpaid, v_paid
    from unnest(i_activity_ids, i_claim_ids) as r(a, id) cross join lateral (select k as row from largesse.claim k where k.activity_id = r.a and k.id = r.id limit 1) k
   where largesse.claim_waits_for_money(k.row);
  if v_unpaid is not null and i_op.as_delivered then
    perform largesse.claim_paid(array_fill(i_activity_ids[1], array[cardinality(v_unpaid)]), v_unpaid, array_fill(i_op.proof, array[cardinality(v_unpaid)]));
  elsif v_unpaid is not null then
    perform largesse.claim_payment_refused(array_fill(i_activity_ids[1], array[cardinality(v_unpaid)]), v_unpaid,
      array_fill('NOT_PAID'::text, array[cardinality(v_unpaid)]), array_fill(coalesce(i_op.proof, i_op.reason), array[cardinality(v_unpaid)]));
  end if;
  if v_paid is null then return; end if;
  update largesse.claim c
     set refund = case when i_op.as_delivered then 'done' else 'refused' end, refund_since = coalesce(c.refund_since, largesse.clock_now()),
         refunded_at = case when i_op.as_delivered then largesse.clock_now() end,
         review_since = null, review_cause = null, next_attempt_at = null, updated_at = largesse.clock_now()
    from unnest(v_paid) as r(c) where c.activity_id = i_activity_ids[1] and c.id = r.c;
  perform largesse.claim_next_debt(array_fill(i_activity_ids[1], array[cardinality(v_paid)]), v_paid);
  if i_op.as_delivered then perform largesse.claim_tell_refunded(array_fill(i_activity_ids[1], array[cardinality(v_paid)]), v_paid); end if;
end $$;

-- As operation_apply, of refunds of what waits for a person because of money: what is paid is owed back; a hold of which nobody knows whether it is paid ends, and the provider is
-- asked; what is certainly not paid ends. Parameters, locks, errors: as operation_apply. Result: those claims.
create or replace function largesse.operation_apply_refund(i_activity_ids bigint[], i_claim_ids bigint[]) returns bigint[]
language plpgsql volatile
set search_path = largesse, pg_temp set jit = off set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
set plan_cache_mode = force_custom_plan
as $$
declare
  v_held bigint[];
  v_owed bigint[];
begin
  select coalesce(array_agg((k.row).id order by (k.row).id) filter (where (k.row).payment <> 'done'), '{}'),
         coalesce(array_agg((k.row).id order by (k.row).id) filter (where (k.row).payment = 'done'), '{}')
    into v_held, v_owed
    from unnest(i_activity_ids, i_claim_ids) as r(a, id) cross join lateral (select k as row from largesse.claim k where k.activity_id = r.a and k.id = r.id limit 1) k
   where largesse.claim_waits_for_money(k.row);
  if cardinality(v_held) = 0 and cardinality(v_owed) = 0 then return '{}'; end if;
  if cardinality(v_held) > 0 then
    perform largesse.claim_move(array_fill(i_activity_ids[1], array[cardinality(v_held)]), v_held, 'cancelled', null, null, null);
  end if;
  perform largesse.operation_apply_again(array_fill(i_activity_ids[1], array[cardinality(v_owed)]), v_owed);
  update largesse.claim c
     set step = case when c.refund in ('pending', 'unknown') then 'inquire_refund' else 'refund' end,
         refund = case when c.refund in ('pending', 'unknown') then c.refund else 'owed' end, refund_since = coalesce(c.refund_since, largesse.clock_now())
    from unnest(v_owed) as r(c) where c.activity_id = i_activity_ids[1] and c.id = r.c;
  return v_held || v_owed;
end $$;

-- Gives claims that were paid too late what was bought. It was free a moment ago, under the same locks. Parameters: keys (parallel arrays). Result: none.
-- Locks: as claim_paid. Errors: as claim_paid.
create or replace function largesse.operation_apply_give(i_activity_ids bigint[], i_claim_ids bigint[]) returns void
language plpgsql volatile
set search_path = largesse, pg_temp set jit = off set enable_seqscan = off
as $$
declare
  v_claim largesse.claim;
begin
  for v_claim in
    select k.* from unnest(i_activity_ids, i_claim_ids) as r(a, id) cross join lateral (select k.* from largesse.claim k where k.activity_id = r.a and k.id = r.id limit 1) k
     where k.review_cause = 'late_payment' order by k.id
  loop
    update largesse.claim c set review_since = null, review_cause = null where c.activity_id = v_claim.activity_id and c.id = v_claim.id;
    -- Two late buyers of one number in one operation: the second gets the money back.
    perform largesse.claim_paid_late(v_claim, 'reallocate');
  end loop;
end $$;

-- Applies what was decided about claims of one activity; the caller holds the stock row where something is given back, and the claims.
-- Parameters: i_op; i_outcome; keys (parallel arrays, one activity). Result: none. Locks: letters, then as claim_move. Errors: as claim_move.
create or replace function largesse.operation_apply(i_op largesse.operation, i_outcome text, i_activity_ids bigint[], i_claim_ids bigint[]) returns void
language plpgsql volatile
set search_path = largesse, pg_temp set jit = off
as $$
declare
  v_rest bigint[];   -- what is not about money
begin
  case i_outcome
    when 'retried' then
      perform largesse.operation_apply_give(i_activity_ids, i_claim_ids);
      perform largesse.operation_apply_again(array_agg(k.activity_id order by k.id), array_agg(k.id order by k.id))
         from unnest(i_activity_ids, i_claim_ids) as r(a, id) cross join lateral (select k.* from largesse.claim k where k.activity_id = r.a and k.id = r.id limit 1) k
        where k.review_since is not null having count(*) > 0;
    when 'resolved' then perform largesse.operation_apply_resolve(i_op, i_activity_ids, i_claim_ids);
    when 'rolled_back' then perform largesse.claim_move(i_activity_ids, i_claim_ids, 'rolled_back', null, null, null);
    when 'refunded' then
      v_rest := array(select r.id from unnest(i_claim_ids) as r(id) except select m.id from unnest(largesse.operation_apply_refund(i_activity_ids, i_claim_ids)) as m(id) order by 1);
      if cardinality(v_rest) > 0 then
        perform largesse.claim_move(array_fill(i_activity_ids[1], array[cardinality(v_rest)]), v_rest, 'failed', null,
          array_fill('GIVEN_UP'::text, array[cardinality(v_rest)]), array_fill(i_op.reason, array[cardinality(v_rest)]));
      end if;
    when 'reversing' then
      v_rest := array(select r.id from unnest(i_claim_ids) as r(id) except select m.id from unnest(largesse.operation_apply_refund(i_activity_ids, i_claim_ids)) as m(id) order by 1);
      if cardinality(v_rest) = 0 then return; end if;
      i_activity_ids := array_fill(i_activity_ids[1], array[cardinality(v_rest)]); i_claim_ids := v_rest;
      -- What has given back already owes its reversal; for the others it is decided now.
      perform largesse.operation_apply_again(i_activity_ids, i_claim_ids);
      perform largesse.claim_reverse(i_activity_ids, i_claim_ids);
  end case;
end $$;

-- Locks what an operation may take or give, before the claims. Parameters: its kind, the activity, its claims. Result: none. Locks: as claim_paid. Errors: 40P01 (repeat).
create or replace function largesse.operation_lock(i_kind text, i_activity_id bigint, i_claims bigint[]) returns void
language plpgsql volatile
set search_path = largesse, pg_temp set jit = off set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
begin
  -- A plain retry takes and gives nothing.
  if i_kind = 'retry' and not exists (
      select from unnest(i_claims) as r(id) cross join lateral (select k.review_cause from largesse.claim k where k.activity_id = i_activity_id and k.id = r.id limit 1) k
       where k.review_cause = 'late_payment') then
    return;
  end if;
  perform largesse.claim_holdings_lock(i_activity_id, i_claims, 100);
end $$;

-- Does the items that are numbered; they are of one activity, or have no claim.
-- Parameters: i_op (locked), i_activity_id (null: none), i_ns ascending, with the letter and the claim of each (parallel arrays).
-- Result: how many came to what. Locks: stock where something may be given back, claims, letters, items, each ascending. Errors: 40P01 (repeat).
create or replace function largesse.operation_do(i_op largesse.operation, i_activity_id bigint, i_ns bigint[], i_letters bigint[], i_claims bigint[]) returns jsonb
language plpgsql volatile
set search_path = largesse, pg_temp set jit = off set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
set plan_cache_mode = force_custom_plan  -- a plan made while the table was empty would be kept while it grows
as $$
declare
  v_now      timestamptz;
  v_keys     bigint[] := array_fill(i_activity_id, array[cardinality(i_ns)]);
  v_ops      bigint[] := array_fill(i_op.id, array[cardinality(i_ns)]);
  v_outcomes text[];
  v_group    record;
begin
  if i_activity_id is not null then
    perform largesse.operation_lock(i_op.kind, i_activity_id, i_claims);
  end if;
  perform 1 from unnest(v_keys, i_claims) as r(a, c) join largesse.claim c on c.activity_id = r.a and c.id = r.c
    order by c.activity_id, c.id for no key update of c;
  -- Settling closes letters while it holds their claim; those without a claim are locked here.
  perform 1 from unnest(i_letters) as r(l) join largesse.dead_letter d on d.id = r.l order by d.id for update of d;
  v_now := largesse.clock_now();
  v_outcomes := array(
    select largesse.operation_verdict(i_op.kind, d.whole, c.whole, largesse.reward_can_be_reversed((c.whole).reward_id),
                                      largesse.claim_can_be_given(c.whole), i_op.proof is not null or not i_op.as_delivered)
      from unnest(i_letters, v_keys, i_claims) with ordinality as r(letter_id, activity_id, claim_id, place)
      left join lateral (select d as whole from largesse.dead_letter d where d.id = r.letter_id limit 1) d on true
      left join lateral (select c as whole from largesse.claim c where c.activity_id = r.activity_id and c.id = r.claim_id limit 1) c on true
     order by r.place);
  update largesse.operation_item i set at = v_now, outcome = r.outcome
    from unnest(v_ops, i_ns, v_outcomes) as r(operation, n, outcome) where i.operation_id = r.operation and i.n = r.n;
  -- Before claim_move, which would close them in the system's name. Of a claim that has ended by itself, the letter is settled.
  update largesse.dead_letter d
     set closed_at = v_now, closed_by = i_op.actor, close_reason = i_op.reason,
         resolution = case r.outcome when 'retried' then 'retried' when 'resolved' then 'resolved' when 'already_done' then 'settled' else 'refunded' end
    from unnest(i_letters, v_outcomes) as r(l, outcome)
   where d.id = r.l and d.closed_at is null and r.outcome in ('retried', 'resolved', 'refunded', 'reversing', 'already_done');
  if i_op.kind = 'roll_back' then  -- its items are claims
    update largesse.dead_letter d set closed_at = v_now, closed_by = i_op.actor, close_reason = i_op.reason, resolution = 'retried'
      from unnest(v_keys, i_claims, v_outcomes) as r(a, c, outcome)
     where d.activity_id = r.a and d.claim_id = r.c and d.closed_at is null and r.outcome = 'reversing';
  end if;
  for v_group in
    select r.outcome, array_agg(r.a) as keys, array_agg(r.c order by r.c) as claims from unnest(v_keys, i_claims, v_outcomes) as r(a, c, outcome)
     where r.outcome in ('retried', 'resolved', 'refunded', 'reversing', 'rolled_back') and r.c is not null group by 1
  loop
    perform largesse.operation_apply(i_op, v_group.outcome, v_group.keys, v_group.claims);
  end loop;
  return (select jsonb_object_agg(o.outcome, o.items) from (select r.outcome, count(*) as items from unnest(v_outcomes) as r(outcome) group by 1) o);
end $$;

-- Takes the next step of an operation, if its pace allows one now. The pace: up to a second's worth at once, then evenly.
-- Parameters: i_operation_id; null: any that is due and that nobody works on. i_limit: items at most.
-- Result: no row: nothing is due (null given) or there is no such operation; else a row per outcome that this step came to, or one row without outcome if
-- it did nothing: the operation, its kind and state, how many items it has and has done, and in how many milliseconds its next step may be taken.
-- Locks: the operation, then as operation_do or finding_do. Errors: 40P01 (repeat).
create or replace function largesse.operation_step(i_operation_id bigint, i_limit int)
returns table (operation_id bigint, kind text, state text, total bigint, done bigint, wait_ms bigint, outcome text, items bigint)
language plpgsql volatile security definer
set search_path = largesse, pg_temp set jit = off set enable_seqscan = off set plan_cache_mode = force_custom_plan
as $$
#variable_conflict use_column
declare
  v_now      timestamptz := largesse.clock_now();
  v_op       largesse.operation;
  v_start    timestamptz;
  v_activity bigint;
  v_ns       bigint[] := '{}';
  v_letters  bigint[];
  v_claims   bigint[];
  v_findings text[];
  v_counts   jsonb := '{}';
begin
  if i_operation_id is null then
    -- Any of them: one that fails each time holds up no other.
    select o.* into v_op from largesse.operation o where o.state = 'running' and o.next_at <= v_now order by random() limit 1 for update skip locked;
  else
    select o.* into v_op from largesse.operation o where o.id = i_operation_id for update;
  end if;
  if not found then return; end if;
  v_now := largesse.clock_now();
  if v_op.state = 'running' and v_op.next_at <= v_now then
    v_start := greatest(v_op.paid_until, v_now);
    -- Items are done in the order of their numbers, so the next one is known.
    select i.activity_id into v_activity from largesse.operation_item i where i.operation_id = v_op.id and i.n = v_op.done + 1;
    select coalesce(array_agg(i.n order by i.n), '{}'), array_agg(i.letter_id order by i.n), array_agg(i.claim_id order by i.n), array_agg(i.finding_key order by i.n) into v_ns, v_letters, v_claims, v_findings
      from largesse.operation_item i
     where i.operation_id = v_op.id and i.activity_id is not distinct from v_activity and i.n > v_op.done
       -- As a bigint, which the index understands: else each step would read all that is left.
       -- Each repair locks in its own order, from the beginning.
       and i.n <= v_op.done + least(case v_op.kind when 'repair' then 1 else i_limit end, greatest(1, floor(v_op.rate * extract(epoch from v_now + interval '1 second' - v_start))))::bigint;
    if cardinality(v_ns) > 0 and largesse.operation_is_about_findings(v_op.kind) then
      v_counts := largesse.finding_do(v_op, v_ns, v_findings);
    elsif cardinality(v_ns) > 0 then
      v_counts := largesse.operation_do(v_op, v_activity, v_ns, v_letters, v_claims);
    end if;
    v_start := v_start + cardinality(v_ns) * interval '1 second' / v_op.rate;
    update largesse.operation o
       set done = o.done + cardinality(v_ns),
           counts = o.counts || coalesce((select jsonb_object_agg(e.key, coalesce((o.counts ->> e.key)::bigint, 0) + e.value::bigint) from jsonb_each_text(v_counts) e), '{}'),
           paid_until = v_start, next_at = v_start - interval '1 second' + greatest(interval '250 milliseconds', interval '1 second' / o.rate),
           state = case when o.done + cardinality(v_ns) >= o.total then 'done' else o.state end,
           finished_at = case when o.done + cardinality(v_ns) >= o.total then v_now end
     where o.id = v_op.id returning o.* into v_op;
  end if;
  return query
    select v_op.id, v_op.kind, v_op.state, v_op.total, v_op.done,
           case v_op.state when 'running' then greatest(0, ceil(extract(epoch from v_op.next_at - v_now) * 1000))::bigint else 0 end, e.key, e.value::bigint
      from (values (1)) one(n) left join jsonb_each_text(v_counts) e on true;
end $$;
