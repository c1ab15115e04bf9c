-- SPDX-License-Identifier: Apache-2.0
-- Where the counting period of a limit begins and ends, in the activity's own zone.
-- Parameters: i_period (total, day, week, month, event), i_at, i_zone. Result: the local date on which the period that
-- contains i_at began ('-infinity' where there is only one period); period_reset gives the instant at which the next one
-- begins (null where there is none). Locks: none. Errors: 22023 for an unknown zone.
create or replace function largesse.period_start(i_period text, i_at timestamptz, i_zone text) returns date
language sql stable parallel safe
as $$
  select case
    when i_period in ('day', 'week', 'month') then date_trunc(i_period, i_at at time zone i_zone)::date
    else '-infinity'::date
  end
$$;

create or replace function largesse.period_reset(i_period text, i_at timestamptz, i_zone text) returns timestamptz
language sql stable parallel safe
as $$
  select case
    when i_period in ('day', 'week', 'month')
      then (date_trunc(i_period, i_at at time zone i_zone) + ('1 ' || i_period)::interval) at time zone i_zone
  end
$$;
