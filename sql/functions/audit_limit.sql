-- SPDX-License-Identifier: Apache-2.0
-- The most that limits can have allowed. A counter's max_used says what was in force when it was last taken from; one that says more than the activity ever allowed was
-- changed by hand, and is believed up to that only.

-- Parameters: i_activity_id. Result: a row per limit of it, but for that of its event: the period, what it allows now, and the most that it ever did. Locks, errors: none.
create or replace function largesse.audit_limits(i_activity_id bigint)
returns table (period text, max_count bigint, peak bigint)
language sql stable parallel safe
as $$
  select l.period, l.max_count, greatest(l.max_count, p.max_count)
    from largesse.activity_limit l left join largesse.activity_limit_peak p on p.activity_id = l.activity_id and p.period = l.period
   where l.activity_id = i_activity_id and l.period <> 'event'
$$;

-- Parameters: i_event_code. Result: the most that any session of the event allows now, and the most that any ever did; nulls: none has such a limit.
-- Locks, errors: none.
create or replace function largesse.audit_event_limit(i_event_code text)
returns table (max_count bigint, peak bigint)
language sql stable parallel safe
as $$
  select max(l.max_count), max(greatest(l.max_count, p.max_count))
    from largesse.activity a join largesse.activity_limit l on l.activity_id = a.id and l.period = 'event'
    left join largesse.activity_limit_peak p on p.activity_id = a.id and p.period = 'event'
   where a.event_code = i_event_code
$$;
