-- SPDX-License-Identifier: Apache-2.0
-- Replaces the limits of an activity. A limit that is new counts what was claimed before it, from the claims; one that is gone forgets its counters.
-- A limit over the sessions of an event is counted with the event, by all its sessions; it is there from the start or not at all (activity_change_fault).
-- Parameters: i_activity_id, i_limits [{count, period}]. Result: none. Locks: the caller holds the stock rows, so no claim is judged meanwhile. Errors: none.
create or replace function largesse.activity_limits_replace(i_activity_id bigint, i_limits jsonb) returns void
language plpgsql volatile
set search_path = largesse, pg_temp
as $$
begin
  -- What was in force once stays known, so that nobody who came by it is found to have too much. Nobody can have claimed in a draft.
  insert into largesse.activity_limit_peak as p (activity_id, period, max_count)
    select l.activity_id, l.period, l.max_count from largesse.activity_limit l join largesse.activity a on a.id = l.activity_id
     where l.activity_id = i_activity_id and a.status <> 'draft'
    on conflict (activity_id, period) do update set max_count = greatest(p.max_count, excluded.max_count);
  delete from largesse.activity_limit l
   where l.activity_id = i_activity_id and l.period not in (select n ->> 'period' from jsonb_array_elements(i_limits) n);
  delete from largesse.usage u
   where u.activity_id = i_activity_id and u.period not in (select n ->> 'period' from jsonb_array_elements(i_limits) n);
  insert into largesse.usage (activity_id, user_id, period, period_start, used, max_used)
    select c.activity_id, c.user_id, n.period, largesse.period_start(n.period, c.created_at, a.time_zone),
           sum(c.quantity), greatest(sum(c.quantity), n.max_count)
      from (select n ->> 'period' as period, (n ->> 'count')::bigint as max_count from jsonb_array_elements(i_limits) n
             where n ->> 'period' <> 'event'
               and not exists (select from largesse.activity_limit l where l.activity_id = i_activity_id and l.period = n ->> 'period')) n
      cross join largesse.claim c join largesse.claim_state s on s.status = c.status and s.holds_allowance
      join largesse.activity a on a.id = c.activity_id
     where c.activity_id = i_activity_id group by 1, 2, 3, 4, n.max_count;
  -- Who had more than a new limit before it was there may have it.
  insert into largesse.activity_limit_peak as p (activity_id, period, max_count)
    select u.activity_id, u.period, max(u.max_used) from largesse.usage u
     where u.activity_id = i_activity_id and not exists (select from largesse.activity_limit l where l.activity_id = i_activity_id and l.period = u.period)
     group by 1, 2
    on conflict (activity_id, period) do update set max_count = greatest(p.max_count, excluded.max_count);
  insert into largesse.activity_limit as l (activity_id, period, max_count)
    select i_activity_id, n ->> 'period', (n ->> 'count')::bigint from jsonb_array_elements(i_limits) n
    on conflict (activity_id, period) do update set max_count = excluded.max_count where l.max_count <> excluded.max_count;
end $$;
