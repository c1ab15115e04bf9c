-- SPDX-License-Identifier: Apache-2.0
-- What the fulfiller shows in its metrics about work that waits. Counting stops at 10,000 due claims: beyond, the exact number says nothing more.
-- Parameters: none. Result: rows (figure, provider, amount): 'due' without provider, 'dead' per provider with open dead letters. Locks: none. Errors: none.
create or replace function largesse.delivery_figures()
returns table (figure text, provider text, amount bigint)
language sql volatile security definer
set search_path = largesse, pg_temp set jit = off
as $$
  select 'due', null::text, largesse.claim_due_count(10000)
  union all
  select 'dead', d.provider, count(*) from largesse.dead_letter d where d.closed_at is null group by d.provider
$$;
