-- SPDX-License-Identifier: Apache-2.0
-- What attempts at closing orders brought, as part of claim_settle. An order is closed at the provider of the payment when its claim has ended (nothing is kept for
-- it any more) and the provider says that it is not paid yet. Rows of other steps are left alone.
-- Done: it will not be paid; the payment is closed, finally, and nothing is due about it. Should the provider say afterwards that it was paid all the same, that is a
-- late payment like any other (claim_paid). Anything else changes nothing about the payment, not even a refusal: that may mean that it was paid, or is being paid
-- now. The provider is asked again then, and where it still says "pending" the order is closed again, until the patience with what stays pending ends.
-- Parameters: as claim_settle. Result: a row per claim that this call settled: its status now, and whether and why it waits for a person. What a newer attempt owns, and
-- what is held or paid, is left alone. Locks: the claims, then letters. Errors: none.
create or replace function largesse.claim_settle_closes(
  i_activity_ids bigint[], i_claim_ids bigint[], i_attempts int[], i_steps text[], i_outcomes text[], i_codes text[], i_details text[], i_due_ms bigint[], i_review text[],
  i_providers text[], i_http int[])
returns table (activity_id bigint, claim_id bigint, status text, under_review boolean, review_cause text)
language plpgsql volatile security definer
set search_path = largesse, pg_temp set jit = off set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  v_now      timestamptz := largesse.clock_now();
  v_relation text := largesse.month_relation('claim', i_activity_ids);
begin
  return query execute format($q$
  with owned as materialized (
    select c.activity_id, c.id, r.outcome = 'done' as is_closed, r.due_ms, case when r.outcome <> 'done' then r.review end as review
      from unnest($1, $2, $3, $4, $5, $6, $7) as r(a, c, attempt, step, outcome, due_ms, review)
      join %1$s c on c.activity_id = r.a and c.id = r.c
     where r.step = 'close' and c.attempts = r.attempt and c.lease_until is not null
       and c.payment in ('due', 'pending', 'retry', 'unknown') and c.status in ('cancelled', 'expired', 'failed', 'rolled_back')
     order by r.a, r.c for no key update of c
  )
  update %1$s c
     set updated_at = $8, lease_until = null, doing = null, doubted_at = null, step = 'inquire_charge',
         payment = case when o.is_closed then 'closed' else c.payment end,
         payment_closed_at = case when o.is_closed then $8 else c.payment_closed_at end,
         next_attempt_at = case when o.is_closed or o.review is not null then null when c.doubted_at is not null then $8
                                else $8 + o.due_ms * interval '1 millisecond' end,
         trust_after = case when not o.is_closed then c.trust_after end,
         pending_since = case when not o.is_closed then coalesce(c.pending_since, $8) end,
         sweeps = case when o.is_closed then 0 else c.sweeps end,
         review_since = case when o.review is not null then $8 end, review_cause = o.review
    from owned o where c.activity_id = o.activity_id and c.id = o.id
  returning c.activity_id, c.id, c.status, c.review_cause is not null, c.review_cause
  $q$, v_relation) using i_activity_ids, i_claim_ids, i_attempts, i_steps, i_outcomes, i_due_ms, i_review, v_now;
  if exists (select from unnest(i_steps, i_review) as r(step, review) where r.step = 'close' and r.review is not null) then
    perform largesse.claim_settle_letters(i_activity_ids, i_claim_ids, i_attempts, i_steps, i_providers, i_http, i_codes, i_details, '{close}', v_now);
  end if;
end $$;
