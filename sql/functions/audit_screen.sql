-- SPDX-License-Identifier: Apache-2.0
-- One pass over the claims of an activity for all audits. Most of what audits look for is not there, and that can be seen without sorting, joining or keeping anything:
-- * a fault of single claims, by counting those that could have it;
-- * two lists that must be the same (allowances of claims and counters, deliveries and attempts), by comparing sums of a hash of each entry, weighted by its
--   quantity. Lists that differ have the same sum once in 2^44 runs, by another salt each time.
-- An audit says in i_of_claims which aggregates over the claims it needs, and in i_suspect when it has to look closely. What is not suspect has no row.

-- The hash of a fingerprint: 44 bits, so that a weight of up to 32767 and a few of them fit into a bigint. All 64 bits of i_value count.
-- Parameters: i_value, i_salt. Result: the hash. Locks, errors: none.
create or replace function largesse.audit_hash(i_value bigint, i_salt bigint) returns bigint
language sql immutable parallel safe
as $$ select hashint8extended(i_value, hashint8extended(i_value >> 32, i_salt)) >> 20 $$;

-- The salt of a limit's counters, so that each period of a user is an entry of its own. Parameters: i_period, i_start (as largesse.usage has them), i_salt.
-- Result: the salt. Locks, errors: none.
create or replace function largesse.audit_usage_salt(i_period text, i_start date, i_salt bigint) returns bigint
language sql immutable parallel safe
as $$
  select case i_period when 'total' then i_salt
                       else hashint8extended((i_start - date '2000-01-01') * 8 + case i_period when 'day' then 1 when 'week' then 2 else 3 end, i_salt) end
$$;

-- Runs the statement that i_sql is with what expressions of audits may name: $1 the activity (largesse.activity), $2 the states that hold stock, $3 those that
-- hold an allowance, $4 the periods of its limits, $5 the salt, $6 the sums. Parameters: these. Result: what the statement gives. Locks, errors: as it.
create or replace function largesse.audit_sums(
  i_sql text, i_act largesse.activity, i_stock text[], i_allowance text[], i_periods text[], i_salt bigint, i_sums numeric[]) returns numeric[]
language plpgsql stable
as $$
declare
  v_sums numeric[];
begin
  execute i_sql into v_sums using i_act, i_stock, i_allowance, i_periods, i_salt, i_sums;
  return v_sums;
end $$;

-- Which audits of an activity have to be run; all others that are declared have no row in it now.
-- Parameters: i_activity_id. Result: their names, from one snapshot. Locks: none; read only. Errors: as those of an audit's expressions.
create or replace function largesse.audit_screen(i_activity_id bigint)
returns table (name text)
language plpgsql stable security definer
set search_path = largesse, pg_temp
as $$
#variable_conflict use_column
declare
  v_act       largesse.activity;
  v_stock     text[] := array(select s.status from largesse.claim_state s where s.holds_stock order by s.status desc);  -- the most frequent first
  v_allowance text[] := array(select s.status from largesse.claim_state s where s.holds_allowance order by s.status desc);
  v_periods   text[] := array(select l.period from largesse.activity_limit l where l.activity_id = i_activity_id);
  v_salt      bigint := (random() * 9007199254740992)::bigint;
  v_needed    text[] := array(select distinct x from largesse.audit_definition d, unnest(d.of_claims) x where d.source = 'audit' order by x);
  v_sums      numeric[];
  v_tests     text;
  v_verdicts  numeric[];
  v_names     text[];
begin
  select * into v_act from largesse.activity a where a.id = i_activity_id;
  if v_needed <> '{}' then
    v_sums := largesse.audit_sums(
      format('select array[%s] from largesse.claim c where c.activity_id = ($1).id', (select string_agg(format('coalesce(%s, 0)::numeric', x), ', ' order by o) from unnest(v_needed) with ordinality u(x, o))),
      v_act, v_stock, v_allowance, v_periods, v_salt, null);
  end if;
  -- Each expression sees its own sums as s.
  select array_agg(d.name order by d.name),
         string_agg(format('coalesce((select (%s)::int from (select array[%s]::numeric[] as s) sums), 1)', d.suspect,
                           (select string_agg(format('($6)[%s]', array_position(v_needed, x)), ', ' order by o) from unnest(d.of_claims) with ordinality u(x, o))),
                    ', ' order by d.name)
    into v_names, v_tests
    from largesse.audit_definition d where d.source = 'audit' and d.suspect is not null;
  if v_names is not null then
    v_verdicts := largesse.audit_sums(format('select array[%s]::numeric[]', v_tests), v_act, v_stock, v_allowance, v_periods, v_salt, v_sums);
  end if;
  return query
    select d.name from largesse.audit_definition d
     where d.source = 'audit' and (d.suspect is null or v_verdicts[array_position(v_names, d.name)] <> 0) order by d.name;
end $$;
