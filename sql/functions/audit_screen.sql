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
-- hold an allowance, $4 the periods of its limits, $5 the salt; and $6 the sums, $7 ranges of ids. Parameters: these. Result: what the statement gives, as text.
-- Locks, errors: as it.
create or replace function largesse.audit_ask(
  i_sql text, i_act largesse.activity, i_stock text[], i_allowance text[], i_periods text[], i_salt bigint, i_sums numeric[], i_parts bigint[]) returns text
language plpgsql stable
as $$
declare
  v_answer text;
begin
  execute i_sql into v_answer using i_act, i_stock, i_allowance, i_periods, i_salt, i_sums, i_parts;
  return v_answer;
end $$;

-- From how many claims on sums are kept (fewer are read faster than looked up), and over how many bits of claim ids each goes. Tests make both small.
-- Parameters: none. Result: these. Locks, errors: none.
create or replace function largesse.audit_keep_from() returns bigint language sql immutable parallel safe as $$ select 100000::bigint $$;
create or replace function largesse.audit_part_bits() returns int language sql immutable parallel safe as $$ select 17 $$;

-- Which audits of an activity have to be run; all others that are declared have no row in it now. Of an activity with very many claims sums are kept by ranges of
-- 131072 claim ids, and only ranges in which a claim has changed since are read again, as updated_at says (10 minutes are for what committed late). What audits name
-- of the activity is part of what a kept sum is of, so a changed limit or window is no change of claims but a new beginning.
-- Parameters: i_activity_id; i_is_whole: read all of it, whatever is kept.
-- Result: their names, from one snapshot; and, where there is something to be kept, a row without a name and with what audit_keep wants.
-- Locks: none; read only. Errors: as those of an audit's expressions.
drop function if exists largesse.audit_screen(bigint);
create or replace function largesse.audit_screen(i_activity_id bigint, i_is_whole boolean)
returns table (name text, to_keep text)
language plpgsql stable security definer
set search_path = largesse, pg_temp set jit = off
as $$
#variable_conflict use_column
declare
  c_keep_from constant bigint := largesse.audit_keep_from();
  c_bits      constant int := largesse.audit_part_bits();
  v_now       timestamptz := largesse.clock_now();
  v_act       largesse.activity;
  v_stock     text[] := array(select s.status from largesse.claim_state s where s.holds_stock order by s.status desc);  -- the most frequent first
  v_allowance text[] := array(select s.status from largesse.claim_state s where s.holds_allowance order by s.status desc);
  v_periods   text[] := array(select l.period from largesse.activity_limit l where l.activity_id = i_activity_id order by l.period);
  v_needed    text[] := array(select distinct x from largesse.audit_definition d, unnest(d.of_claims) x where d.source = 'audit' order by x);
  v_of        text;     -- what the sums are of
  v_mark      largesse.audit_mark;
  v_stale     bigint[];
  v_sum_list  text := (select string_agg(format('coalesce(%s, 0)::numeric', x), ', ' order by o) from unnest(v_needed) with ordinality u(x, o));
  v_read      json;     -- [[part, claims, [sum, …]], …]
  v_sums      numeric[];
  v_claims    bigint;
  v_count     bigint;
  v_tests     text;
  v_verdicts  numeric[];
  v_names     text[];
begin
  select * into v_act from largesse.activity a where a.id = i_activity_id;
  v_of := md5(row(v_act, v_stock, v_allowance, v_periods, v_needed)::text);
  if not i_is_whole then
    select * into v_mark from largesse.audit_mark m where m.activity_id = i_activity_id and m.definitions = v_of and m.seen_at <= v_now;
  end if;
  if v_mark.activity_id is not null then
    v_stale := array(select distinct c.id >> c_bits from largesse.claim c where c.activity_id = i_activity_id and c.updated_at >= v_mark.seen_at - interval '10 minutes');
    v_read := largesse.audit_ask(
      format('select coalesce(json_agg(json_build_array(k.part, x.claims, x.sums)), ''[]'') from unnest($7) k(part) cross join lateral (
                select count(*) as claims, array[%1$s]::numeric[] as sums from largesse.claim c where c.activity_id = ($1).id and c.id >= k.part << %2$s and c.id < (k.part + 1) << %2$s) x', v_sum_list, c_bits),
      v_act, v_stock, v_allowance, v_periods, v_mark.salt, null, v_stale);
  else
    v_mark.salt := (random() * 9007199254740992)::bigint;
    v_read := largesse.audit_ask(
      format('select coalesce(json_agg(json_build_array(x.part, x.claims, x.sums)), ''[]'') from (
                select c.id >> %2$s as part, count(*) as claims, array[%1$s]::numeric[] as sums from largesse.claim c where c.activity_id = ($1).id group by 1) x', v_sum_list, c_bits),
      v_act, v_stock, v_allowance, v_periods, v_mark.salt, null, null);
  end if;
  select coalesce(sum(p.claims), 0), count(*), (select array_agg(t.total order by t.o)
           from (select u.o, coalesce(sum(v.value), 0) as total
                   from generate_series(1, cardinality(v_needed)) u(o)
                   left join lateral (
                     select (r -> 2 ->> (u.o - 1))::numeric as value from json_array_elements(v_read) r
                     union all
                     select k.sums[u.o] from largesse.audit_part k where v_stale is not null and k.activity_id = i_activity_id and not k.from_id >> c_bits = any (v_stale)) v on true
                  group by u.o) t)
    into v_claims, v_count, v_sums
    from (select (r ->> 1)::bigint as claims from json_array_elements(v_read) r
          union all
          select k.claims from largesse.audit_part k where v_stale is not null and k.activity_id = i_activity_id and not k.from_id >> c_bits = any (v_stale)) p;
  -- Each expression sees its own sums as s.
  select array_agg(d.name order by d.name),
         string_agg(format('coalesce((select (%s)::int from (select array[%s]::numeric[] as s) sums), 1)', d.suspect,
                           (select string_agg(format('($6)[%s]', array_position(v_needed, x)), ', ' order by o) from unnest(d.of_claims) with ordinality u(x, o))),
                    ', ' order by d.name)
    into v_names, v_tests
    from largesse.audit_definition d where d.source = 'audit' and d.suspect is not null;
  v_verdicts := largesse.audit_ask(format('select array[%s]::numeric[]', v_tests), v_act, v_stock, v_allowance, v_periods, v_mark.salt, v_sums, null);
  return query
    select d.name, null::text from largesse.audit_definition d
     where d.source = 'audit' and (d.suspect is null or v_verdicts[array_position(v_names, d.name)] <> 0) order by d.name;
  if v_claims >= c_keep_from and v_claims / v_count >= c_keep_from / 100 then
    return query select null::text, json_build_object('definitions', v_of, 'salt', v_mark.salt, 'seenAt', v_now, 'before', v_mark.seen_at, 'parts', v_read)::text;
  end if;
end $$;

-- Keeps what a screening has read, unless another has kept something meanwhile. Parameters: i_activity_id; i_doc: as audit_screen gave it. Result: whether it was kept.
-- Locks: the activity's mark. Errors: none.
create or replace function largesse.audit_keep(i_activity_id bigint, i_doc text) returns boolean
language plpgsql volatile security definer
set search_path = largesse, pg_temp set jit = off
as $$
declare
  v_doc    json := i_doc;
  v_before timestamptz := v_doc ->> 'before';
begin
  if v_before is not null then
    update largesse.audit_mark m set seen_at = (v_doc ->> 'seenAt')::timestamptz
     where m.activity_id = i_activity_id and m.seen_at = v_before and m.salt = (v_doc ->> 'salt')::bigint and m.definitions = v_doc ->> 'definitions';
  else
    insert into largesse.audit_mark as m values (i_activity_id, v_doc ->> 'definitions', (v_doc ->> 'salt')::bigint, (v_doc ->> 'seenAt')::timestamptz)
      on conflict (activity_id) do update set definitions = excluded.definitions, salt = excluded.salt, seen_at = excluded.seen_at where m.seen_at < excluded.seen_at;
  end if;
  if not found then return false; end if;
  if v_before is null then delete from largesse.audit_part p where p.activity_id = i_activity_id; end if;
  insert into largesse.audit_part as p
    select i_activity_id, (r ->> 0)::bigint << largesse.audit_part_bits(), (r ->> 1)::bigint, array(select v::numeric from json_array_elements_text(r -> 2) v) from json_array_elements(v_doc -> 'parts') r
    on conflict (activity_id, from_id) do update set claims = excluded.claims, sums = excluded.sums;
  return true;
end $$;
