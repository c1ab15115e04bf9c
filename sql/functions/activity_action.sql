-- SPDX-License-Identifier: Apache-2.0
-- What an operator or program asks of one activity: publish, pause, resume, finish, archive.
-- Parameters: i_code, i_action, i_actor, i_reason, i_version (the ETag it must have; null: any).
-- Result: outcome 'ok' or a refusal's code, detail for people, the status and version afterwards. Locks: the activity; after a pause no claim that reaches
-- the database later is accepted. Errors: none.
create or replace function largesse.activity_action(i_code text, i_action text, i_actor text, i_reason text, i_version bigint)
returns table (outcome text, detail text, status text, version bigint)
language plpgsql volatile security definer
set search_path = largesse, pg_temp set jit = off
as $$
declare
  v_now timestamptz := largesse.clock_now();
  v_act largesse.activity;
  v_to  text;
begin
  select * into v_act from largesse.activity a where a.code = i_code for no key update;
  if not found then
    return query select 'ACTIVITY_NOT_FOUND', 'there is no activity ' || i_code, null::text, null::bigint; return;
  end if;
  if v_act.version <> i_version then
    return query select 'STALE', 'the activity has changed since; read it again', v_act.status, v_act.version; return;
  end if;
  v_to := case i_action
    when 'publish' then case when v_act.status = 'draft' then 'published' end  -- what is paused is resumed, and says so
    when 'pause' then 'paused' when 'finish' then 'finished' when 'archive' then 'archived'
    when 'resume' then case when v_act.status = 'paused' then case when v_now < v_act.start_at then 'published' else 'ongoing' end end
  end;
  if i_action = 'publish' and v_act.status = 'draft' and v_act.end_at <= v_now then
    return query select 'STATE_CONFLICT', 'endAt has passed: ' || largesse.time_text(v_act.end_at), v_act.status, v_act.version; return;
  end if;
  if i_action = 'publish' and v_act.status = 'draft' and largesse.archive_is_away(v_act.id) then
    return query select 'STATE_CONFLICT', largesse.archive_note(v_act.id), v_act.status, v_act.version; return;
  end if;
  perform 1 from largesse.activity_move(array[v_act.id], v_to, i_actor, i_reason);
  if not found then
    return query select 'STATE_CONFLICT', format('an activity that is %s cannot be changed by %s', v_act.status, i_action), v_act.status, v_act.version; return;
  end if;
  perform largesse.log_append(i_actor, 'activity.' || i_action, i_code, i_reason, jsonb_build_object('from', v_act.status, 'to', v_to));
  return query select 'ok', null::text, a.status, a.version from largesse.activity a where a.id = v_act.id;
end $$;
