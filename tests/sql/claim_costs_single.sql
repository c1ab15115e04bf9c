-- SPDX-License-Identifier: Apache-2.0
-- What moves a single claim names its month: no statement is planned over the partitions of all months, which once cost more than all the rest together and grew with
-- each month. And it finds its rows by their keys: with plans from when the tables were nearly empty, when they have grown, when they are analysed, and for an
-- activity that the statistics do not know yet.
-- A table that is analyzed by itself in the midst has all plans about it made anew, which opens every index.
do $$ declare v_table regclass; begin
  for v_table in select c.oid from pg_class c where c.relnamespace = 'largesse'::regnamespace and c.relkind = 'r' loop
    execute format('alter table %s set (autovacuum_enabled = off)', v_table);
  end loop;
end $$;
create schema probe;
select largesse.reward_put('probe', 'simulator', 100, 'CNY', '{}');
create function probe.make(i_code text, i_kind text, i_more jsonb) returns void language plpgsql as $$
begin
  perform largesse.activity_put(jsonb_strip_nulls(jsonb_build_object('code', i_code, 'name', i_code, 'kind', i_kind, 'timeZone', 'UTC', 'rewardCode', 'probe', 'startAt', now() - interval '1 hour',
    'endAt', now() + interval '40 days', 'stock', '{"total": 100000}'::jsonb, 'limits', '[{"count": 3, "period": "total"}, {"count": 3, "period": "day"}]'::jsonb) || i_more), 'test', null);
  if i_kind = 'number' then perform largesse.numbers_add(i_code, null, 1, 9000, 'test'); end if;
  perform largesse.activity_action(i_code, 'publish', 'test', null, null);
end $$;
create function probe.make_all(i_suffix text) returns void language sql as $$
  select probe.make('gift' || i_suffix, 'reward', '{}'), probe.make('hall' || i_suffix, 'registration', '{"rewardCode": null}'),
         probe.make('lot' || i_suffix, 'number', '{"price": {"amount": 500, "currency": "CNY"}, "paymentProvider": "bank", "holdFor": "15m"}')
$$;
select probe.make_all('');
select count(largesse.partitions_ensure(m)) from generate_series(largesse.partition_month(now()) - 12, largesse.partition_month(now()) + 12) m;

create temp sequence users;
create function probe.id(i_code text) returns bigint language sql stable as $$ select id from largesse.activity where code = i_code $$;
create function probe.claims(i_code text, i_count int) returns bigint[] language plpgsql as $$
declare
  u bigint[] := array(select nextval('users') from generate_series(1, i_count)); n int[]; x bigint[]; v bigint[];
begin
  if i_code like 'lot%' then
    n := array(select m from generate_series(1, i_count) m);
    x := array(select f.number from largesse.activity_number f where f.activity_id = probe.id(i_code) and f.status = 'available' order by f.number limit i_count);
  end if;
  v := array(select s.claim_id from largesse.claim_submit(probe.id(i_code), array(select 'b' || w from unnest(u) w), u, array_fill(1, array[i_count]), array_fill(null::text, array[i_count]), '0 s', n, x) s
              where s.verdict = 'ACCEPTED');
  if cardinality(v) <> i_count then raise exception '%: only % accepted', i_code, cardinality(v); end if;
  return v;
end $$;
create function probe.settle(i_id bigint, i_claim bigint, i_step text, i_outcome text) returns text language sql as $$
  select s.status from largesse.claim_settle(array[i_id], array[i_claim], '{1}', '{1}', array[i_step], array[i_outcome], '{x}', '{200}', '{r}', '{c}', '{d}', array[now()], '{1}', '{1}', array[null::text]) s
$$;
create function probe.tell(i_id bigint, i_claim bigint, i_action text, i_outcome text) returns text language sql as $$
  select s.verdict from largesse.callback_apply(case i_action when 'charge' then 'bank' else 'simulator' end, 'e' || i_claim, i_id || '-' || i_claim, i_id, i_claim, i_action, i_outcome, 'r', 'c', 'd', null, now(), '{}', null, true) s
$$;
-- What was read of claims, counters and numbers, and which indexes of other months were opened: planning opens all of the tables it is about.
create function probe.rows_read() returns bigint language sql as $$
  select sum(coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0))::bigint from pg_stat_xact_user_tables
   where schemaname = 'largesse' and relname ~ '^(claim_2|usage_2|activity_number|dead_letter|callback|event_usage)'
$$;
create procedure probe.check(i_what text, i_actual text, i_expected text, i_is_warm boolean) language plpgsql as $$
declare
  v_rows   bigint := probe.rows_read() - current_setting('probe.rows')::bigint;  -- it goes on counting after a commit
  v_months bigint := (select count(distinct i.indrelid) from pg_locks l join pg_index i on i.indexrelid = l.relation join pg_class t on t.oid = i.indrelid
                       where l.pid = pg_backend_pid() and t.relname ~ '^(claim|usage)_2');
begin
  if i_actual is distinct from i_expected then raise exception '%: expected %, got %', i_what, i_expected, i_actual; end if;
  if i_is_warm and v_rows > 60 then raise exception '% read % rows', i_what, v_rows; end if;
  if i_is_warm and v_months > 2 then raise exception '% opened the indexes of % tables of claims and counters', i_what, v_months; end if;
  perform set_config('probe.rows', probe.rows_read()::text, false);
end $$;
create procedure probe.singles(i_suffix text, i_is_warm boolean) language plpgsql as $$
declare
  g bigint := probe.id('gift' || i_suffix); h bigint := probe.id('hall' || i_suffix); l bigint := probe.id('lot' || i_suffix); c bigint[]; n bigint[]; r bigint[]; v text;
begin
  c := probe.claims('gift' || i_suffix, 4); n := probe.claims('lot' || i_suffix, 6); r := probe.claims('hall' || i_suffix, 1);
  commit;
  perform largesse.claim_take(array[g, g, g, g], c, '{0,0,0,0}', '10 s', '0 s', 'simulator'), largesse.claim_take(array[l, l, l, l], n[1:4], '{0,0,0,0}', '10 s', '0 s', 'bank');
  update largesse.claim set lease_until = null, trust_after = null, outcome = 'pending' where activity_id = g and id = c[4];
  update largesse.claim set lease_until = null, trust_after = null, payment = 'pending' where activity_id = l and id = n[4];
  commit;
  -- In one transaction each.
  perform set_config('probe.rows', probe.rows_read()::text, false);
  commit;
  v := (select o.outcome from largesse.claim_cancel(h, r[1], null) o);
  call probe.check('cancelling a registration', v, 'ok', i_is_warm); commit;
  v := probe.settle(g, c[1], 'deliver', 'refused');
  call probe.check('a refused delivery', v, 'failed', i_is_warm); commit;
  v := probe.settle(g, c[2], 'deliver', 'done');
  call probe.check('a delivery', v, 'succeeded', i_is_warm); commit;
  v := probe.tell(g, c[3], 'deliver', 'done');
  call probe.check('a callback of a delivery', v, 'applied', i_is_warm); commit;
  v := probe.tell(g, c[4], 'deliver', 'refused');
  call probe.check('a callback of a refused delivery', v, 'applied', i_is_warm); commit;
  v := probe.settle(l, n[1], 'charge', 'done');
  call probe.check('a payment', v, 'issuing', i_is_warm); commit;
  v := probe.settle(l, n[2], 'charge', 'refused');
  call probe.check('a refused payment', v, 'expired', i_is_warm); commit;
  v := probe.tell(l, n[3], 'charge', 'done');
  call probe.check('a callback of a payment', v, 'applied', i_is_warm); commit;
  v := probe.tell(l, n[4], 'charge', 'refused');
  call probe.check('a callback of a refused payment', v, 'applied', i_is_warm); commit;
  v := (select o.outcome from largesse.claim_cancel(l, n[5], null) o);
  call probe.check('cancelling a hold', v, 'ok', i_is_warm); commit;
  v := largesse.claim_expire_these(l, n[6:6])::text;
  call probe.check('a hold that ends', v, '1', i_is_warm); commit;
end $$;
call probe.singles('', false);
call probe.singles('', true);
-- The plans of now, with what the tables hold then.
select probe.claims(code, 3000) from unnest(array['gift', 'hall', 'lot']) code;
call probe.singles('', true);
analyze;
call probe.singles('', false);
call probe.singles('', true);
select probe.make_all('2');
select probe.claims(code, 3000) from unnest(array['gift2', 'hall2', 'lot2']) code;
call probe.singles('2', true);
call probe.singles('2', true);
