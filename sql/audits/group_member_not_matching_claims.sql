-- SPDX-License-Identifier: Apache-2.0
-- Who is in an exclusive group by an activity has as many live claims there (waiting, or holding stock) as the row says.
-- Parameters: i_activity_id. Result: a row per user where that is not so. Locks: none. Errors: none.
create or replace function largesse.audit_group_member_not_matching_claims(i_activity_id bigint)
returns table (subject text, claim_id bigint, expected text, actual text)
language sql stable parallel safe
as $$
  with counted as (
    select c.user_id, count(*) as claims
      from largesse.activity a join largesse.claim c on c.activity_id = a.id join largesse.claim_state s on s.status = c.status
     where a.id = i_activity_id and a.exclusive_group is not null and (s.holds_stock or c.status = 'waiting')
     group by 1
  ), member as (
    select m.user_id, m.activity_id, m.live
      from largesse.activity a join largesse.group_member m on m.group_name = a.exclusive_group
     where a.id = i_activity_id
  )
  select format('group member %s', user_id), null::bigint, format('%s live claims here', coalesce(counted.claims, 0)),
         case when member.user_id is null then 'not in the group' else format('%s live claims in activity %s', member.live, member.activity_id) end
    from counted full join member using (user_id)
   where coalesce(counted.claims, 0) <> case when member.activity_id = i_activity_id then member.live else 0 end
$$;
select largesse.audit_register('group_member_not_matching_claims', 'high',
  'Who is in an exclusive group has the live claims that keep him there.',
  'a member or a claim was changed by hand, or a place in the group was not given back with a claim',
  'run the repair that is offered; where the user has live claims in two activities of the group, cancel or roll back one of them first',
  i_period => 'activity', i_repair => 'group_member',
  i_of_claims => array[
    'sum(largesse.audit_hash(c.user_id, $5)) filter (where ($1).exclusive_group is not null and (c.status = any ($2) or c.status = ''waiting''))'],
  i_suspect => '($1).exclusive_group is not null
    and s[1] <> (select coalesce(sum(largesse.audit_hash(m.user_id, $5) * m.live), 0) from largesse.group_member m where m.group_name = ($1).exclusive_group and m.activity_id = ($1).id)');
