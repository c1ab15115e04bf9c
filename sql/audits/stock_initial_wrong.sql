-- SPDX-License-Identifier: Apache-2.0
-- An activity's total is what it was when it was published; what changes it later is an adjustment, with its own record.
-- Parameters: i_activity_id. Result: at most one row. Locks: none. Errors: none.
create or replace function largesse.audit_stock_initial_wrong(i_activity_id bigint)
returns table (subject text, claim_id bigint, expected text, actual text)
language sql stable parallel safe
as $$
  select 'initial stock', null::bigint, format('total %s as published', b.published), format('total %s', coalesce(b.stock_total::text, 'unlimited'))
    from largesse.audit_stock_of(i_activity_id, 0) b where b.published is distinct from b.stock_total and b.published is not null
$$;
select largesse.audit_register('stock_initial_wrong', 'critical',
  'The stock that an activity began with is the stock that was published.',
  'the initial stock was changed by hand, and not by an adjustment',
  'find out which total is right, and run the repair that is offered: the total is the published one again; if another was meant, adjust the stock by the difference then (scheduler stock adjust CODE --by N --key KEY)',
  i_period => 'activity', i_repair => 'stock_total');
