-- SPDX-License-Identifier: Apache-2.0
-- The relay of events. A row is taken by moving its send_after ahead (the lease) and removed after the broker's confirm; a relay that dies in
-- between leaves it to the next one, so an event may be sent twice, with the same id, and is never lost.

-- Takes rows that are due, in order. Parameters: at most i_rows rows, and no further ones once they hold i_events events; i_lease. Result: the rows; at as
-- RFC 3339, the other columns with an element per event, one a line. Locks: those rows, skipping locked ones. Errors: none.
create or replace function largesse.event_out_take(i_rows int, i_events int, i_lease interval)
returns table (id bigint, type text, at text, event_ids text, subjects text, traces text, docs text)
language plpgsql volatile security definer
set search_path = largesse, pg_temp set jit = off
as $$
declare
  v_now timestamptz := largesse.clock_now();
begin
  return query
  with due as materialized (
    select e.id, e.send_after, cardinality(e.event_ids) as events from largesse.event_out e
     where e.send_after <= v_now order by e.send_after, e.id limit i_rows
       for no key update skip locked
  ), chosen as (
    select d.id from (select due.id, sum(due.events) over (order by due.send_after, due.id) - due.events as before from due) d where d.before < i_events
  ), taken as (
    update largesse.event_out e set send_after = v_now + i_lease from chosen where e.id = chosen.id
    returning e.*
  )
  select t.id, t.type, largesse.time_text(t.at), array_to_string(t.event_ids, E'\n'), array_to_string(t.subjects, E'\n'),
         array_to_string(t.traces, E'\n'), array_to_string(t.docs, E'\n')
    from taken t order by t.id;
end $$;

-- Removes events that the broker has. Parameters: i_ids. Result: how many rows were there. Locks: those rows. Errors: none.
create or replace function largesse.event_out_done(i_ids bigint[]) returns bigint
language sql volatile security definer
set search_path = largesse, pg_temp set jit = off
as $$
  with gone as (delete from largesse.event_out e where e.id = any (i_ids) returning 1)
  select count(*) from gone
$$;

-- Of one row, some events could not be sent: the others are done with, these are tried again later, and parked for a person after the last try.
-- Parameters: i_id; i_left: their places in the row, from 1; i_fault; i_pause until the next try; i_tries_max. Result: is it parked now; no row where
-- there is none. Locks: the row. Errors: none.
create or replace function largesse.event_out_postpone(i_id bigint, i_left int[], i_fault text, i_pause interval, i_tries_max int)
returns table (is_parked boolean)
language sql volatile security definer
set search_path = largesse, pg_temp set jit = off
as $$
  update largesse.event_out e
     set event_ids = (select array_agg(e.event_ids[p] order by p) from unnest(i_left) p),
         subjects = (select array_agg(e.subjects[p] order by p) from unnest(i_left) p),
         traces = (select array_agg(e.traces[p] order by p) from unnest(i_left) p),
         docs = (select array_agg(e.docs[p] order by p) from unnest(i_left) p),
         tries = e.tries + 1, fault = i_fault,
         parked_at = case when e.tries + 1 >= i_tries_max then largesse.clock_now() end,
         send_after = case when e.tries + 1 >= i_tries_max then 'infinity' else largesse.clock_now() + i_pause end
   where e.id = i_id and e.parked_at is null
  returning e.parked_at is not null
$$;

-- For the metrics. Result: how old the oldest event is that is not sent and not parked, in seconds (0: there is none), and how many events are parked.
-- Locks, errors: none.
create or replace function largesse.event_out_figures() returns table (lag_seconds double precision, parked bigint)
language sql stable security definer
set search_path = largesse, pg_temp set jit = off
as $$
  select coalesce((select greatest(0, extract(epoch from largesse.clock_now() - e.at))::double precision
                     from largesse.event_out e where e.parked_at is null order by e.id limit 1), 0),
         (select coalesce(sum(cardinality(e.event_ids)), 0)::bigint from largesse.event_out e where e.parked_at is not null)
$$;

-- Events that are parked, oldest first. Parameters: i_after (id, null: from the start), i_limit. Result: JSON per row. Locks, errors: none.
create or replace function largesse.event_out_parked(i_after bigint, i_limit int) returns table (id bigint, doc text)
language sql stable security definer
set search_path = largesse, pg_temp set jit = off
as $$
  select e.id, json_build_object('id', e.id::text, 'type', e.type, 'events', cardinality(e.event_ids), 'firstEventId', left(e.event_ids[1], 200),
           'tries', e.tries, 'fault', e.fault, 'at', largesse.time_text(e.at), 'parkedAt', largesse.time_text(e.parked_at))::text
    from largesse.event_out e where e.parked_at is not null and e.id > coalesce(i_after, 0) order by e.id limit i_limit
$$;

-- Parked events are sent once more, or thrown away for good. Parameters: i_ids (null: all of them); i_actor, i_reason. Result: how many events. Locks: those rows. Errors: none.
create or replace function largesse.event_out_retry(i_ids bigint[], i_actor text default 'system', i_reason text default null) returns bigint
language plpgsql volatile security definer
set search_path = largesse, pg_temp set jit = off
as $$
declare
  v_events bigint;
begin
  with freed as (
    update largesse.event_out e set tries = 0, parked_at = null, send_after = largesse.clock_now()
     where e.parked_at is not null and (i_ids is null or e.id = any (i_ids)) returning cardinality(e.event_ids) as events
  ) select coalesce(sum(events), 0)::bigint into v_events from freed;
  perform largesse.log_append(i_actor, 'events.retry', coalesce(array_to_string(i_ids[1:20], ','), 'all'), i_reason, jsonb_build_object('events', v_events)) where v_events > 0;
  return v_events;
end $$;
create or replace function largesse.event_out_discard(i_ids bigint[], i_actor text default 'system', i_reason text default null) returns bigint
language plpgsql volatile security definer
set search_path = largesse, pg_temp set jit = off
as $$
declare
  v_events bigint;
begin
  with gone as (
    delete from largesse.event_out e where e.parked_at is not null and (i_ids is null or e.id = any (i_ids)) returning cardinality(e.event_ids) as events
  ) select coalesce(sum(events), 0)::bigint into v_events from gone;
  perform largesse.log_append(i_actor, 'events.discard', coalesce(array_to_string(i_ids[1:20], ','), 'all'), i_reason, jsonb_build_object('events', v_events)) where v_events > 0;
  return v_events;
end $$;

-- Parked events are not kept for ever. Parameters: i_retention since they were parked. Result: how many events were thrown away. Locks: those rows. Errors: none.
create or replace function largesse.event_out_purge(i_retention interval) returns bigint
language sql volatile security definer
set search_path = largesse, pg_temp set jit = off
as $$
  with gone as (
    delete from largesse.event_out e where e.parked_at < largesse.clock_now() - i_retention returning cardinality(e.event_ids) as events
  ) select coalesce(sum(events), 0)::bigint from gone
$$;
