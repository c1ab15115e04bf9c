-- SPDX-License-Identifier: Apache-2.0
-- What is kept until a deadline, numbers for a payment or a place for an answer, is free again soon after it.
-- Parameters: i_activity_id. Result: a row per claim that is kept five minutes after its deadline. Locks: none. Errors: none.
create or replace function largesse.audit_claim_kept_past_deadline(i_activity_id bigint)
returns table (subject text, claim_id bigint, expected text, actual text)
language sql stable parallel safe
as $$
  select 'claim ' || c.id, c.id, 'expired at ' || largesse.time_text(c.deadline), 'still ' || c.status
    from largesse.claim c
   where c.activity_id = i_activity_id and c.deadline < largesse.clock_now() - interval '5 minutes'
$$;
select largesse.audit_register('claim_kept_past_deadline', 'medium',
  'What is kept for somebody is not kept longer than was said.',
  'no scheduler was running, or what was due after an outage is still being worked off',
  'see that a scheduler runs (its /readyz); it ends what is overdue by itself',
  i_period => 'activity',
  i_of_claims => array[
    'count(c.deadline)']);
