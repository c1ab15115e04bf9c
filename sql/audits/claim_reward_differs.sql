-- SPDX-License-Identifier: Apache-2.0
-- A claim gives the reward that its activity gave, in one of the versions that it had.
-- Parameters: i_activity_id. Result: a row per claim with another one. Locks: none. Errors: none.
create or replace function largesse.audit_claim_reward_differs(i_activity_id bigint)
returns table (subject text, claim_id bigint, expected text, actual text)
language sql stable parallel safe
as $$
  select 'claim ' || c.id, c.id, 'a reward of its activity', case when c.reward_id is null then 'none' else format('%s (version %s)', coalesce(w.code, 'unknown'), c.reward_id) end
    from largesse.claim c
    left join largesse.reward w on w.id = c.reward_id
   where c.activity_id = i_activity_id
     and not exists (select from largesse.activity_reward r where r.activity_id = i_activity_id and r.reward_id is not distinct from c.reward_id)
$$;
select largesse.audit_register('claim_reward_differs', 'critical',
  'Every claim gives the reward that its activity promises.',
  'a claim''s reward was changed by hand',
  'compare with what the provider has delivered; set the claim''s reward back, or roll the claim back if the wrong one was delivered',
  i_period => 'day',
  i_of_claims => array[
    'count(*) filter (where c.reward_id is distinct from ($1).reward_id)']);
