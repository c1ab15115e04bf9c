-- SPDX-License-Identifier: Apache-2.0
-- What people look at beside ten thousand open letters and twenty thousand findings, in blocks read: a page costs what a page holds, whatever it is sorted and filtered by;
-- a preview reads letters and claims once each, not one by one, and sorts none of them on disk; beginning an operation locks neither letters nor claims.
create schema probe;
select largesse.reward_put('good', 'reverses', 100, 'CNY', '{}');
select largesse.provider_register('f1', array['reverses'], array[4], array[0], array[true], array[true], array[true]);
select largesse.activity_put(jsonb_build_object('code', 'a', 'name', 'a', 'kind', 'reward', 'timeZone', 'UTC', 'rewardCode', 'good',
  'startAt', now() - interval '1 hour', 'endAt', now() + interval '1 day', 'stock', '{"total": 100000}'::jsonb), 'test', null);
select largesse.activity_action('a', 'publish', 'test', null, null);
do $$ begin
  for k in 0..9 loop
    perform largesse.claim_submit(a.id, array(select 'b' || k * 1000 + n from generate_series(1, 1000) n), array(select k * 1000::bigint + n from generate_series(1, 1000) n),
      array_fill(1, array[1000]), array_fill(null::text, array[1000]), '1 h') from largesse.activity a;
  end loop;
end $$;
update largesse.claim c set review_since = now(), review_cause = (array['again', 'sure', 'doubt', 'known'])[1 + user_id % 4], next_attempt_at = null, attempts = 1 + user_id % 4,
  step = case user_id % 4 when 1 then 'deliver' else 'inquire' end;
select largesse.dead_letter_open(array_agg(activity_id), array_agg(id), array_agg('reverses'::text), array_agg(review_cause), array_agg(null::text), array_agg('x'::text)) from largesse.claim;
insert into largesse.finding (key, kind, severity, activity_id, expected, actual, state, opened_at, last_seen_at, provider)
  select 'f:' || n, case n % 50 when 0 then 'statement_probe' else 'stock_not_matching_claims' end, (array['high', 'medium', 'critical', 'high'])[1 + n % 4], a.id, 'x', 'y', 'open',
         now() + n * interval '1 second', now(), case n % 100 when 0 then 'shop' end
    from generate_series(1, 20000) n, largesse.activity a;
select largesse.audit_register('statement_probe', 'high', 'x', 'x', 'x', 'day', null, 'statement');
vacuum (analyze) largesse.finding, largesse.dead_letter, largesse.claim;

-- Blocks that a query reads, and those that it writes to disk while it sorts.
create function probe.blocks(i_query text) returns table (read bigint, spilt bigint) language plpgsql as $$
declare
  v_plan json;
begin
  execute i_query;  -- what the catalogs cost is not counted
  execute 'explain (analyze, buffers, timing off, summary off, format json) ' || i_query into v_plan;
  v_plan := v_plan -> 0 -> 'Plan';
  return query select (v_plan ->> 'Shared Hit Blocks')::bigint + (v_plan ->> 'Shared Read Blocks')::bigint, (v_plan ->> 'Temp Written Blocks')::bigint;
end $$;
create function probe.at_most(i_blocks bigint, i_query text) returns void language plpgsql as $$
declare
  v record;
begin
  select * into v from probe.blocks(i_query);
  if v.read > i_blocks or v.spilt > 0 then raise exception 'reads % blocks, % expected at most, and spills %: %', v.read, i_blocks, v.spilt, i_query; end if;
end $$;
do $$
declare
  v_sort text;
  -- Everything, once.
  v_letters bigint := pg_relation_size('largesse.dead_letter') / 8192;
  v_all     bigint := v_letters + (select sum(pg_relation_size(c.oid)) / 8192 from pg_class c where c.relname ~ '^claim_[0-9]{6}$');
  v_kind    text;
begin
  foreach v_sort in array '{openedAt,-openedAt,attempts,-attempts}'::text[] loop
    perform probe.at_most(1600, format('select count(*) from largesse.dead_letter_sorted(%L, ''open'', null, null, null, null, '''', 100)', v_sort));
    perform probe.at_most(1600 + v_letters * 3, format('select count(*) from largesse.dead_letter_sorted(%L, ''open'', ''reverses'', ''known'', ''a'', null, '''', 100)', v_sort));
    perform probe.at_most(v_letters * 3, format('select count(*) from largesse.dead_letter_sorted(%L, ''open'', null, ''nothing'', null, null, '''', 100)', v_sort));
  end loop;
  perform probe.at_most(v_letters * 3, 'select count(*) from largesse.dead_letter_groups(''open'', null, null, null, null, 0, 100)');
  foreach v_sort in array '{key,severity,openedAt,-openedAt}'::text[] loop
    perform probe.at_most(1000, format('select count(*) from largesse.finding_list(null, null, null, null, null, null, %L, '''', 100)', v_sort));
    perform probe.at_most(1000, format('select count(*) from largesse.finding_list(null, null, null, null, null, null, %L, %L, 100)', v_sort,
                                    (select max(l.place) from largesse.finding_list(null, null, null, null, null, null, v_sort, '', 100) l)));
  end loop;
  perform probe.at_most(2000, 'select count(*) from largesse.finding_list(null, null, null, null, ''shop'', ''statement'', ''-openedAt'', '''', 100)');
  foreach v_kind in array '{retry,refund,resolve}'::text[] loop
    perform probe.at_most(v_all + 1200, format('select length(doc) from largesse.operation_preview(%L, null, null, null, null, null, null, null, true, i_items => 100)', v_kind));
    perform probe.at_most(v_all + 400, format('select length(doc) from largesse.operation_preview(%L, null, null, null, null, null, null, null, true, i_items => 0)', v_kind));
  end loop;
  perform probe.at_most(4000, 'select length(doc) from largesse.operation_preview(''explain'', null, null, null, null, null, null, null, true, i_items => 100)');
end $$;

-- Counts are of all, items the first; none where none are asked for.
do $$
declare
  v_doc jsonb := (select doc from largesse.operation_preview('retry', null, null, null, null, null, null, null, true, i_items => 7));
begin
  if (v_doc ->> 'total', v_doc ->> 'retried', jsonb_array_length(v_doc -> 'items')) is distinct from ('10000', '10000', 7) then raise exception '%', v_doc; end if;
  if v_doc -> 'items' <> (select jsonb_agg(t.item) from (select jsonb_build_object('id', d.id::text, 'claimId', d.activity_id || '-' || d.claim_id, 'outcome', 'retried') as item
                                                           from largesse.dead_letter d order by d.activity_id, d.claim_id limit 7) t) then raise exception '%', v_doc -> 'items'; end if;
  v_doc := (select doc from largesse.operation_preview('explain', null, null, null, null, null, null, null, true, i_items => 0));
  if (v_doc ->> 'total', v_doc ->> 'explained', v_doc -> 'items') is distinct from ('20000', '20000', '[]'::jsonb) then raise exception '%', v_doc; end if;
end $$;

-- A delivery of any of these claims goes on while an operation over all of them begins.
begin;
select largesse.operation_begin('retry', null, null, null, null, null, null, null, 'test', 'x', null, true, 100, null);
do $$
declare
  v_locked text := (select string_agg(l.relation::regclass::text || ' ' || l.mode, ', ') from pg_locks l join pg_class c on c.oid = l.relation
                     where l.pid = pg_backend_pid() and c.relname ~ '^(claim|dead_letter|stock|usage|activity)' and l.mode <> 'AccessShareLock');
begin
  if v_locked is not null then raise exception 'beginning an operation locks %', v_locked; end if;
end $$;
rollback;
