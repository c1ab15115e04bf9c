-- SPDX-License-Identifier: Apache-2.0
-- The one function that changes the status of activities: one guarded statement, recorded as history and announced.
-- Parameters: i_ids, i_to, i_actor, i_reason (may be null). Result: the activities that moved, with the status they came from; the others
-- were not in a status from which i_to can be reached. Locks: those activities, ascending. Errors: none.
create or replace function largesse.activity_move(i_ids bigint[], i_to text, i_actor text, i_reason text)
returns table (activity_id bigint, code text, from_status text)
language plpgsql volatile security definer
set search_path = largesse, pg_temp
as $$
declare
  v_now timestamptz := largesse.clock_now();
begin
  return query
  with old as materialized (
    select a.id, a.status from largesse.activity a
      join largesse.activity_state_move m on m.from_status = a.status and m.to_status = i_to
     where a.id = any (i_ids) order by a.id for no key update of a
  ), moved as (
    update largesse.activity a set status = i_to, version = a.version + 1, changed_at = v_now
      from old where a.id = old.id and a.status = old.status
    returning a.id, a.code, a.name, a.kind, a.start_at, a.end_at, a.event_code, old.status as from_status
  ), history as (
    insert into largesse.activity_history (activity_id, from_status, to_status, actor, reason, at)
      select m.id, m.from_status, i_to, i_actor, i_reason, v_now from moved m order by m.id
  ), news as (
    insert into largesse.event_out (type, subject, data, at, send_after)
      select 'activity.' || i_to, m.code,
             jsonb_strip_nulls(jsonb_build_object('code', m.code, 'name', m.name, 'kind', m.kind, 'status', i_to, 'eventCode', m.event_code,
               'startAt', largesse.time_text(m.start_at), 'endAt', largesse.time_text(m.end_at))),
             v_now, v_now
        from moved m order by m.id
  )
  select m.id, m.code, m.from_status from moved m order by m.id;
end $$;
