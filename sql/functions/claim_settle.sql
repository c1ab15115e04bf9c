-- SPDX-License-Identifier: Apache-2.0
-- Writes what many attempts brought, in one transaction.
-- Parameters (parallel arrays): keys, the attempt from claim_take, outcome (done, pending, retry, refused, unknown), provider, http status or null, the
-- provider's reference or null, code and detail of a failure or null, when the call started, how long it took, after how many milliseconds the claim is due
-- again (rung plus slack), a review cause where a person must decide (attempts used up, outcome cannot be known; null otherwise), and for how many
-- milliseconds from now a "not found" does not count (null: as before; a delivery that followed an inquiry under the same lease has its own).
-- "pending" is an answer, not a failure: the ladder and the count of tries begin anew after it.
-- Result: a row per claim that this call settled: its status now, and whether it went to review (then it has its dead letter).
-- What a newer attempt owns is left alone, except that "done" is always true news. Refused without a review cause gives everything back:
-- then all refused ones must be of one activity.
-- Locks: as claim_move, then the claims. Errors: 22023 as claim_move; 40P01, 40001 (repeat).
create or replace function largesse.claim_settle(
  i_activity_ids bigint[], i_claim_ids bigint[], i_attempts int[], i_outcomes text[], i_providers text[], i_http int[],
  i_refs text[], i_codes text[], i_details text[], i_started timestamptz[], i_durations_us bigint[], i_due_ms bigint[], i_review text[],
  i_trust_ms bigint[] default null)
returns table (activity_id bigint, claim_id bigint, status text, under_review boolean)
language plpgsql volatile security definer
set search_path = largesse, pg_temp set jit = off set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
set plan_cache_mode = force_custom_plan  -- a plan made while the table was empty would be kept while it grows
as $$
#variable_conflict use_column
declare
  v_now  timestamptz;
  v_done record;
  v_lost record;
begin
  -- First, while the rows still say what was being done.
  insert into largesse.attempt (activity_id, claim_id, attempt, step, provider, started_at, duration_us, outcome, http_status, detail)
    select r.a, r.c, r.attempt, coalesce(c.doing, 'deliver'), r.provider, r.started, r.duration, r.outcome, r.http, r.detail
      from unnest(i_activity_ids, i_claim_ids, i_attempts, i_outcomes, i_providers, i_http, i_details, i_started, i_durations_us)
        as r(a, c, attempt, outcome, provider, http, detail, started, duration)
      join largesse.claim c on c.activity_id = r.a and c.id = r.c
  on conflict do nothing;

  -- A refusal counts only while its attempt owns the claim: a newer one may have delivered. Stock before claims, as everywhere.
  perform 1 from largesse.stock s
    where s.activity_id in (select r.a from unnest(i_activity_ids, i_outcomes, i_review) as r(a, outcome, review)
                             where r.outcome = 'refused' and r.review is null)
    order by s.activity_id, s.segment for update;
  select array_agg(o.a) as a, array_agg(o.c) as c, array_agg(o.ref) as ref, array_agg(o.code) as code, array_agg(o.detail) as detail into v_lost
    from (select r.* from unnest(i_activity_ids, i_claim_ids, i_attempts, i_outcomes, i_refs, i_codes, i_details, i_review)
                   as r(a, c, attempt, outcome, ref, code, detail, review)
            join largesse.claim c on c.activity_id = r.a and c.id = r.c and c.attempts = r.attempt
           where r.outcome = 'refused' and r.review is null
           order by r.a, r.c for no key update of c) o;
  if v_lost.a is not null then
    return query
      select m.activity_id, m.claim_id, 'failed', false
        from largesse.claim_move(v_lost.a, v_lost.c, 'failed', v_lost.ref, v_lost.code, v_lost.detail) m;
  end if;
  select array_agg(r.a) as a, array_agg(r.c) as c, array_agg(r.ref) as ref into v_done
    from unnest(i_activity_ids, i_claim_ids, i_outcomes, i_refs) as r(a, c, outcome, ref) where r.outcome = 'done';
  if v_done.a is not null then
    return query select m.activity_id, m.claim_id, 'succeeded', false
      from largesse.claim_move(v_done.a, v_done.c, 'succeeded', v_done.ref, null, null) m;
  end if;

  v_now := largesse.clock_now();
  if v_done.a is not null and cardinality(v_done.a) = cardinality(i_activity_ids) then return; end if;
  return query
  with settled as (
    update largesse.claim c
       set updated_at = v_now, lease_until = null, doing = null, outcome = r.outcome,
           step = case r.outcome when 'retry' then 'deliver' when 'refused' then 'deliver' else 'inquire' end,
           next_attempt_at = case when r.review is null then v_now + r.due_ms * interval '1 millisecond' end,
           trust_after = case when r.outcome in ('unknown', 'pending') then coalesce(v_now + r.trust_ms * interval '1 millisecond', c.trust_after) end,
           attempts_before = case r.outcome when 'pending' then c.attempts else c.attempts_before end,
           provider_ref = coalesce(r.ref, c.provider_ref),
           review_since = case when r.review is not null then v_now end, review_cause = r.review
      from unnest(i_activity_ids, i_claim_ids, i_attempts, i_outcomes, i_refs, i_due_ms, i_review, i_trust_ms)
             as r(a, c, attempt, outcome, ref, due_ms, review, trust_ms)
     where c.activity_id = r.a and c.id = r.c and c.attempts = r.attempt and c.status = 'issuing' and c.lease_until is not null
       and (r.outcome in ('pending', 'retry', 'unknown') or r.outcome = 'refused' and r.review is not null)
    returning c.activity_id, c.id, c.review_cause
  ), letters as (
    insert into largesse.dead_letter (activity_id, claim_id, provider, cause, detail, opened_at)
      select s.activity_id, s.id, r.provider, s.review_cause, r.detail, v_now
        from settled s join unnest(i_activity_ids, i_claim_ids, i_providers, i_details) as r(a, c, provider, detail)
          on r.a = s.activity_id and r.c = s.id
        where s.review_cause is not null
    on conflict (activity_id, claim_id) where closed_at is null do nothing
  )
  select s.activity_id, s.id, 'issuing', s.review_cause is not null from settled s;
end $$;
