-- SPDX-License-Identifier: Apache-2.0
-- What eligibility knows of a user: attributes and the progress of tasks.

-- Replaces a user's attributes. Parameters: i_user_id, i_attributes (an object). Result: JSON text. Locks: the row. Errors: 23514 for what is no object.
create or replace function largesse.user_attributes_put(i_user_id bigint, i_attributes jsonb) returns text
language sql volatile security definer
set search_path = largesse, pg_temp set jit = off
as $$
  insert into largesse.user_attribute as u (user_id, attributes, changed_at) values (i_user_id, i_attributes, largesse.clock_now())
    on conflict (user_id) do update set attributes = excluded.attributes, changed_at = excluded.changed_at
  returning u.attributes::text
$$;

-- Parameters: i_user_id. Result: a user's attributes as JSON text; {} for somebody without. Locks, errors: none.
create or replace function largesse.user_attributes_get(i_user_id bigint) returns text
language sql stable security definer
set search_path = largesse, pg_temp set jit = off
as $$
  select coalesce((select u.attributes::text from largesse.user_attribute u where u.user_id = i_user_id), '{}')
$$;

-- Sets how far a user is with a task. Parameters: i_user_id, i_task, i_value. Result: JSON text. Locks: the row. Errors: none.
create or replace function largesse.user_progress_put(i_user_id bigint, i_task text, i_value numeric) returns text
language sql volatile security definer
set search_path = largesse, pg_temp set jit = off
as $$
  insert into largesse.user_progress as p (user_id, task, value, changed_at) values (i_user_id, i_task, i_value, largesse.clock_now())
    on conflict (user_id, task) do update set value = excluded.value, changed_at = excluded.changed_at
  returning json_build_object('task', p.task, 'value', p.value, 'changedAt', largesse.time_text(p.changed_at))::text
$$;

-- A user's tasks by name. Parameters: i_user_id; i_task: only this one (null: all); i_after: the last one seen ('' to begin); i_limit.
-- Result: task and JSON text. Locks, errors: none.
create or replace function largesse.user_progress_list(i_user_id bigint, i_task text, i_after text, i_limit int)
returns table (task text, doc text)
language sql stable security definer
set search_path = largesse, pg_temp set jit = off
as $$
  select p.task, json_build_object('task', p.task, 'value', p.value, 'changedAt', largesse.time_text(p.changed_at))::text
    from largesse.user_progress p where p.user_id = i_user_id and (i_task is null or p.task = i_task) and p.task > i_after
   order by p.task limit i_limit
$$;
