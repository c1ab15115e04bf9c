-- SPDX-License-Identifier: Apache-2.0
-- Adds up refusals per activity, minute and code: refusals themselves leave no row behind.
-- Parameters: parallel arrays, each (activity, code) at most once. Result: none. Locks: those counters, ascending. Errors: none.
create or replace function largesse.refusal_add(i_activity_ids bigint[], i_codes text[], i_counts bigint[]) returns void
language sql volatile security definer
set search_path = largesse, pg_temp set jit = off
as $$
  insert into largesse.refusal_count as r (activity_id, minute, code, refusals)
    select n.activity_id, date_trunc('minute', largesse.clock_now()), n.code, n.refusals
      from unnest(i_activity_ids, i_codes, i_counts) as n(activity_id, code, refusals)
     order by n.activity_id, n.code
    on conflict (activity_id, minute, code) do update set refusals = r.refusals + excluded.refusals
$$;
