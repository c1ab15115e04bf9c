-- SPDX-License-Identifier: Apache-2.0
-- What is to be taken back at the provider is taken back within an hour. Until then the provider's books and ours differ.
-- Parameters: i_activity_id. Result: a row per claim whose reversal has been open for longer. Locks: none. Errors: none.
create or replace function largesse.audit_claim_reversal_overdue(i_activity_id bigint)
returns table (subject text, claim_id bigint, expected text, actual text)
language sql stable parallel safe
as $$
  select 'claim ' || c.id, c.id, 'taken back at the provider within an hour',
         format('%s, reversal %s since %s, %s', c.status, c.reversal, largesse.time_text(c.reversal_since),
                case when c.review_since is null then 'due ' || coalesce(largesse.time_text(c.next_attempt_at), 'never')
                     else 'under review: ' || c.review_cause end)
    from largesse.claim c
   where c.activity_id = i_activity_id and c.reversal not in ('done', 'not_found')
     and c.reversal_since < largesse.clock_now() - interval '1 hour'
$$;
select largesse.audit_register('claim_reversal_overdue', 'high',
  'What has to be taken back is taken back soon.',
  'the provider refuses the reversal, cannot be reached, or has no reversal at all; or the claim waits for a person',
  'of a claim under review, retry its dead letter, or settle it with the provider and resolve the letter (dead-letters retry|resolve CLAIM --reason); else run the repair that is offered',
  i_period => 'activity', i_repair => 'claim_due',
  i_of_claims => array[
    'count(*) filter (where c.reversal not in (''done'', ''not_found''))']);
