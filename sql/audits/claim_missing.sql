-- SPDX-License-Identifier: Apache-2.0
-- What speaks of a claim finds it: an attempt, a callback that was applied, a dead letter, a number. A claim whose row is gone holds nothing in any other equation, and
-- what is left of it is the only proof of what its user was given.
-- Parameters: i_activity_id. Result: a row per claim that is not there. Locks: none. Errors: none.
create or replace function largesse.audit_claim_missing(i_activity_id bigint)
returns table (subject text, claim_id bigint, expected text, actual text)
language sql stable parallel safe
as $$
  select 'claim ' || m.claim_id, m.claim_id, 'the claim''s row', format('no claim, yet %s', m.told) from largesse.audit_missing_claims(i_activity_id) m
$$;
select largesse.audit_register('claim_missing', 'critical',
  'No record speaks of a claim that is not there.',
  'the claim''s row was removed by hand; what it held was perhaps put back too',
  'ask the provider about the claim''s request id (the finding''s claimId); put the row back from a backup or an archive before its stock, counters and numbers are repaired, else say what the user keeps: findings resolve KEY --reason',
  i_period => 'activity',
  i_suspect => 'largesse.audit_has_missing_claims(($1).id)');
