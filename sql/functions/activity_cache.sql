-- SPDX-License-Identifier: Apache-2.0
-- What a scheduler keeps in memory of each activity that is not a draft and not archived.
-- Parameters: i_changed_since ('-infinity': everything). Result: a row per activity changed since. Locks: none. Errors: none.
create or replace function largesse.activity_cache(i_changed_since timestamptz)
returns table (id bigint, code text, kind text, status text, start_at timestamptz, end_at timestamptz, reward_code text, provider text,
               remaining bigint, changed_at timestamptz)
language sql stable security definer
set search_path = largesse, pg_temp
as $$
  select a.id, a.code, a.kind, a.status, a.start_at, a.end_at, r.code, r.provider,
         (select sum(s.remaining)::bigint from largesse.stock s where s.activity_id = a.id), a.changed_at
    from largesse.activity a left join largesse.reward r on r.id = a.reward_id
   where a.changed_at >= i_changed_since and (a.status not in ('draft', 'archived') or i_changed_since > '-infinity')
$$;
