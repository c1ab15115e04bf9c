-- SPDX-License-Identifier: Apache-2.0
-- Reading activities by page. Locks, errors: none.

-- Parameters: i_after: the last code seen ('' to begin); i_status (null: any but draft and archived are listed too); i_limit.
-- Result: a row per activity in the order of codes: code and JSON text as activity_json gives it.
create or replace function largesse.activity_list(i_after text, i_status text, i_limit int)
returns table (code text, doc text)
language sql volatile security definer
set search_path = largesse, pg_temp set jit = off
as $$
  select a.code, j.doc
    from (select a.code from largesse.activity a where a.code > i_after and (i_status is null or a.status = i_status)
           order by a.code limit i_limit) a
    cross join lateral largesse.activity_json(a.code) j
   order by a.code
$$;

-- Parameters: i_code, i_after: the last item seen (0 to begin), i_limit. Result: id and JSON text {from, to, actor, reason, at} per move, oldest first; from is null
-- for its creation, reason where none was given.
create or replace function largesse.activity_history_list(i_code text, i_after bigint, i_limit int)
returns table (id bigint, doc text)
language sql stable security definer
set search_path = largesse, pg_temp set jit = off
as $$
  select h.id, row_to_json(i)::text
    from largesse.activity_history h
    cross join lateral (select h.from_status as "from", h.to_status as "to", h.actor, h.reason, largesse.time_text(h.at) as "at") i
   where h.activity_id = (select a.id from largesse.activity a where a.code = i_code) and h.id > i_after
   order by h.id limit i_limit
$$;
