-- SPDX-License-Identifier: Apache-2.0
-- Business dates: which time they cover, and when their report is due, where clocks are put forward and back.

-- The first instant at which the clocks of a zone show a time. One that they show twice is the first of the two; one that they leave out is as much later as they
-- were put forward. Parameters: i_local, i_zone. Result: the instant. Locks: none. Errors: 22023 for an unknown zone.
create or replace function largesse.local_instant(i_local timestamp, i_zone text) returns timestamptz
language sql stable parallel safe
as $$
  select case when e.by_old_offset at time zone i_zone = i_local then least(e.by_old_offset, e.plain) else e.plain end
    from (select p.plain, (i_local - (((p.plain - interval '1 day') at time zone i_zone) - ((p.plain - interval '1 day') at time zone 'UTC'))) at time zone 'UTC' as by_old_offset
            from (select i_local at time zone i_zone as plain) p) e
$$;

-- What a business date covers: from its local midnight to the next one, so 23 or 25 hours where the clocks change. One that has a report keeps its time; one
-- that follows such a date begins where that ended, so that no instant is in two reports or in none when the zone of the reports is changed.
-- Parameters: i_date, i_zone. Result: one row. Locks: none. Errors: 22023 for an unknown zone.
create or replace function largesse.night_window(i_date date, i_zone text)
returns table (time_zone text, from_at timestamptz, until_at timestamptz)
language sql stable security definer
set search_path = largesse, pg_temp set jit = off
as $$
  select n.time_zone, n.from_at, n.until_at from largesse.night n where n.business_date = i_date
  union all
  select i_zone, w.from_at, greatest(w.from_at, largesse.local_instant(i_date + 1 + time '00:00', i_zone))
    from (select coalesce((select n.until_at from largesse.night n where n.business_date = i_date - 1),
                          largesse.local_instant(i_date + time '00:00', i_zone)) as from_at) w
   where not exists (select from largesse.night n where n.business_date = i_date)
$$;

-- How long after its end a business date is reported at the earliest: what began before it has been written down by then.
-- Parameters: none. Result: the time. Locks, errors: none.
create or replace function largesse.night_grace() returns interval
language sql immutable parallel safe
as $$ select interval '5 minutes' $$;

-- When the report of a business date is due: at the local time of the next day. Parameters: i_date, i_zone, i_at. Result: the instant. Locks: none.
-- Errors: 22023 for an unknown zone.
create or replace function largesse.night_due_at(i_date date, i_zone text, i_at time) returns timestamptz
language sql stable
as $$
  select greatest(largesse.local_instant(i_date + 1 + i_at, i_zone), w.until_at + largesse.night_grace()) from largesse.night_window(i_date, i_zone) w
$$;

-- The latest business date whose report is due. Parameters: i_zone, i_at (null: as soon as it is over). Result: the date. Locks: none. Errors: 22023 for an unknown zone.
create or replace function largesse.night_latest(i_zone text, i_at time) returns date
language sql stable security definer
set search_path = largesse, pg_temp set jit = off
as $$
  select d.day::date
    from (select largesse.clock_now() as now) n, generate_series(1, 4) as ago,
         lateral (select (n.now at time zone i_zone)::date - ago as day) d
   where largesse.night_due_at(d.day, i_zone, coalesce(i_at, '00:00')) <= n.now
   order by ago limit 1
$$;
