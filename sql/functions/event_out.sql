-- SPDX-License-Identifier: Apache-2.0
-- The relay of events. A row is taken by moving its send_after ahead (the lease) and removed after the broker's confirm; a relay that dies in
-- between leaves it to the next one, so an event may be sent twice, with the same id, and is never lost.

-- Takes events that are due, in order of their ids. Parameters: i_limit rows at most; i_lease. Result: the events; data is JSON text, at RFC 3339.
-- Locks: those rows, skipping locked ones. Errors: none.
create or replace function largesse.event_out_take(i_limit int, i_lease interval)
returns table (id bigint, event_id text, type text, subject text, data text, at text)
language plpgsql volatile security definer
set search_path = largesse, pg_temp set jit = off
as $$
declare
  v_now timestamptz := largesse.clock_now();
begin
  return query
  with due as materialized (
    select e.id from largesse.event_out e
     where e.send_after <= v_now order by e.send_after, e.id limit i_limit
       for no key update skip locked
  ), taken as (
    update largesse.event_out e set send_after = v_now + i_lease from due where e.id = due.id
    returning e.id, e.event_id, e.type, e.subject, e.data, e.at
  )
  select t.id, t.event_id::text, t.type, t.subject, t.data::text, largesse.time_text(t.at) from taken t order by t.id;
end $$;

-- Removes events that the broker has. Parameters: i_ids. Result: how many were there. Locks: those rows. Errors: none.
create or replace function largesse.event_out_done(i_ids bigint[]) returns bigint
language sql volatile security definer
set search_path = largesse, pg_temp set jit = off
as $$
  with gone as (delete from largesse.event_out e where e.id = any (i_ids) returning 1)
  select count(*) from gone
$$;
