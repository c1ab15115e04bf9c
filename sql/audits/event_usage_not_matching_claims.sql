-- SPDX-License-Identifier: Apache-2.0
-- A user's counter of an event = quantity of the claims that hold an allowance in those of its activities that have such a limit. Told by the newest of these
-- activities in which the user has claims, or, of a user without any, by the newest of all: one fault is one finding.
-- Parameters: i_activity_id. Result: a row per user whose counter differs. Locks: none. Errors: none.
create or replace function largesse.audit_event_usage_not_matching_claims(i_activity_id bigint)
returns table (subject text, claim_id bigint, expected text, actual text)
language sql stable
as $$
  with session as materialized (
    select a.id, a.event_code, a.id = max(a.id) over () as is_newest, largesse.archive_is_away(a.id) as is_away
      from largesse.activity here join largesse.activity a on a.event_code = here.event_code
      join largesse.activity_limit l on l.activity_id = a.id and l.period = 'event'
     where here.id = i_activity_id
  ), person as (
    select distinct c.user_id from largesse.claim c where c.activity_id = i_activity_id and exists (select from session where session.id = i_activity_id)
    union
    select u.user_id from session join largesse.event_usage u on u.event_code = session.event_code where session.id = i_activity_id and session.is_newest
  ), counted as (
    select p.user_id, coalesce(k.quantity, 0) + away.quantity as quantity
      from person p
     cross join lateral (
       select sum(c.quantity) filter (where s.holds_allowance) as quantity, max(c.activity_id) as newest
         from largesse.claim c join session on session.id = c.activity_id and not session.is_away join largesse.claim_state s on s.status = c.status
        where c.user_id = p.user_id) k
     -- Claims of months that are archived and detached.
     cross join lateral (
       select coalesce(sum(u.quantity), 0) as quantity from largesse.archive_event_usage u
        where u.event_code = (select session.event_code from session limit 1) and u.user_id = p.user_id) away
     where coalesce(k.newest, i_activity_id) = i_activity_id
  )
  select format('event usage user %s', counted.user_id), null::bigint, format('used %s', counted.quantity) || case when u.max_used > l.peak then format(' of at most %s', l.peak) else '' end,
         coalesce('used ' || u.used, 'no counter') || case when u.max_used > l.peak then format(' of at most %s', u.max_used) else '' end
    from counted
    left join largesse.event_usage u on u.event_code = (select session.event_code from session limit 1) and u.user_id = counted.user_id
   cross join lateral largesse.audit_event_limit((select session.event_code from session limit 1)) l
   where counted.quantity <> coalesce(u.used, 0) or u.max_used > l.peak
$$;
select largesse.audit_register('event_usage_not_matching_claims', 'high',
  'A user''s counter of an event equals what the user''s claims hold in its sessions.',
  'a counter or a claim was changed by hand, or an allowance was not given back with a claim',
  'run the repair that is offered (findings repair KEY --dry-run, then with --reason): the counter becomes what the user''s claims hold',
  i_period => 'activity', i_repair => 'event_usage',
  i_suspect => '''event'' = any ($4)');
