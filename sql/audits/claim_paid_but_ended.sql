-- SPDX-License-Identifier: Apache-2.0
-- Nobody pays for nothing, and nobody has both the goods and the money: a claim that ended after it was paid is paid back, or waits for a person, or one has
-- decided; a claim that goes on is not paid back. A payment that became known in any way is in the claim.
-- Parameters: i_activity_id. Result: a row per claim where that is not so. Locks: none. Errors: none.
create or replace function largesse.audit_claim_paid_but_ended(i_activity_id bigint)
returns table (subject text, claim_id bigint, expected text, actual text)
language sql stable parallel safe
as $$
  select 'claim ' || c.id, c.id,
         case when w.is_live then 'no refund' else 'a refund of what was paid' end,
         format('%s, payment %s, refund %s%s', c.status, c.payment, coalesce(c.refund, 'none'), case when w.is_told then ', although the provider confirmed the payment' end)
    from largesse.claim c
   cross join lateral (
     select c.status in ('issuing', 'succeeded') as is_live,
            c.payment <> 'done' and c.status not in ('held', 'issuing', 'succeeded') and (
              exists (select from largesse.attempt t
                       where t.activity_id = i_activity_id and t.claim_id = c.id and t.outcome = 'done' and t.step in ('charge', 'inquire_charge'))
              or exists (select from largesse.callback b
                          where b.activity_id = i_activity_id and b.claim_id = c.id and b.outcome = 'done' and b.action = 'charge' and b.state in ('applied', 'owes_refund', 'paid_late')))
              as is_told) w
   where c.activity_id = i_activity_id and c.payment_id is not null
     and (w.is_live and c.refund is not null
          or not w.is_live and c.payment = 'done' and c.refund is null and c.status <> 'held' and coalesce(c.review_cause, '') <> 'late_payment'
          or w.is_told)
$$;
select largesse.audit_register('claim_paid_but_ended', 'critical',
  'Whoever paid and does not get what he paid for gets his money back, and nobody else does.',
  'a claim''s payment or refund was changed by hand',
  'ask the payment provider about the claim''s request id (-p); refund the payment there, and say so: findings resolve KEY --reason',
  i_period => 'day',
  i_of_claims => array[
    'count(*) filter (where c.payment_id is not null
    and case when c.status in (''issuing'', ''succeeded'') then c.refund is not null else c.status <> ''held'' and (c.payment <> ''done'' or c.refund is null) end)']);
