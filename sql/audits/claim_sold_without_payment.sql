-- SPDX-License-Identifier: Apache-2.0
-- What is sold was paid: a claim with a price that goes on has a payment that its provider confirmed (a call answered with "done", a callback), or a person with
-- proof; and as many numbers are sold to it as it paid for.
-- Parameters: i_activity_id. Result: a row per claim where that is not so. Locks: none. Errors: none.
create or replace function largesse.audit_claim_sold_without_payment(i_activity_id bigint)
returns table (subject text, claim_id bigint, expected text, actual text)
language sql stable parallel safe
as $$
  select 'claim ' || c.id, c.id, format('a payment that was confirmed, and %s numbers sold', c.quantity),
         format('%s, payment %s%s, %s numbers sold', c.status, coalesce(c.payment, 'none'), case when not p.is_confirmed then ', confirmed by nobody' end, n.sold)
    from largesse.claim c
   cross join lateral (
     select exists (select from largesse.attempt t where t.activity_id = i_activity_id and t.claim_id = c.id and t.outcome = 'done' and t.step in ('charge', 'inquire_charge'))
         or exists (select from largesse.callback b where b.activity_id = i_activity_id and b.claim_id = c.id and b.outcome = 'done' and b.action = 'charge'
                                                      and b.state in ('applied', 'owes_refund', 'paid_late'))
         or exists (select from largesse.dead_letter d where d.activity_id = i_activity_id and d.claim_id = c.id and d.resolution = 'resolved') as is_confirmed) p
   cross join lateral (
     select count(*) as sold from largesse.activity_number n where n.activity_id = i_activity_id and n.claim_id = c.id and n.status = 'sold') n
   where c.activity_id = i_activity_id and c.status in ('issuing', 'succeeded') and c.payment_id is not null
     and (c.payment is distinct from 'done' or not p.is_confirmed or n.sold <> c.quantity)
$$;
select largesse.audit_register('claim_sold_without_payment', 'critical',
  'Every number that is sold was paid for, and every paid claim has its numbers.',
  'a claim''s payment or state, or a number, was changed by hand',
  'ask the payment provider about the claim''s request id (-p); take the claim back if it knows of no payment (claims roll-back CLAIM --reason), else say where it was paid: findings resolve KEY --reason; numbers are repaired by number_not_matching_claims',
  i_period => 'day',
  i_of_claims => array[
    'count(*) filter (where c.payment_id is not null and c.status in (''issuing'', ''succeeded''))',
    'count(*) filter (where c.payment_id is not null and c.status in (''issuing'', ''succeeded'') and c.payment is distinct from ''done'')',
    'sum(largesse.audit_hash(c.id, $5)) filter (where c.payment = ''done'')',
    'sum(largesse.audit_hash(c.id, $5) * least(c.quantity, 32767)) filter (where c.payment_id is not null and c.status in (''issuing'', ''succeeded''))'],
  i_suspect => 's[1] > 0 and (s[2] > 0
    -- As many payments were confirmed as were made, of the same claims; as many numbers are sold as were paid for, to the same claims.
    or s[3] <> (select coalesce(sum(largesse.audit_hash(t.claim_id, $5)), 0) from largesse.attempt t
                 where t.activity_id = ($1).id and t.outcome = ''done'' and t.step in (''charge'', ''inquire_charge''))
             + (select coalesce(sum(largesse.audit_hash(b.claim_id, $5)), 0) from largesse.callback b
                 where b.activity_id = ($1).id and b.claim_id is not null and b.outcome = ''done'' and b.action = ''charge'' and b.state in (''applied'', ''owes_refund'', ''paid_late''))
    or s[4] <> (select coalesce(sum(largesse.audit_hash(n.claim_id, $5)), 0) from largesse.activity_number n where n.activity_id = ($1).id and n.claim_id is not null and n.status = ''sold''))');
