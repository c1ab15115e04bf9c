-- SPDX-License-Identifier: Apache-2.0
-- What attempts at charges and refunds brought, as part of claim_settle, and (claim_settle_closes) at closing orders. Rows of other steps are left alone.
-- Parameters: as claim_settle. Result: a row per claim that this call settled: its status now, and whether and why it waits for a person. Locks: as claim_paid and
-- claim_payment_refused; then the claims, then letters. Errors: as claim_paid.
create or replace function largesse.claim_settle_payments(
  i_activity_ids bigint[], i_claim_ids bigint[], i_attempts int[], i_steps text[], i_outcomes text[], i_refs text[], i_codes text[], i_details text[],
  i_due_ms bigint[], i_review text[], i_trust_ms bigint[], i_urls text[], i_providers text[], i_http int[])
returns table (activity_id bigint, claim_id bigint, status text, under_review boolean, review_cause text)
language plpgsql volatile security definer
set search_path = largesse, pg_temp set jit = off set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  v_now      timestamptz;
  v_relation text := largesse.month_relation('claim', i_activity_ids);
  v_rows     record;
begin
  select array_agg(r.a) as a, array_agg(r.c) as c, array_agg(r.ref) as ref into v_rows
    from unnest(i_activity_ids, i_claim_ids, i_steps, i_outcomes, i_refs) as r(a, c, step, outcome, ref)
   where r.step in ('charge', 'inquire_charge') and r.outcome = 'done';
  if v_rows.a is not null then
    return query select p.activity_id, p.claim_id, p.status, p.under_review, case when p.under_review then 'late_payment' end
                   from largesse.claim_paid(v_rows.a, v_rows.c, v_rows.ref) p;
  end if;
  -- A refusal counts only while its attempt owns the claim: a newer one may have been paid.
  if i_outcomes && '{refused}' and i_steps && '{charge,inquire_charge}' then
    execute format($q$
      select array_agg(r.a) as a, array_agg(r.c) as c, array_agg(r.code) as code, array_agg(r.detail) as detail
        from unnest($1, $2, $3, $4, $5, $6, $7, $8) as r(a, c, attempt, step, outcome, code, detail, review)
        join %s c on c.activity_id = r.a and c.id = r.c and c.attempts = r.attempt and c.lease_until is not null
       where r.step in ('charge', 'inquire_charge') and r.outcome = 'refused' and r.review is null
      $q$, v_relation) into v_rows using i_activity_ids, i_claim_ids, i_attempts, i_steps, i_outcomes, i_codes, i_details, i_review;
    if v_rows.a is not null then
      return query select p.activity_id, p.claim_id, p.status, false, null::text
                     from largesse.claim_payment_refused(v_rows.a, v_rows.c, v_rows.code, v_rows.detail) p;
    end if;
  end if;
  select array_agg(r.a) as a, array_agg(r.c) as c into v_rows
    from unnest(i_activity_ids, i_claim_ids, i_steps, i_outcomes) as r(a, c, step, outcome)
   where r.step in ('refund', 'inquire_refund') and r.outcome = 'done';
  if v_rows.a is not null then
    return query select p.activity_id, p.claim_id, p.status, false, null::text from largesse.claim_refunded(v_rows.a, v_rows.c) p;
  end if;

  if i_steps && '{close}' then
    return query select p.activity_id, p.claim_id, p.status, p.under_review, p.review_cause
                   from largesse.claim_settle_closes(i_activity_ids, i_claim_ids, i_attempts, i_steps, i_outcomes, i_codes, i_details, i_due_ms, i_review, i_providers, i_http) p;
  end if;

  -- What was done is told, and nothing else is left of most batches.
  if not exists (select from unnest(i_steps, i_outcomes, i_review) as r(step, outcome, review)
                  where r.step in ('charge', 'inquire_charge', 'refund', 'inquire_refund') and r.outcome <> 'done'
                    and not (r.step in ('charge', 'inquire_charge') and r.outcome = 'refused' and r.review is null)) then
    return;
  end if;
  v_now := largesse.clock_now();
  return query execute format($q$
  with told as (
    select r.*, r.step in ('refund', 'inquire_refund') as is_refund
      from unnest($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
             as r(a, c, attempt, step, outcome, ref, due_ms, review, trust_ms, url)
     where r.step in ('charge', 'inquire_charge', 'refund', 'inquire_refund') and (r.outcome in ('pending', 'retry', 'unknown', 'not_found') or r.outcome = 'refused')
  ), asked as materialized (
    select t.a, t.c, t.step, t.outcome, t.ref, t.url, t.due_ms, t.trust_ms, t.is_refund,
           -- Certainly not charged, and nobody wants it any more.
           not t.is_refund and t.outcome in ('retry', 'not_found', 'refused') and c.status <> 'held' as is_void,
           case when not t.is_refund and t.outcome in ('retry', 'not_found', 'refused') and c.status <> 'held' then null
                when t.is_refund and t.outcome = 'refused' then coalesce(t.review, 'refund_refused')
                when t.is_refund and t.outcome = 'not_found' then 'refund_not_found' else t.review end as review
      from told t join %1$s c on c.activity_id = t.a and c.id = t.c
     where c.attempts = t.attempt and c.lease_until is not null
       and case when t.is_refund then c.refund <> 'done' else c.payment in ('due', 'pending', 'retry', 'unknown') end
     order by t.a, t.c for no key update of c
  ), settled as (
    update %1$s c
       set updated_at = $11, lease_until = null, doing = null, doubted_at = null,
           payment = case when r.is_refund then c.payment when r.is_void then 'void' when r.outcome = 'not_found' then 'retry' else r.outcome end,
           refund = case when r.is_refund then replace(r.outcome, 'not_found', 'refused') else c.refund end,
           -- The action itself is next where it is certain that it had no effect, else an inquiry about it.
           step = case when r.outcome in ('retry', 'refused', 'not_found') then replace(r.step, 'inquire_', '') else 'inquire_' || replace(r.step, 'inquire_', '') end,
           next_attempt_at = case when r.review is not null or r.is_void then null when c.doubted_at is not null then $11
                                  else $11 + r.due_ms * interval '1 millisecond' end,
           trust_after = case when r.outcome in ('unknown', 'pending') then coalesce($11 + r.trust_ms * interval '1 millisecond', c.trust_after) end,
           attempts_before = case r.outcome when 'pending' then c.attempts else c.attempts_before end,
           pending_since = case r.outcome when 'pending' then coalesce(c.pending_since, $11) when 'unknown' then c.pending_since end,
           payment_ref = case when r.is_refund then c.payment_ref else coalesce(r.ref, c.payment_ref) end,
           payment_url = case when r.is_refund then c.payment_url else coalesce(r.url, c.payment_url) end,
           review_since = case when r.review is not null then $11 end, review_cause = r.review
      from asked r where c.activity_id = r.a and c.id = r.c
    returning c.activity_id, c.id, c.status, c.review_cause
  )
  select s.activity_id, s.id, s.status, s.review_cause is not null, s.review_cause from settled s
  $q$, v_relation) using i_activity_ids, i_claim_ids, i_attempts, i_steps, i_outcomes, i_refs, i_due_ms, i_review, i_trust_ms, i_urls, v_now;
  if i_review is distinct from array_fill(null::text, array[cardinality(i_review)]) or i_outcomes && '{refused,not_found}' and i_steps && '{refund,inquire_refund}' then
    perform largesse.claim_settle_letters(i_activity_ids, i_claim_ids, i_attempts, i_steps, i_providers, i_http, i_codes, i_details, '{charge,inquire_charge,refund,inquire_refund}', v_now);
  end if;
end $$;
