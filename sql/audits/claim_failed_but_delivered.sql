-- SPDX-License-Identifier: Apache-2.0
-- A claim that gave everything back was not delivered. News of a success that comes after that (an answer that outlived its lease, say) stays in the
-- record of attempts and owes a reversal; where none is owed, none was made, and nobody has decided that the user keeps it, it is found here.
-- Parameters: i_activity_id. Result: a row per claim where a delivery is recorded as done. Locks: none. Errors: none.
create or replace function largesse.audit_claim_failed_but_delivered(i_activity_id bigint)
returns table (subject text, claim_id bigint, expected text, actual text)
language sql stable parallel safe
as $$
  select 'claim ' || c.id, c.id, 'no successful delivery',
         format('%s, yet attempt %s at %s of %s was done', c.status, min(t.attempt), min(t.provider), largesse.time_text(min(t.started_at)))
    from largesse.attempt t join largesse.claim c on c.activity_id = t.activity_id and c.id = t.claim_id
   where t.activity_id = i_activity_id and t.outcome = 'done' and t.step in ('deliver', 'inquire')
     and c.status in ('failed', 'rolled_back', 'expired', 'cancelled') and c.reversed_at is null and coalesce(c.reversal, 'not_found') = 'not_found'
     and not exists (select from largesse.dead_letter d where d.activity_id = i_activity_id and d.claim_id = c.id and d.resolution = 'resolved')
   group by c.id, c.status
$$;
select largesse.audit_register('claim_failed_but_delivered', 'critical',
  'What was given back was not delivered as well.',
  'the provider confirmed a delivery after another attempt had been refused and everything given back',
  'run the repair that is offered, which takes the delivery back; where the provider cannot, settle it with the provider or let the user keep it, and say so: findings resolve KEY --reason',
  i_period => 'day', i_repair => 'reversal',
  i_of_claims => array[
    'count(*) filter (where c.status in (''failed'', ''rolled_back'', ''expired'', ''cancelled'') and c.reversed_at is null and coalesce(c.reversal, ''not_found'') = ''not_found'')']);
