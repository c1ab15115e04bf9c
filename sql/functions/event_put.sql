-- SPDX-License-Identifier: Apache-2.0
-- Creates or changes an event (a named set of timed sessions).
-- Parameters: i_code, i_name, i_time_zone; i_actor, i_reason. Result: 'created', 'updated' or 'unchanged'. Locks: the event. Errors: none.
create or replace function largesse.event_put(i_code text, i_name text, i_time_zone text, i_actor text default 'system', i_reason text default null) returns text
language plpgsql volatile security definer
set search_path = largesse, pg_temp set jit = off
as $$
declare
  v_now     timestamptz := largesse.clock_now();
  v_old     largesse.event;
  v_outcome text := 'created';
begin
  insert into largesse.event (code, name, time_zone, created_at, updated_at) values (i_code, i_name, i_time_zone, v_now, v_now)
    on conflict (code) do nothing;
  if not found then
    select * into v_old from largesse.event e where e.code = i_code for no key update;
    if (v_old.name, v_old.time_zone) = (i_name, i_time_zone) then return 'unchanged'; end if;
    update largesse.event e set name = i_name, time_zone = i_time_zone, updated_at = v_now where e.code = i_code;
    v_outcome := 'updated';
  end if;
  perform largesse.log_append(i_actor, 'event.put', i_code, i_reason,
    jsonb_build_object('created', v_outcome = 'created', 'to', jsonb_build_object('name', i_name, 'timeZone', i_time_zone)));
  return v_outcome;
end $$;

-- The instant of a local time in a zone, for event files. Parameters: i_local, i_zone. Result: the instant, or null where that local time does not exist
-- there; a local time that occurs twice means its first occurrence. Locks: none. Errors: 22023 for an unknown zone.
create or replace function largesse.local_time(i_local timestamp, i_zone text) returns timestamptz
language sql stable
as $$
  -- AT TIME ZONE takes the later of two: look whether an hour (or less) earlier reads the same on the wall.
  select min(t) from (
    select (i_local at time zone i_zone) - make_interval(mins => m) as t from generate_series(0, 180, 15) m
  ) candidates where t at time zone i_zone = i_local
$$;
