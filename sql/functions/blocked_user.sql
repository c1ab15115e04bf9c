-- SPDX-License-Identifier: Apache-2.0
-- Whom an activity does not serve.

-- Parameters: the row. Result: JSON text. Locks, errors: none.
create or replace function largesse.blocked_user_doc(i_blocked largesse.blocked_user) returns text
language sql stable
as $$
  select json_strip_nulls(json_build_object('userId', i_blocked.user_id::text, 'reason', i_blocked.reason, 'actor', i_blocked.actor,
                                            'at', largesse.time_text(i_blocked.at)))::text
$$;

-- Blocks a user; repeating it with the same reason changes nothing. Parameters: i_code, i_user_id, i_reason (may be null), i_actor.
-- Result: outcome 'created', 'updated', 'unchanged' or 'ACTIVITY_NOT_FOUND'; JSON text. Locks: the row. Errors: none.
create or replace function largesse.blocked_user_put(i_code text, i_user_id bigint, i_reason text, i_actor text)
returns table (outcome text, doc text)
language plpgsql volatile security definer
set search_path = largesse, pg_temp set jit = off
as $$
declare
  v_id  bigint := (select a.id from largesse.activity a where a.code = i_code);
  v_old largesse.blocked_user;
begin
  if v_id is null then
    outcome := 'ACTIVITY_NOT_FOUND'; return next; return;
  end if;
  insert into largesse.blocked_user as b (activity_id, user_id, reason, actor, at) values (v_id, i_user_id, i_reason, i_actor, largesse.clock_now())
    on conflict do nothing;
  outcome := case when found then 'created' else 'unchanged' end;
  if outcome = 'unchanged' then
    update largesse.blocked_user b set reason = i_reason, actor = i_actor, at = largesse.clock_now()
     where b.activity_id = v_id and b.user_id = i_user_id and b.reason is distinct from i_reason;
    if found then outcome := 'updated'; end if;
  end if;
  select largesse.blocked_user_doc(b) into doc from largesse.blocked_user b where b.activity_id = v_id and b.user_id = i_user_id;
  if outcome <> 'unchanged' then
    perform largesse.log_append(i_actor, 'user.block', i_user_id::text, i_reason, jsonb_build_object('activityCode', i_code));
  end if;
  return next;
end $$;

-- Serves a user again; who is not blocked stays so. Parameters: i_code, i_user_id, i_actor, i_reason. Result: 'ok' or 'ACTIVITY_NOT_FOUND'. Locks: the row. Errors: none.
create or replace function largesse.blocked_user_delete(i_code text, i_user_id bigint, i_actor text default 'system', i_reason text default null) returns text
language plpgsql volatile security definer
set search_path = largesse, pg_temp set jit = off
as $$
declare
  v_id bigint := (select a.id from largesse.activity a where a.code = i_code);
begin
  delete from largesse.blocked_user b where b.activity_id = v_id and b.user_id = i_user_id;
  if found then
    perform largesse.log_append(i_actor, 'user.unblock', i_user_id::text, i_reason, jsonb_build_object('activityCode', i_code));
  end if;
  return case when v_id is null then 'ACTIVITY_NOT_FOUND' else 'ok' end;
end $$;

-- Blocked users in the order of ids. Parameters: i_code; i_after: the last user seen (0 to begin); i_limit. Result: user and JSON text. Locks, errors: none.
create or replace function largesse.blocked_user_list(i_code text, i_after bigint, i_limit int)
returns table (user_id bigint, doc text)
language sql stable security definer
set search_path = largesse, pg_temp set jit = off
as $$
  select b.user_id, largesse.blocked_user_doc(b) from largesse.activity a join largesse.blocked_user b on b.activity_id = a.id
   where a.code = i_code and b.user_id > i_after order by b.user_id limit i_limit
$$;
