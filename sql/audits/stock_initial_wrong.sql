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
  'find out which total is right; set the activity''s total back to the published one and adjust the stock by the difference (scheduler stock adjust CODE --by N --key KEY), with this finding''s key',
  i_period => 'activity');
