-- SPDX-License-Identifier: Apache-2.0
-- Activities by code for a scheduler that does not remember them: just published, or archived long ago (whose claims are still replayed).
-- Parameters: i_codes. Result: as activity_cache, a row per code that exists and is not a draft. Locks: none. Errors: none.
create or replace function largesse.activity_cache_find(i_codes text[])
returns table (id bigint, code text, kind text, status text, start_at timestamptz, end_at timestamptz, reward_code text, provider text,
               remaining bigint, changed_at timestamptz)
language sql stable security definer
set search_path = largesse, pg_temp
as $$
  select a.id, a.code, a.kind, a.status, a.start_at, a.end_at, r.code, r.provider,
         (select sum(s.remaining)::bigint from largesse.stock s where s.activity_id = a.id), a.changed_at
    from largesse.activity a left join largesse.reward r on r.id = a.reward_id
   where a.code = any (i_codes) and a.status <> 'draft'
$$;
