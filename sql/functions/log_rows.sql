-- SPDX-License-Identifier: Apache-2.0
-- The operator log as `reconciler log verify` reads it; the hashes are reckoned there, not here.

-- Parameters: none. Result: one row: what the head says (number and hash of the newest row), and the number of the newest row there is (0: none).
-- Locks, errors: none.
create or replace function largesse.log_head()
returns table (seq bigint, hash bytea, newest bigint)
language sql stable security definer
set search_path = largesse, pg_temp set jit = off
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

-- Which report of a night knows another row: each night's report notes the newest row of its moment. Parameters: i_from: rows before are not asked about.
-- Result: the first such row's number and the night's date; no row: all agree. Locks, errors: none.
create or replace function largesse.log_night_fault(i_from bigint)
returns table (seq bigint, business_date text)
language sql stable security definer
set search_path = largesse, pg_temp set jit = off
as $$
  select m.seq, n.business_date::text
    from largesse.night n
    cross join lateral (select (n.moment::json #>> '{log,seq}')::bigint as seq, n.moment::json #>> '{log,hash}' as hash) m
   where n.state = 'done' and m.seq >= greatest(i_from, 1)
     and not exists (select from largesse.operator_log l where l.seq = m.seq and encode(l.hash, 'hex') = m.hash)
   order by m.seq, n.business_date limit 1
$$;
