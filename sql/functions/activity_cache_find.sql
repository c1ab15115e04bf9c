-- SPDX-License-Identifier: Apache-2.0
-- Activities by code for a scheduler that does not remember them: just published, or archived long ago (whose claims are still replayed).
-- Parameters: i_codes. Result: as activity_cache, a row per code that exists and is not a draft. Locks: none. Errors: none.
create or replace function largesse.activity_cache_find(i_codes text[])
returns table (id bigint, code text, kind text, status text, start_at timestamptz, end_at timestamptz, reward_code text, provider text,
               remaining bigint, changed_at timestamptz, payment_provider text, intake text, rate_limit jsonb, segments smallint, waiting bigint,
               waiting_max int, has_rules boolean)
language sql stable security definer
set search_path = largesse, pg_temp set jit = off
as $$
  select a.id, a.code, a.kind, a.status, a.start_at, a.end_at, r.code, r.provider,
         s.remaining, a.changed_at, p.provider, a.intake, a.rate_limit, a.segments, s.waiting, a.waiting_max, largesse.activity_has_rules(a)
    from largesse.activity a left join largesse.reward r on r.id = a.reward_id left join largesse.reward p on p.id = a.payment_id
    cross join lateral (select sum(s.remaining)::bigint as remaining, sum(s.waiting)::bigint as waiting from largesse.stock s where s.activity_id = a.id) s
   where a.code = any (i_codes) and a.status <> 'draft'
$$;
