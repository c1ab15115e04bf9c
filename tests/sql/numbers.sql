-- SPDX-License-Identifier: Apache-2.0
-- The set of numbers: ranges and lists without duplicates, the stock that follows them, pages and free numbers at random.
create schema probe;
create function probe.expect(i_what text, i_actual text, i_expected text) returns void language plpgsql as $$
begin
  if i_actual is distinct from i_expected then raise exception '%: expected %, got %', i_what, i_expected, i_actual; end if;
end $$;
create function probe.make(i_code text, i_kind text) returns void language plpgsql as $$
declare v record;
begin
  perform largesse.reward_put('probe', 'simulator', 100, 'CNY', '{}');
  select * into v from largesse.activity_put(jsonb_build_object('code', i_code, 'name', i_code, 'kind', i_kind, 'timeZone', 'UTC', 'rewardCode', 'probe',
    'startAt', now() - interval '1 hour', 'endAt', now() + interval '1 day', 'stock', '{"total": 5}'::jsonb)
    || case i_kind when 'number' then '{"price": {"amount": 500, "currency": "CNY"}, "paymentProvider": "simulator"}'::jsonb else '{}' end, 'test', null);
  perform probe.expect('create ' || i_code, v.outcome, 'created');
end $$;
create function probe.add(i_code text, i_numbers bigint[], i_from bigint default null, i_to bigint default null) returns text language sql as $$
  select outcome || coalesce(' ' || inserted, '') || coalesce(' ' || duplicates, '') from largesse.numbers_add(i_code, i_numbers, i_from, i_to, 'test')
$$;
create function probe.stock(i_code text) returns text language sql as $$
  select a.stock_total || ' ' || s.remaining || ' ' || (select count(*) from largesse.stock_adjustment d where d.activity_id = a.id)
    from largesse.activity a join largesse.stock s on s.activity_id = a.id where a.code = i_code
$$;

-- A total of its own caps what is sold; numbers do not change it.
select probe.make('capped', 'number');
select probe.expect('a range', probe.add('capped', null, 1, 10), 'ok 10 0');
select probe.expect('the same again', probe.add('capped', null, 1, 10), 'ok 0 10');
select probe.expect('a list, with one named twice and one that is there', probe.add('capped', '{12, 11, 12, 3, 0, 999999999999}'), 'ok 4 2');
select probe.expect('nothing of the stock', probe.stock('capped'), '5 5 0');
select probe.expect('the set', (select string_agg(n.number::text, ' ' order by n.number) from largesse.activity_number n), '0 1 2 3 4 5 6 7 8 9 10 11 12 999999999999');
do $$ begin
  perform probe.add('capped', '{1000000000000}');
  raise exception 'a number out of range was added';
exception when check_violation then null; end $$;
do $$ begin
  perform probe.add('capped', '{20, -1}');
  raise exception 'a negative number was added';
exception when check_violation then null; end $$;
select probe.expect('all or nothing', (select count(*)::text from largesse.activity_number), '14');

-- Without one the stock follows the numbers: the total of a draft, adjustments afterwards.
select probe.make('follows', 'number');
update largesse.activity set stock_follows_numbers = true, stock_total = 0 where code = 'follows';
update largesse.stock s set remaining = 0 from largesse.activity a where a.id = s.activity_id and a.code = 'follows';
select probe.expect('draft', probe.add('follows', null, 1, 100), 'ok 100 0');
select probe.expect('total of the draft', probe.stock('follows'), '100 100 0');
select largesse.activity_action('follows', 'publish', 'test', null, null);
select probe.expect('published', probe.add('follows', null, 51, 150), 'ok 50 50');
select probe.expect('an adjustment', probe.stock('follows'), '100 150 1');
select probe.expect('nothing new is no adjustment', probe.add('follows', '{1, 150}') || ' ' || probe.stock('follows'), 'ok 0 2 100 150 1');
select probe.expect('one more', probe.add('follows', '{151}') || ' ' || probe.stock('follows'), 'ok 1 0 100 151 2');
select probe.expect('its words', d.by || ' ' || d.reason || ' ' || d.actor || ' ' || d.total || ' ' || d.remaining, '50 numbers added test 150 150')
  from largesse.stock_adjustment d order by d.at limit 1;
select probe.expect('the ETag changed', (count(distinct d.key) || ' ' || max(a.version)), '2 5')
  from largesse.stock_adjustment d join largesse.activity a on a.id = d.activity_id;

-- Refusals leave nothing behind.
select probe.make('reward', 'reward');
select probe.expect('another kind', probe.add('reward', '{1}'), 'STATE_CONFLICT');
select probe.expect('unknown', probe.add('nothing', '{1}'), 'ACTIVITY_NOT_FOUND');
update largesse.activity set status = 'finished' where code = 'follows';
select probe.expect('finished', probe.add('follows', null, 1000, 2000), 'STATE_CONFLICT');
select probe.expect('nothing is left', (select count(*)::text from largesse.activity_number where number between 1000 and 2000), '0');

-- Pages.
update largesse.activity_number set status = 'sold', claim_id = 77 where number in (2, 5) and activity_id = (select id from largesse.activity where code = 'capped');
update largesse.activity_number set status = 'held', claim_id = 78 where number = 3 and activity_id = (select id from largesse.activity where code = 'capped');
select probe.expect('the first page', string_agg(l.number::text, ' '), '0 1 2') from largesse.numbers_list('capped', null, -1, 3) l;
select probe.expect('the next', string_agg(l.number::text, ' '), '3 4 5') from largesse.numbers_list('capped', null, 2, 3) l;
select probe.expect('free ones', string_agg(l.number::text, ' '), '0 1 4 6') from largesse.numbers_list('capped', 'available', -1, 4) l;
select probe.expect('sold ones', string_agg(l.number::text, ' '), '2 5') from largesse.numbers_list('capped', 'sold', -1, 4) l;
select probe.expect('a free one', l.doc, '{"number":0,"status":"available"}') from largesse.numbers_list('capped', null, -1, 1) l;
select probe.expect('a held one', l.doc, format('{"number":3,"status":"held","claimId":"%s-78"}', a.id))
  from largesse.activity a, largesse.numbers_list('capped', 'held', -1, 10) l where a.code = 'capped';

-- At random: only free ones, as many as there are, each once; two calls differ; round the end of the order.
select probe.expect('all that are free', string_agg(r.number::text, ' ' order by r.number), '0 1 4 6 7 8 9 10 11 12 999999999999') from largesse.numbers_random('capped', 100) r;
select probe.expect('some', count(distinct r.number)::text, '4') from largesse.numbers_random('capped', 4) r;
do $$
declare
  v_first text := (select string_agg(r.number::text, ' ') from largesse.numbers_random('capped', 5) r);
  v_other int := 0;
begin
  for i in 1 .. 40 loop
    if (select string_agg(r.number::text, ' ') from largesse.numbers_random('capped', 5) r) <> v_first then v_other := v_other + 1; end if;
  end loop;
  if v_other < 10 then raise exception 'of forty calls % answered otherwise than the first', v_other; end if;
end $$;
-- However many there are, neither walks over them.
select probe.make('many', 'number');
select probe.expect('many', probe.add('many', null, 0, 49999), 'ok 50000 0');
analyze largesse.activity_number;
create function probe.buffers(i_sql text) returns bigint language plpgsql as $$
declare v json;
begin
  execute 'explain (analyze, buffers, format json) ' || i_sql into v;
  return (v -> 0 -> 'Plan' ->> 'Shared Hit Blocks')::bigint + (v -> 0 -> 'Plan' ->> 'Shared Read Blocks')::bigint;
end $$;
do $$
declare v bigint;
begin
  v := probe.buffers('select * from largesse.numbers_random(''many'', 10)');
  if v > 200 then raise exception 'ten at random read % pages', v; end if;
  update largesse.activity_number n set status = 'sold', claim_id = 1 where n.number < 49000 and n.activity_id = (select a.id from largesse.activity a where a.code = 'many');
  update largesse.activity_number n set status = 'held', claim_id = 2 where n.number = 49500 and n.activity_id = (select a.id from largesse.activity a where a.code = 'many');
end $$;
vacuum largesse.activity_number;
do $$
declare v bigint;
begin
  v := probe.buffers('select * from largesse.numbers_list(''many'', ''available'', -1, 10)');
  if v > 200 then raise exception 'ten free ones read % pages', v; end if;
  v := probe.buffers('select * from largesse.numbers_list(''many'', ''held'', -1, 10)');
  if v > 200 then raise exception 'the one that is held read % pages', v; end if;
end $$;
