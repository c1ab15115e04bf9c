-- SPDX-License-Identifier: Apache-2.0
-- The operator log as `reconciler log verify` reads it; the hashes are reckoned there, not here.

-- Parameters: none. Result: one row: what the head says (number and hash of the newest row), and the number of the newest row there is (0: none).
-- Locks, errors: none.
create or replace function largesse.log_head()
returns table (seq bigint, hash bytea, newest bigint)
language sql stable security definer
set search_path = largesse, pg_temp
as $$
  select h.seq, h.hash, coalesce((select max(l.seq) from largesse.operator_log l), 0) from largesse.operator_log_head h
$$;

-- Parameters: i_from: the first number wanted, i_limit. Result: rows in their order, at as microseconds since 1970. Locks, errors: none.
create or replace function largesse.log_rows(i_from bigint, i_limit int)
returns table (seq bigint, at_us bigint, actor text, action text, target text, reason text, detail text, hash_before bytea, hash bytea)
language sql stable security definer
set search_path = largesse, pg_temp set jit = off
as $$
  select l.seq, (extract(epoch from l.at) * 1000000)::bigint, l.actor, l.action, l.target, l.reason, l.detail, l.hash_before, l.hash
    from largesse.operator_log l where l.seq >= i_from order by l.seq limit i_limit
$$;
