-- SPDX-License-Identifier: Apache-2.0
-- Lists of activities as people want them: sorted, and only some.

-- Parameters: i_after: the last key seen (null to begin); i_sort: code, startAt or -startAt; i_status, i_kind, i_event_code: only those (null: any); i_q: a text in code or
-- name, whatever its case (null: any); i_limit. Result: key of the order (a code; for times the start, a slash and the code) and JSON text as activity_json gives it.
-- Locks: none. Errors: 22023: i_after is no key of that order.
create or replace function largesse.activity_search(i_after text, i_sort text, i_status text, i_kind text, i_event_code text, i_q text, i_limit int)
returns table (key text, doc text)
language plpgsql volatile security definer
set search_path = largesse, pg_temp set jit = off
as $$
#variable_conflict use_column
declare
  v_at   timestamptz := largesse.doc_time(split_part(i_after, '/', 1));
  v_code text := case when i_sort = 'code' then i_after else split_part(i_after, '/', 2) end;
  v_like text := '%' || replace(replace(replace(lower(i_q), '\', '\\'), '%', '\%'), '_', '\_') || '%';
begin
  if i_sort <> 'code' and i_after is not null and v_at is null then
    raise exception 'after is no key of this order' using errcode = '22023';
  end if;
  return query
    select case when i_sort = 'code' then a.code else largesse.time_text(a.start_at) || '/' || a.code end, j.doc
      from (select a.code, a.start_at from largesse.activity a
             where (i_status is null or a.status = i_status) and (i_kind is null or a.kind = i_kind) and (i_event_code is null or a.event_code = i_event_code)
               and (i_q is null or lower(a.code) like v_like or lower(a.name) like v_like)
               and (i_after is null or case i_sort when 'code' then a.code > v_code
                                                   when 'startAt' then (a.start_at, a.code) > (v_at, v_code)
                                                   else (a.start_at, a.code) < (v_at, v_code) end)
             order by case when i_sort = 'startAt' then a.start_at end, case when i_sort = '-startAt' then a.start_at end desc,
                      case when i_sort <> '-startAt' then a.code end, a.code desc
             limit i_limit) a
      cross join lateral largesse.activity_json(a.code) j
     order by case when i_sort = 'startAt' then a.start_at end, case when i_sort = '-startAt' then a.start_at end desc,
              case when i_sort <> '-startAt' then a.code end, a.code desc;
end $$;
