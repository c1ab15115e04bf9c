-- SPDX-License-Identifier: Apache-2.0
-- Where claims lie, and their rows. A statement over all months costs more to plan than to run, and more with every month; so those that move single claims name
-- the partition. They are planned each time, for one table, by what that holds now: a plan that is kept from while it was small would walk through it when it is large.

-- The table in which all claims, or counters, of some activities lie. Parameters: i_parent: claim or usage; i_activity_ids. Result: the name of the partition, of the
-- parent where they lie in several or none, for format('… %s …'). Locks, errors: none.
create or replace function largesse.month_relation(i_parent text, i_activity_ids bigint[]) returns text
language plpgsql stable
set search_path = largesse, pg_temp set plan_cache_mode = force_generic_plan
as $$
declare
  v_first bigint;
  v_last  bigint;
  v_name  text := 'largesse.' || i_parent;
begin
  if cardinality(i_activity_ids) = 1 then
    v_first := i_activity_ids[1]; v_last := v_first;
  else
    select min(a), max(a) into v_first, v_last from unnest(i_activity_ids) a;
  end if;
  if v_first / 1000000 <> v_last / 1000000 or v_first not between 0 and 99999999999 or v_first is null then return v_name; end if;
  if to_regclass(v_name || '_' || to_char(date '1970-01-01' + make_interval(months => (v_first / 1000000)::int), 'YYYYMM')) is null then return v_name; end if;
  return v_name || '_' || to_char(date '1970-01-01' + make_interval(months => (v_first / 1000000)::int), 'YYYYMM');
end $$;

-- One claim. Parameters: its key. Result: its row, of nulls if there is none. Locks, errors: none.
create or replace function largesse.claim_row(i_activity_id bigint, i_claim_id bigint) returns largesse.claim
language plpgsql stable
set search_path = largesse, pg_temp set jit = off set enable_seqscan = off set plan_cache_mode = force_generic_plan
as $$
declare
  v_claim largesse.claim;
begin
  -- A range, and an order: only the key's index has both, so that this plan is right however small the table was when it was made.
  select * into v_claim from largesse.claim c where c.activity_id = i_activity_id and c.id between i_claim_id and i_claim_id order by c.id limit 1;
  return v_claim;
end $$;

-- One claim, to be changed. Parameters: its key. Result: its row, of nulls if there is none. Locks: the claim. Errors: 40P01 (repeat).
create or replace function largesse.claim_row_held(i_activity_id bigint, i_claim_id bigint) returns largesse.claim
language plpgsql volatile
set search_path = largesse, pg_temp set jit = off set enable_seqscan = off set plan_cache_mode = force_generic_plan
as $$
declare
  v_claim largesse.claim;
begin
  select * into v_claim from largesse.claim c where c.activity_id = i_activity_id and c.id between i_claim_id and i_claim_id order by c.id limit 1 for no key update;
  return v_claim;
end $$;

-- Some claims. Parameters: keys (parallel arrays). Result: their rows, ascending; null: there are none. Locks, errors: none.
create or replace function largesse.claim_rows(i_activity_ids bigint[], i_claim_ids bigint[]) returns largesse.claim[]
language plpgsql stable
set search_path = largesse, pg_temp set jit = off set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
declare
  v_claims largesse.claim[];
  v_claim  largesse.claim;
begin
  if cardinality(i_claim_ids) = 1 then
    v_claim := largesse.claim_row(i_activity_ids[1], i_claim_ids[1]);
    return case when v_claim.id is not null then array[v_claim] end;
  end if;
  execute format('select array_agg(c order by c.activity_id, c.id) from unnest($1, $2) as r(a, id) join %s c on c.activity_id = r.a and c.id = r.id',
                 largesse.month_relation('claim', i_activity_ids)) into v_claims using i_activity_ids, i_claim_ids;
  return v_claims;
end $$;

-- Some claims, to be changed. Parameters: keys (parallel arrays). Result: their rows, ascending; null: there are none. Locks: the claims, ascending.
-- Errors: 40P01 (repeat).
create or replace function largesse.claim_rows_held(i_activity_ids bigint[], i_claim_ids bigint[]) returns largesse.claim[]
language plpgsql volatile
set search_path = largesse, pg_temp set jit = off set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
declare
  v_claims largesse.claim[];
  v_claim  largesse.claim;
begin
  if cardinality(i_claim_ids) = 1 then
    v_claim := largesse.claim_row_held(i_activity_ids[1], i_claim_ids[1]);
    return case when v_claim.id is not null then array[v_claim] end;
  end if;
  execute format($q$
    select array_agg(k.claim order by (k.claim).activity_id, (k.claim).id)
      from (select row(c.*)::largesse.claim as claim from unnest($1, $2) as r(a, id) join %s c on c.activity_id = r.a and c.id = r.id
             order by c.activity_id, c.id for no key update of c) k
    $q$, largesse.month_relation('claim', i_activity_ids)) into v_claims using i_activity_ids, i_claim_ids;
  return v_claims;
end $$;

-- Whether something about a claim is still to be done or found out. Parameters: its row. Result: the answer. Locks, errors: none.
create or replace function largesse.claim_is_open(i_claim largesse.claim) returns boolean
language sql immutable parallel safe
as $$
  select i_claim.status = 'issuing' or coalesce(i_claim.reversal, 'done') not in ('done', 'not_found')
         or coalesce(i_claim.payment, 'done') not in ('done', 'refused', 'void', 'closed') or coalesce(i_claim.refund, 'done') not in ('done', 'refused')
$$;
