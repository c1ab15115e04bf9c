-- SPDX-License-Identifier: Apache-2.0
-- A user's counter of each limit and period = quantity of the claims of that period that hold an allowance; and it was not allowed more than the limit ever was.
-- Parameters: i_activity_id. Result: a row per user and period that differs. Locks: none. Errors: none.
create or replace function largesse.audit_usage_not_matching_claims(i_activity_id bigint)
returns table (subject text, claim_id bigint, expected text, actual text)
language sql stable parallel safe
as $$
  with counted as (
    select c.user_id, l.period, largesse.period_start(l.period, c.created_at, a.time_zone) as period_start, sum(c.quantity) as quantity
      from largesse.claim c
      join largesse.activity a on a.id = c.activity_id
      join largesse.activity_limit l on l.activity_id = c.activity_id and l.period <> 'event'
     where c.activity_id = i_activity_id and c.status in (select s.status from largesse.claim_state s where s.holds_allowance)
     group by 1, 2, 3
  ), counter as (
    select u.user_id, u.period, u.period_start, u.used, u.max_used from largesse.usage u where u.activity_id = i_activity_id
  )
  select format('usage user %s %s %s', user_id, period, period_start), null::bigint,
         format('used %s', coalesce(counted.quantity, 0)) || case when counter.max_used > l.peak then format(' of at most %s', l.peak) else '' end,
         coalesce('used ' || counter.used, 'no counter') || case when counter.max_used > l.peak then format(' of at most %s', counter.max_used) else '' end
    from counted full join counter using (user_id, period, period_start) left join largesse.audit_limits(i_activity_id) l using (period)
   where coalesce(counted.quantity, 0) <> coalesce(counter.used, 0) or counter.max_used > l.peak
$$;
select largesse.audit_register('usage_not_matching_claims', 'high',
  'A user''s counters equal what the user''s claims hold.',
  'a counter or a claim was changed by hand, or an allowance was not given back with a claim',
  'run the repair that is offered (findings repair KEY --dry-run, then with --reason): the counter becomes what the user''s claims hold',
  i_period => 'activity', i_repair => 'usage',
  i_of_claims => array[
    'sum((
    case when ''total'' = any ($4) then largesse.audit_hash(c.user_id, $5) else 0 end
    + case when ''day'' = any ($4) then largesse.audit_hash(c.user_id, largesse.audit_usage_salt(''day'', largesse.period_start(''day'', c.created_at, ($1).time_zone), $5)) else 0 end
    + case when ''week'' = any ($4) then largesse.audit_hash(c.user_id, largesse.audit_usage_salt(''week'', largesse.period_start(''week'', c.created_at, ($1).time_zone), $5)) else 0 end
    + case when ''month'' = any ($4) then largesse.audit_hash(c.user_id, largesse.audit_usage_salt(''month'', largesse.period_start(''month'', c.created_at, ($1).time_zone), $5)) else 0 end)
    * least(c.quantity, 32767)) filter (where $4 && ''{total,day,week,month}'' and c.status = any ($3))',
    'count(*) filter (where c.quantity > 32767)'],
  i_suspect => 's[2] > 0 or (s[1], true) <> (
    select coalesce(sum(largesse.audit_hash(u.user_id, largesse.audit_usage_salt(u.period, u.period_start, $5)) * least(u.used, 32767)), 0),
           coalesce(max(u.used) <= 32767 and bool_and(u.max_used <= coalesce(l.peak, u.max_used)), true)
      from largesse.usage u left join largesse.audit_limits(($1).id) l on l.period = u.period where u.activity_id = ($1).id)');
