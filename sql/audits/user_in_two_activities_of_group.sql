-- SPDX-License-Identifier: Apache-2.0
-- A user's live claims (waiting, or holding stock) in an exclusive group belong to one activity. Told by the newer one.
-- Parameters: i_activity_id. Result: a row per user and older activity. Locks: none. Errors: none.
create or replace function largesse.audit_user_in_two_activities_of_group(i_activity_id bigint)
returns table (subject text, claim_id bigint, expected text, actual text)
language sql stable parallel safe
as $$
  with live as materialized (
    select c.user_id, min(c.id) as claim_id
      from largesse.activity a join largesse.claim c on c.activity_id = a.id join largesse.claim_state s on s.status = c.status
     where a.id = i_activity_id and a.exclusive_group is not null and (s.holds_stock or c.status = 'waiting')
     group by 1
  )
  select format('user %s in %s', live.user_id, other.code), live.claim_id, 'live claims in one activity of the group',
         format('claim %s-%s lives too', other.id, min(c.id))
    from live
    join largesse.claim c on c.user_id = live.user_id and c.activity_id < i_activity_id
    join largesse.claim_state s on s.status = c.status and (s.holds_stock or c.status = 'waiting')
    join largesse.activity other on other.id = c.activity_id
   where other.exclusive_group = (select a.exclusive_group from largesse.activity a where a.id = i_activity_id)
   group by live.user_id, live.claim_id, other.id, other.code
$$;
select largesse.audit_register('user_in_two_activities_of_group', 'critical',
  'Nobody has live claims in two activities that exclude each other.',
  'a claim was made or brought back to life by hand, or two activities were put into one group after they had begun',
  'decide which of the claims the user keeps, and take the others back: claims roll-back CLAIM --reason',
  i_period => 'activity',
  i_suspect => 'exists (select from largesse.activity o where o.exclusive_group = ($1).exclusive_group and o.id < ($1).id)');
