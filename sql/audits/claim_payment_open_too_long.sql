-- SPDX-License-Identifier: Apache-2.0
-- An hour after its hold has ended it is known whether a claim was paid, or a person looks into it. Where a provider never says that a payment was given up, its orders should be
-- closed (`close` in its profile), or made to end with the hold.
-- Parameters: i_activity_id. Result: a row per claim whose payment has been open for longer. Locks: none. Errors: none.
create or replace function largesse.audit_claim_payment_open_too_long(i_activity_id bigint)
returns table (subject text, claim_id bigint, expected text, actual text)
language sql stable parallel safe
as $$
  select 'claim ' || c.id, c.id, 'known within an hour after its hold whether it was paid',
         format('%s, payment %s, held from %s for %s, due %s', c.status, c.payment, largesse.time_text(c.created_at), a.hold_for,
                coalesce(largesse.time_text(c.next_attempt_at), 'never'))
    from largesse.claim c join largesse.activity a on a.id = c.activity_id
   where c.activity_id = i_activity_id and c.payment in ('due', 'pending', 'retry', 'unknown') and c.review_since is null
     and coalesce(c.deadline, c.created_at + a.hold_for) < largesse.clock_now() - interval '1 hour'  -- its own hold, as long as it has one
     -- A person sent it round again a moment ago.
     and not exists (select from largesse.dead_letter d where d.activity_id = i_activity_id and d.claim_id = c.id
                                                          and d.closed_at >= largesse.clock_now() - interval '1 hour')
$$;
select largesse.audit_register('claim_payment_open_too_long', 'medium',
  'It is known soon whether a claim was paid.',
  'the payment provider is sick or slow to decide, or no fulfiller serves its lane; or claims that have ended are held still',
  'run the repair that is offered: the payment provider is asked now; a payment that comes later is treated as a late one',
  i_period => 'activity', i_repair => 'claim_due',
  i_of_claims => array[
    'count(*) filter (where c.payment in (''due'', ''pending'', ''retry'', ''unknown'') and c.review_since is null)']);
