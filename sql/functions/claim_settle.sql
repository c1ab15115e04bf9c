-- SPDX-License-Identifier: Apache-2.0
-- Writes what many attempts brought, in one transaction.
-- Parameters (parallel arrays): keys, the attempt from claim_take, the number of the call under that lease (from 1) whose answer decides, its step (what
-- was done: deliver, inquire, reverse, close, …), outcome (done, pending, retry, refused, unknown; for reversals not_found too: there is nothing to take back),
-- provider, http status or null, the provider's reference or null, code and detail of a failure or null, when the call started, how long it took, after how
-- many milliseconds the claim is due again (rung plus slack), a review cause where a person must decide (attempts used up, outcome cannot be known; null
-- otherwise), for how many milliseconds from now a "not found" does not count (null: as before; a call that followed an inquiry under the same lease has
-- its own), request and answer as they are to be recorded or nulls; i_traces: the claims' traces as claim_take told them, or nulls (they are looked up then); and i_earlier: the calls before it under the same lease (null: none), a JSON array of
-- {a, c, attempt, call, step, provider, started_us (since 1970), duration_us, outcome, http, code, detail, request, answer}.
-- "pending" is an answer, not a failure: the ladder and the count of tries begin anew after it. Patience with it counts from when it was first heard.
-- i_urls: where the person pays, as an answer to a charge said it, or nulls (null: none at all).
-- Result: a row per claim that this call settled: its status now, and whether it went to review (then it has its dead letter) with the cause.
-- What a newer attempt owns is left alone, except that "done" is always true news: a delivery of a claim that gave everything back owes a reversal then, and a
-- payment of one that has ended is a late one (claim_paid).
-- A delivery refused without a review cause goes to review if its activity wants that, else it gives everything back, and so do the end of a reversal and a refused
-- charge; a payment made may take. All such rows must be of one activity.
-- A reversal or refund that is refused always goes to review, and so does one that found nothing although what it takes back was last said to be pending or to be done: a
-- wrong address of reversals would otherwise give back, at one roll-back of many, what users keep.
-- A charge that certainly had no effect is made again while its claim is held, and is void when it is not. An order that was closed will not be paid (claim_settle_closes).
-- Locks: as claim_holdings_lock, of all that moves; then the claims. Errors: 22023 as claim_move; 40P01, 40001 (repeat).
create or replace function largesse.claim_settle(
  i_activity_ids bigint[], i_claim_ids bigint[], i_attempts int[], i_calls int[], i_steps text[], i_outcomes text[], i_providers text[], i_http int[],
  i_refs text[], i_codes text[], i_details text[], i_started timestamptz[], i_durations_us bigint[], i_due_ms bigint[], i_review text[],
  i_trust_ms bigint[] default null, i_requests text[] default null, i_answers text[] default null, i_earlier jsonb default null, i_traces uuid[] default null, i_urls text[] default null)
returns table (activity_id bigint, claim_id bigint, status text, under_review boolean, review_cause text)
language plpgsql volatile security definer
set search_path = largesse, pg_temp set jit = off set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
set plan_cache_mode = force_generic_plan  -- of what names its partition there is no plan to be kept; see claim_rows.sql
as $$
#variable_conflict use_column
declare
  v_now        timestamptz;
  v_relation   text := largesse.month_relation('claim', i_activity_ids);
  v_is_in_time boolean;
  v_moves      record;
  v_done       record;
  v_lost       record;
  v_back       record;
begin
  if i_earlier is not null then
    execute format($q$
    insert into largesse.attempt (activity_id, claim_id, attempt, call, step, provider, started_at, duration_us, outcome, http_status, code, detail,
                                  request, answer, trace)
      select e.a, e.c, e.attempt, e.call, e.step, e.provider, timestamptz 'epoch' + e.started_us * interval '1 microsecond', e.duration_us, e.outcome, e.http, e.code, e.detail, e.request, e.answer, c.trace
        from jsonb_to_recordset($1) as e(a bigint, c bigint, attempt int, call int, step text, provider text, started_us bigint,
                                                duration_us bigint, outcome text, http int, code text, detail text, request text, answer text)
        join %s c on c.activity_id = e.a and c.id = e.c
    on conflict do nothing
    $q$, v_relation) using i_earlier;
  end if;
  if i_traces is null then
    execute format('select array(select (select c.trace from %s c where c.activity_id = r.a and c.id = r.c)
                                   from unnest($1, $2) with ordinality as r(a, c, n) order by r.n)', v_relation) into i_traces using i_activity_ids, i_claim_ids;
  end if;
  perform largesse.attempt_add(i_activity_ids, i_claim_ids, i_attempts, i_calls, i_steps, i_outcomes, i_providers, i_http, i_codes, i_details, i_started,
                               i_durations_us, i_requests, i_answers, i_traces);

  if i_outcomes && '{refused}' then
    i_review := array(select coalesce(r.review, (select 'delivery_refused' from largesse.activity a
                                                  where r.outcome = 'refused' and r.step in ('deliver', 'inquire') and a.id = r.a and a.on_refused = 'review'))
                        from unnest(i_activity_ids, i_steps, i_outcomes, i_review) with ordinality as r(a, step, outcome, review, n) order by r.n);
  end if;
  if i_outcomes && '{refused}' or i_steps && '{reverse,inquire_reverse,charge,inquire_charge}' then
    -- What may be given or taken before claims, as everywhere: of all that moves at once, one activity's as a rule. Nothing is where all is paid for in time.
    v_is_in_time := i_steps <@ '{charge,inquire_charge}' and i_outcomes <@ '{done}' and largesse.claim_pays_in_time_held(i_activity_ids, i_claim_ids);
    for v_moves in
      select r.a, array_agg(r.c order by r.c) as c from unnest(i_activity_ids, i_claim_ids, i_steps, i_outcomes, i_review) as r(a, c, step, outcome, review)
       where not v_is_in_time
         and case when r.step in ('deliver', 'inquire') then r.outcome = 'refused' and r.review is null
                  when r.step in ('charge', 'inquire_charge') then r.outcome in ('done', 'refused')
                  else r.step in ('reverse', 'inquire_reverse') and r.outcome in ('done', 'not_found') end
       group by 1 order by 1
    loop
      perform largesse.claim_holdings_lock(v_moves.a, v_moves.c, 100);
    end loop;
    -- All claims now, in their order: what follows comes to them in several turns.
    perform largesse.claim_settle_lock(i_activity_ids, i_claim_ids);
    -- A refusal counts only while its attempt owns the claim: a newer one may have delivered. So does that there is nothing to take back.
    if i_outcomes && '{refused}' and i_steps && '{deliver,inquire}' then
      execute format($q$
      select array_agg(o.a) as a, array_agg(o.c) as c, array_agg(o.ref) as ref, array_agg(o.code) as code, array_agg(o.detail) as detail
        from (select r.* from unnest($1, $2, $3, $4, $5, $6, $7, $8, $9) as r(a, c, attempt, step, outcome, ref, code, detail, review)
                join %s c on c.activity_id = r.a and c.id = r.c and c.attempts = r.attempt and c.lease_until is not null
               where r.step in ('deliver', 'inquire') and r.outcome = 'refused' and r.review is null and c.reversal is null
               order by r.a, r.c for no key update of c) o
      $q$, v_relation) into v_lost using i_activity_ids, i_claim_ids, i_attempts, i_steps, i_outcomes, i_refs, i_codes, i_details, i_review;
      if v_lost.a is not null then
        return query
          select m.activity_id, m.claim_id, 'failed', false, null::text
            from largesse.claim_move(v_lost.a, v_lost.c, 'failed', v_lost.ref, v_lost.code, v_lost.detail) m;
      end if;
    end if;
    if i_steps && '{reverse,inquire_reverse}' then
      execute format($q$
      select array_agg(o.a) as a, array_agg(o.c) as c, array_agg(o.outcome) as outcome
        from (select r.a, r.c, r.outcome from unnest($1, $2, $3, $4, $5) as r(a, c, attempt, step, outcome)
                join %s c on c.activity_id = r.a and c.id = r.c
               where r.step in ('reverse', 'inquire_reverse') and c.reversed_at is null
                 and (r.outcome = 'done' or r.outcome = 'not_found' and c.attempts = r.attempt and c.lease_until is not null
                                            and c.status <> 'succeeded' and coalesce(c.outcome, '') not in ('done', 'pending'))
               order by r.a, r.c for no key update of c) o
      $q$, v_relation) into v_back using i_activity_ids, i_claim_ids, i_attempts, i_steps, i_outcomes;
      if v_back.a is not null then
        return query select e.activity_id, e.claim_id, e.status, false, null::text from largesse.claim_reversal_end(v_back.a, v_back.c, v_back.outcome) e;
      end if;
    end if;
  end if;
  if i_steps && '{charge,inquire_charge,close,refund,inquire_refund}' then
    if not (i_steps && '{reverse,inquire_reverse,charge,inquire_charge}' or i_outcomes && '{refused}') then perform largesse.claim_settle_lock(i_activity_ids, i_claim_ids); end if;
    return query select p.activity_id, p.claim_id, p.status, p.under_review, p.review_cause
                   from largesse.claim_settle_payments(i_activity_ids, i_claim_ids, i_attempts, i_steps, i_outcomes, i_refs, i_codes, i_details, i_due_ms, i_review,
                                                       i_trust_ms, i_urls, i_providers, i_http) p;
    if i_steps <@ '{charge,inquire_charge,close,refund,inquire_refund}' then return; end if;
  end if;

  select array_agg(r.a) as a, array_agg(r.c) as c, array_agg(r.ref) as ref into v_done
    from unnest(i_activity_ids, i_claim_ids, i_steps, i_outcomes, i_refs) as r(a, c, step, outcome, ref)
   where r.outcome = 'done' and r.step in ('deliver', 'inquire');
  if v_done.a is not null then
    return query select d.activity_id, d.claim_id, d.status, false, null::text from largesse.claim_told_done(v_done.a, v_done.c, v_done.ref) d;
    if cardinality(v_done.a) = cardinality(i_activity_ids) then return; end if;
  end if;

  if not exists (select from unnest(i_steps, i_outcomes, i_review) as r(step, outcome, review)
                  where r.step in ('deliver', 'inquire', 'reverse', 'inquire_reverse') and r.outcome <> 'done'
                    and not (r.step in ('deliver', 'inquire') and r.outcome = 'refused' and r.review is null)) then
    return;
  end if;
  v_now := largesse.clock_now();
  return query execute format($q$
  with told as (
    select r.*, r.step in ('reverse', 'inquire_reverse') as is_reversal
      from unnest($1, $2, $3, $4, $5, $6, $7, $8, $9)
             as r(a, c, attempt, step, outcome, ref, due_ms, review, trust_ms)
     where r.step in ('deliver', 'inquire', 'reverse', 'inquire_reverse')
  ), asked as (
    select t.a, t.c, t.attempt, t.step, t.outcome, t.ref, t.due_ms, t.trust_ms, t.is_reversal,
           case when t.is_reversal and t.outcome = 'refused' then coalesce(t.review, 'reversal_refused')
                when t.is_reversal and t.outcome = 'not_found' then 'reversal_not_found' else t.review end as review
      from told t
  ), settled as (
    update %s c
       set updated_at = $10, lease_until = null, doing = null, doubted_at = null,
           outcome = case when r.is_reversal then c.outcome else r.outcome end,
           reversal = case when r.is_reversal then replace(r.outcome, 'not_found', 'refused') else c.reversal end,
           -- The action itself is next where it is certain that it had no effect, else an inquiry about it.
           step = case when r.outcome in ('retry', 'refused', 'not_found') then case r.step when 'inquire' then 'deliver' else replace(r.step, 'inquire_', '') end
                       when r.step in ('deliver', 'inquire') then 'inquire'
                       else 'inquire_' || replace(r.step, 'inquire_', '') end,
           next_attempt_at = case when r.review is null and c.doubted_at is not null then $10
                                  when r.review is null then $10 + r.due_ms * interval '1 millisecond' end,
           trust_after = case when r.outcome in ('unknown', 'pending') then coalesce($10 + r.trust_ms * interval '1 millisecond', c.trust_after) end,
           attempts_before = case r.outcome when 'pending' then c.attempts else c.attempts_before end,
           pending_since = case r.outcome when 'pending' then coalesce(c.pending_since, $10) when 'unknown' then c.pending_since end,
           provider_ref = case when r.is_reversal then c.provider_ref else coalesce(r.ref, c.provider_ref) end,
           review_since = case when r.review is not null then $10 end, review_cause = r.review
      from asked r
     where c.activity_id = r.a and c.id = r.c and c.attempts = r.attempt and c.lease_until is not null
       and case when r.step in ('deliver', 'inquire') then c.status = 'issuing' and c.reversal is null else true end
       -- What is left of "not found" was said to have been delivered, or to be so later: the provider contradicts itself.
       and (r.outcome in ('pending', 'retry', 'unknown') or r.outcome = 'refused' and r.review is not null or r.outcome = 'not_found' and r.is_reversal)
    returning c.activity_id, c.id, c.status, c.review_since, c.review_cause
  )
  select s.activity_id, s.id, s.status, s.review_since is not null, s.review_cause from settled s
  $q$, v_relation) using i_activity_ids, i_claim_ids, i_attempts, i_steps, i_outcomes, i_refs, i_due_ms, i_review, i_trust_ms, v_now;
  if i_review is distinct from array_fill(null::text, array[cardinality(i_review)]) or i_outcomes && '{refused,not_found}' then
    perform largesse.claim_settle_letters(i_activity_ids, i_claim_ids, i_attempts, i_steps, i_providers, i_http, i_codes, i_details, '{deliver,inquire,reverse,inquire_reverse}', v_now);
  end if;
end $$;

-- Locks all claims of a batch whose parts would else be locked one after the other, while others lock the same ones in order: holds that end, say.
-- Parameters: keys (parallel arrays). Result: none. Locks: the claims, ascending. Errors: 40P01 (repeat).
create or replace function largesse.claim_settle_lock(i_activity_ids bigint[], i_claim_ids bigint[]) returns void
language plpgsql volatile security definer
set search_path = largesse, pg_temp set jit = off set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
begin
  execute format('select from unnest($1, $2) as r(a, c) join %s c on c.activity_id = r.a and c.id = r.c order by c.activity_id, c.id for no key update of c',
                 largesse.month_relation('claim', i_activity_ids)) using i_activity_ids, i_claim_ids;
end $$;

-- Writes down calls; those that are written down already stay as they are. Parameters: as claim_settle. Result: none. Locks: none. Errors: none.
create or replace function largesse.attempt_add(
  i_activity_ids bigint[], i_claim_ids bigint[], i_attempts int[], i_calls int[], i_steps text[], i_outcomes text[], i_providers text[], i_http int[],
  i_codes text[], i_details text[], i_started timestamptz[], i_durations_us bigint[], i_requests text[], i_answers text[], i_traces uuid[]) returns void
language plpgsql volatile
set plan_cache_mode = auto  -- it reads no table: there is one plan, and making it costs as much as a third of the work
as $$
begin
  insert into largesse.attempt (activity_id, claim_id, attempt, call, step, provider, started_at, duration_us, outcome, http_status, code, detail,
                                request, answer, trace)
    select r.a, r.c, r.attempt, r.call, r.step, r.provider, r.started, r.duration, r.outcome, r.http, r.code, r.detail, r.request, r.answer, r.trace
      from unnest(i_activity_ids, i_claim_ids, i_attempts, i_calls, i_steps, i_outcomes, i_providers, i_http, i_codes, i_details, i_started,
                  i_durations_us, i_requests, i_answers, i_traces)
        as r(a, c, attempt, call, step, outcome, provider, http, code, detail, started, duration, request, answer, trace)
  on conflict do nothing;
end $$;

-- Opens the letters of claims that a batch has just sent to review. Parameters: parallel arrays as of claim_settle; i_of: the steps that are meant; i_now: when their review
-- began. Result: none. Locks: letters. Errors: none.
create or replace function largesse.claim_settle_letters(
  i_activity_ids bigint[], i_claim_ids bigint[], i_attempts int[], i_steps text[], i_providers text[], i_http int[], i_codes text[], i_details text[], i_of text[],
  i_now timestamptz)
returns void
language plpgsql volatile security definer
set search_path = largesse, pg_temp set jit = off set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
begin
  execute format($q$
    select largesse.dead_letter_open(array_agg(r.a), array_agg(r.c), array_agg(r.provider), array_agg(c.review_cause),
                                     array_agg(coalesce(r.code, 'HTTP ' || r.http)), array_agg(r.detail))
      from unnest($1, $2, $3, $4, $5, $6, $7, $8) as r(a, c, attempt, step, provider, http, code, detail)
      join %s c on c.activity_id = r.a and c.id = r.c and c.attempts = r.attempt and c.review_since = $9
     where r.step = any ($10)
    having count(*) > 0
    $q$, largesse.month_relation('claim', i_activity_ids)) using i_activity_ids, i_claim_ids, i_attempts, i_steps, i_providers, i_http, i_codes, i_details, i_now, i_of;
end $$;
