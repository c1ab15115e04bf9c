-- SPDX-License-Identifier: Apache-2.0
-- Refunds against attempts: what counts as paid back was confirmed by the provider (a call answered with "done", a callback), or by a person; and what was
-- confirmed counts. All of them go by one request id, so that there is never more than one.
-- Parameters: i_activity_id. Result: a row per claim where only one of the two is so. Locks: none. Errors: none.
create or replace function largesse.audit_claim_refund_not_confirmed(i_activity_id bigint)
returns table (subject text, claim_id bigint, expected text, actual text)
language sql stable parallel safe
as $$
  select 'claim ' || c.id, c.id,
         case when c.refund = 'done' then 'a refund that was confirmed' else 'a refund that is done, as its provider said' end,
         format('%s, refund %s, %s', c.status, coalesce(c.refund, 'none'), case when p.is_confirmed then 'confirmed' else 'confirmed by nobody' end)
    from largesse.claim c
   cross join lateral (
     select exists (select from largesse.attempt t where t.activity_id = i_activity_id and t.claim_id = c.id and t.outcome = 'done' and t.step in ('refund', 'inquire_refund'))
         or exists (select from largesse.callback b where b.activity_id = i_activity_id and b.claim_id = c.id and b.outcome = 'done' and b.action = 'refund' and b.state = 'applied')
         as is_confirmed) p
   where c.activity_id = i_activity_id and c.payment_id is not null
     and case when c.refund = 'done' then not p.is_confirmed and not exists (select from largesse.dead_letter d
                                             where d.activity_id = i_activity_id and d.claim_id = c.id and d.resolution = 'resolved')
              else p.is_confirmed end
$$;
select largesse.audit_register('claim_refund_not_confirmed', 'critical',
  'Every refund was confirmed by its provider, or by a person with proof.',
  'a claim''s refund was changed by hand, or its attempts were removed',
  'ask the payment provider about the refund''s request id (-f); if it knows of none, refund the payment there, and say so: findings resolve KEY --reason',
  i_period => 'day',
  i_of_claims => array[
    'count(*) filter (where c.refund = ''done'')',
    'count(c.payment_id)'],
  i_suspect => 's[1] > 0 or s[2] > 0 and (
    exists (select from largesse.attempt t where t.activity_id = ($1).id and t.outcome = ''done'' and t.step in (''refund'', ''inquire_refund''))
    or exists (select from largesse.callback b where b.activity_id = ($1).id and b.claim_id is not null and b.outcome = ''done'' and b.action = ''refund''))');
