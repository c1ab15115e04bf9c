-- SPDX-License-Identifier: Apache-2.0
-- The one function that changes the status of activities: one guarded statement, recorded as history and announced.
-- Parameters: i_ids, i_to, i_actor, i_reason (may be null). Result: the activities that moved, with the status they came from; the others
-- were not in a status from which i_to can be reached. Locks: those activities, ascending. Errors: none.
create or replace function largesse.activity_move(i_ids bigint[], i_to text, i_actor text, i_reason text)
returns table (activity_id bigint, code text, from_status text)
language plpgsql volatile security definer
set search_path = largesse, pg_temp set jit = off
as $$
#variable_conflict use_column
declare
  v_now   timestamptz := largesse.clock_now();
  v_ids   bigint[];
  v_codes text[];
  v_from  text[];
begin
  with old as materialized (
    select a.id, a.status from largesse.activity a
      join largesse.activity_state_move m on m.from_status = a.status and m.to_status = i_to
     where a.id = any (i_ids) order by a.id for no key update of a
  ), moved as (
    update largesse.activity a set status = i_to, version = a.version + 1, changed_at = v_now
      from old where a.id = old.id and a.status = old.status
    returning a.id, a.code, old.status as from_status, a.stock_total
  ), history as (
    insert into largesse.activity_history (activity_id, from_status, to_status, actor, reason, at, stock_total)
      select m.id, m.from_status, i_to, i_actor, i_reason, v_now, case m.from_status when 'draft' then m.stock_total end from moved m order by m.id
  )
  select array_agg(m.id order by m.id), array_agg(m.code order by m.id), array_agg(m.from_status order by m.id)
    into v_ids, v_codes, v_from from moved m;
  if v_ids is null then return; end if;
  perform largesse.event_emit('activity.' || i_to, v_now, n.ids, v_codes, n.traces, n.docs)
    from (select array_agg(gen_random_uuid()::text) as ids, array_agg(''::text) as traces, array_agg(j.doc order by c.n) as docs
            from unnest(v_codes) with ordinality as c(code, n) cross join lateral largesse.activity_json(c.code) j) n;
  return query select m.id, m.code, m.from_status from unnest(v_ids, v_codes, v_from) as m(id, code, from_status);
end $$;
