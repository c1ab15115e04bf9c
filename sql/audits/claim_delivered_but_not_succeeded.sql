-- SPDX-License-Identifier: Apache-2.0
-- What was delivered has succeeded: no claim that still goes on, or waits, has a delivery that its provider confirmed.
-- Parameters: i_activity_id. Result: a row per claim that has. Locks: none. Errors: none.
create or replace function largesse.audit_claim_delivered_but_not_succeeded(i_activity_id bigint)
returns table (subject text, claim_id bigint, expected text, actual text)
language sql stable parallel safe
as $$
  select 'claim ' || c.id, c.id, 'succeeded', format('%s, yet attempt %s at %s of %s was done', c.status, d.attempt, d.provider, largesse.time_text(d.started_at))
    from largesse.claim c
   cross join lateral (
      select t.attempt, t.provider, t.started_at from largesse.attempt t
       where t.activity_id = i_activity_id and t.claim_id = c.id and t.outcome = 'done' and t.step in ('deliver', 'inquire') order by t.attempt limit 1) d
   where c.activity_id = i_activity_id and c.status in ('waiting', 'offered', 'held', 'issuing')
$$;
select largesse.audit_register('claim_delivered_but_not_succeeded', 'critical',
  'What its provider has delivered counts as delivered.',
  'a claim''s state, or an attempt, was changed by hand',
  'its provider is asked when the claim is due, and it succeeds by that; of one that is never due run the repair of claim_nobody_will_look_at, of one under review retry or resolve the dead letter (dead-letters retry|resolve CLAIM --reason); else ask the provider about its request id and say what it said: findings resolve KEY --reason',
  i_period => 'day',
  i_of_claims => array[
    'count(*) filter (where c.status in (''waiting'', ''offered'', ''held'', ''issuing''))']);
