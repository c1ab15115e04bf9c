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
-- it was taken back by other means. Claims that do not wait for a person are left alone.
-- Parameters, result, locks, errors: as operation_apply.
create or replace function largesse.operation_apply_resolve(i_op largesse.operation, i_activity_ids bigint[], i_claim_ids bigint[]) returns void
language plpgsql volatile
set search_path = largesse, pg_temp set jit = off set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
set plan_cache_mode = force_custom_plan
as $$
declare
  v_issuing bigint[];
  v_taken   bigint[];   -- being taken back
begin
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

-- Applies what was decided about claims of one activity; the caller holds the stock row where something is given back, and the claims.
-- Parameters: i_op; i_outcome; keys (parallel arrays, one activity). Result: none. Locks: letters, then as claim_move. Errors: as claim_move.
create or replace function largesse.operation_apply(i_op largesse.operation, i_outcome text, i_activity_ids bigint[], i_claim_ids bigint[]) returns void
language plpgsql volatile
set search_path = largesse, pg_temp set jit = off
as $$
begin
  case i_outcome
    when 'retried' then perform largesse.operation_apply_again(i_activity_ids, i_claim_ids);
    when 'resolved' then perform largesse.operation_apply_resolve(i_op, i_activity_ids, i_claim_ids);
    when 'rolled_back' then perform largesse.claim_move(i_activity_ids, i_claim_ids, 'rolled_back', null, null, null);
    when 'refunded' then perform largesse.claim_move(i_activity_ids, i_claim_ids, 'failed', null,
      array_fill('GIVEN_UP'::text, array[cardinality(i_claim_ids)]), array_fill(i_op.reason, array[cardinality(i_claim_ids)]));
    when 'reversing' then
      -- What has given back already owes its reversal; for the others it is decided now.
      perform largesse.operation_apply_again(i_activity_ids, i_claim_ids);
      perform largesse.claim_reverse(i_activity_ids, i_claim_ids);
  end case;
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
  if i_activity_id is not null and i_op.kind <> 'retry' then
    perform 1 from largesse.stock s where s.activity_id = i_activity_id order by s.segment for update;
  end if;
  perform 1 from unnest(v_keys, i_claims) as r(a, c) join largesse.claim c on c.activity_id = r.a and c.id = r.c
    order by c.activity_id, c.id for no key update of c;
  -- Settling closes letters while it holds their claim; those without a claim are locked here.
  perform 1 from unnest(i_letters) as r(l) join largesse.dead_letter d on d.id = r.l order by d.id for update of d;
  v_now := largesse.clock_now();
  v_outcomes := array(
    select largesse.operation_verdict(i_op.kind, d.whole, c.whole, largesse.reward_can_be_reversed((c.whole).reward_id), i_op.proof is not null or not i_op.as_delivered)
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
-- Locks: the operation, then as operation_do. Errors: 40P01 (repeat).
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
    select coalesce(array_agg(i.n order by i.n), '{}'), array_agg(i.letter_id order by i.n), array_agg(i.claim_id order by i.n) into v_ns, v_letters, v_claims
      from largesse.operation_item i
     where i.operation_id = v_op.id and i.activity_id is not distinct from v_activity and i.n > v_op.done
       -- As a bigint, which the index understands: else each step would read all that is left.
       and i.n <= v_op.done + least(i_limit, greatest(1, floor(v_op.rate * extract(epoch from v_now + interval '1 second' - v_start))))::bigint;
    if cardinality(v_ns) > 0 then v_counts := largesse.operation_do(v_op, v_activity, v_ns, v_letters, v_claims); end if;
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
