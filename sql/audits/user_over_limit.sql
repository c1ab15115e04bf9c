-- SPDX-License-Identifier: Apache-2.0
-- Nobody holds more than a limit allows, counted from the claims: in total, in each day, week or month, and over the sessions of an event
-- (told by the newest). A limit that was lowered later counts as it was when it was last used, as far as the activity ever allowed it.
-- Parameters: i_activity_id. Result: a row per user and period that has more. Locks: none. Errors: none.
create or replace function largesse.audit_user_over_limit(i_activity_id bigint)
returns table (subject text, claim_id bigint, expected text, actual text)
language sql stable parallel safe
as $$
  with counted as (
    select c.user_id, l.period, l.max_count, l.peak, largesse.period_start(l.period, c.created_at, a.time_zone) as period_start, sum(c.quantity) as quantity, count(*) as claims
      from largesse.claim c
      join largesse.activity a on a.id = c.activity_id
      cross join largesse.audit_limits(i_activity_id) l
     where c.activity_id = i_activity_id and c.status in (select s.status from largesse.claim_state s where s.holds_allowance)
     group by 1, 2, 3, 4, 5
    having sum(c.quantity) > l.max_count
  )
  select format('limit of user %s %s %s', n.user_id, n.period, n.period_start), null::bigint, format('at most %s', greatest(n.max_count, least(u.max_used, n.peak))),
         format('%s in %s live claims', n.quantity, n.claims)
    from counted n
    left join largesse.usage u on u.activity_id = i_activity_id and u.user_id = n.user_id and u.period = n.period and u.period_start = n.period_start
   where n.quantity > greatest(n.max_count, least(u.max_used, n.peak))
  union all
  select format('limit of user %s event', u.user_id), null, format('at most %s', w.allowed), format('%s in %s live claims of the event', n.quantity, n.claims)
    from (select a.event_code from largesse.activity a where a.id = i_activity_id and a.event_code is not null and a.id =
            (select max(b.id) from largesse.activity b join largesse.activity_limit l on l.activity_id = b.id and l.period = 'event' where b.event_code = a.event_code)) e
   cross join largesse.audit_event_limit(e.event_code) l
    join largesse.event_usage u on u.event_code = e.event_code and u.max_used > l.peak
   cross join lateral (select greatest(l.max_count, least(u.max_used, l.peak)) as allowed) w
   cross join lateral (
     select coalesce(sum(c.quantity), 0) + coalesce((select sum(v.quantity) from largesse.archive_event_usage v where v.event_code = e.event_code and v.user_id = u.user_id), 0) as quantity,
            count(*) as claims
       from largesse.claim c
       join largesse.activity b on b.id = c.activity_id and b.event_code = e.event_code and not largesse.archive_is_away(b.id)
       join largesse.activity_limit k on k.activity_id = b.id and k.period = 'event'
      where c.user_id = u.user_id and c.status in (select s.status from largesse.claim_state s where s.holds_allowance)) n
   where n.quantity > w.allowed
$$;
select largesse.audit_register('user_over_limit', 'critical',
  'Nobody has more than the limits of an activity allow.',
  'a claim was inserted, copied or brought back to life by hand, perhaps with the user''s counter',
  'decide which of the claims the user keeps, and cancel or roll back the others',
  i_period => 'activity',
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
      from largesse.usage u left join largesse.audit_limits(($1).id) l on l.period = u.period where u.activity_id = ($1).id)
    or ''event'' = any ($4) and exists (select from largesse.audit_event_limit(($1).event_code) l join largesse.event_usage u on u.event_code = ($1).event_code and u.max_used > l.peak)');
