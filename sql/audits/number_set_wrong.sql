-- SPDX-License-Identifier: Apache-2.0
-- Where the numbers of an activity are its stock, there are as many as were published and added since; else the last ones cannot be had, or nobody knows who made them.
-- Parameters: i_activity_id. Result: at most one row. Locks: none. Errors: none.
create or replace function largesse.audit_number_set_wrong(i_activity_id bigint)
returns table (subject text, claim_id bigint, expected text, actual text)
language sql stable parallel safe
as $$
  select 'numbers', null::bigint, format('%s numbers, as published and added', largesse.audit_numbers_due(a)), format('%s numbers', n.have)
    from largesse.activity a cross join lateral (select count(*) as have from largesse.activity_number n where n.activity_id = a.id) n
   where a.id = i_activity_id and a.stock_follows_numbers and n.have <> largesse.audit_numbers_due(a)
$$;
select largesse.audit_register('number_set_wrong', 'high',
  'The numbers of an activity are as many as were published and added.',
  'numbers were taken out, or put in, by hand',
  'put back what is missing, or take out what nobody added; where that cannot be done, adjust the stock by the difference (scheduler stock adjust CODE --by N --key KEY) and say so: findings resolve KEY --reason',
  i_period => 'activity',
  i_suspect => '($1).stock_follows_numbers and largesse.audit_numbers_due($1) <> (select count(*) from largesse.activity_number n where n.activity_id = ($1).id)');
