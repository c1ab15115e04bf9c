-- SPDX-License-Identifier: Apache-2.0
-- Every claim, counter and stock row belongs to an activity. What belongs to none is told by the activity before it, or by the first of all.
-- Parameters: i_activity_id. Result: a row per such activity and table. Locks: none. Errors: none.
create or replace function largesse.audit_row_without_activity(i_activity_id bigint)
returns table (subject text, claim_id bigint, expected text, actual text)
language sql stable parallel safe
as $$
  with gap as materialized (  -- two of them, so that nobody reads over the activity's own rows
    select a.id as from_id, coalesce((select min(b.id) from largesse.activity b where b.id > a.id), 9223372036854775807) as until_id
      from largesse.activity a where a.id = i_activity_id
    union all
    select -9223372036854775807, i_activity_id where not exists (select from largesse.activity b where b.id < i_activity_id)
  )
  select format('rows of activity %s in %s', r.id, r.relation), null::bigint, 'no rows without an activity', format('activity %s does not exist', r.id)
    from gap g
   cross join lateral (
      (select 'claim' as relation, c.activity_id as id from largesse.claim c
        where c.activity_id > g.from_id and c.activity_id < g.until_id order by c.activity_id limit 1)
      union all
      (select 'usage', u.activity_id from largesse.usage u
        where u.activity_id > g.from_id and u.activity_id < g.until_id order by u.activity_id limit 1)
      union all
      (select 'stock', s.activity_id from largesse.stock s
        where s.activity_id > g.from_id and s.activity_id < g.until_id order by s.activity_id limit 1)) r
$$;
select largesse.audit_register('row_without_activity', 'critical',
  'Nothing is held in an activity that does not exist.',
  'an activity was removed by hand, or a row''s activity was changed',
  'find out which activity it was; put its row back',
  i_period => 'activity');
