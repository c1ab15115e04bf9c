-- SPDX-License-Identifier: Apache-2.0
-- What is owed back is paid back within an hour, or a person has decided otherwise. Until then somebody waits for his money.
-- Parameters: i_activity_id. Result: a row per claim whose refund has been open for longer. Locks: none. Errors: none.
create or replace function largesse.audit_claim_refund_overdue(i_activity_id bigint)
returns table (subject text, claim_id bigint, expected text, actual text)
language sql stable parallel safe
as $$
  select 'claim ' || c.id, c.id, 'paid back within an hour',
         format('%s, refund %s since %s, %s', c.status, c.refund, largesse.time_text(c.refund_since),
                case when c.review_since is null then 'due ' || coalesce(largesse.time_text(c.next_attempt_at), 'never')
                     else 'under review: ' || c.review_cause end)
    from largesse.claim c
   where c.activity_id = i_activity_id and c.refund <> 'done' and c.refund_since < largesse.clock_now() - interval '1 hour'
     and not (c.refund = 'refused' and c.review_since is null
              and exists (select from largesse.dead_letter d where d.activity_id = i_activity_id and d.claim_id = c.id and d.resolution = 'resolved'))
$$;
select largesse.audit_register('claim_refund_overdue', 'high',
  'What has to be paid back is paid back soon.',
  'the payment provider refuses the refund, cannot be reached, or has no refunds; or the claim waits for a person',
  'of a claim under review, retry its dead letter, or settle it with the provider and resolve the letter (dead-letters retry|resolve CLAIM --reason); else run the repair that is offered',
  i_period => 'activity', i_repair => 'claim_due',
  i_of_claims => array[
    'count(*) filter (where c.refund <> ''done'')']);
