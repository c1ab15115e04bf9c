-- SPDX-License-Identifier: Apache-2.0
-- Reversals against attempts: what counts as taken back was confirmed by the provider (a call answered with "done", a callback), or by a person.
-- Parameters: i_activity_id. Result: a row per claim where that is not so. Locks: none. Errors: none.
create or replace function largesse.audit_claim_reversal_not_confirmed(i_activity_id bigint)
returns table (subject text, claim_id bigint, expected text, actual text)
language sql stable parallel safe
as $$
  select 'claim ' || c.id, c.id, 'a reversal that was confirmed', format('%s, reversal %s, confirmed by nobody', c.status, coalesce(c.reversal, 'none'))
    from largesse.claim c
   where c.activity_id = i_activity_id and (c.reversal = 'done' or c.reversed_at is not null) and not largesse.audit_is_reversed(i_activity_id, c.id)
     and not exists (select from largesse.dead_letter d where d.activity_id = i_activity_id and d.claim_id = c.id and d.resolution = 'resolved')
$$;
select largesse.audit_register('claim_reversal_not_confirmed', 'critical',
  'Every reversal was confirmed by its provider, or by a person with proof.',
  'a claim''s reversal was changed by hand, or its attempts were removed',
  'ask the provider about the reversal''s request id (-r); if it knows of none, the user still has what was given back here: take it back there, or say that it stays: findings resolve KEY --reason',
  i_period => 'day',
  i_of_claims => array['count(*) filter (where c.reversal = ''done'' or c.reversed_at is not null)']);
