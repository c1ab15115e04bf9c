-- SPDX-License-Identifier: Apache-2.0
-- What a limit once allowed. A counter says by max_used what was in force when it was last taken from; that is believed as far as the activity ever allowed it.

-- No row: no more than it allows now.
create table largesse.activity_limit_peak (
  activity_id bigint not null,
  period      text not null,
  max_count   bigint not null,                   -- the highest maximum before the present one; or what somebody held when the limit was introduced
  primary key (activity_id, period)
);
-- Limits that were lowered before this was written down.
insert into largesse.activity_limit_peak
  select l.activity_id, l.period, max(u.max_used)
    from largesse.activity_limit l join largesse.usage u on u.activity_id = l.activity_id and u.period = l.period
   where u.max_used > l.max_count group by 1, 2;
insert into largesse.activity_limit_peak
  select l.activity_id, l.period, max(u.max_used)
    from largesse.activity_limit l join largesse.activity a on a.id = l.activity_id join largesse.event_usage u on u.event_code = a.event_code
   where l.period = 'event' and u.max_used > l.max_count group by 1, 2;
