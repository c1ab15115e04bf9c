-- SPDX-License-Identifier: Apache-2.0
-- What orders cost: thresholds, coupons, priorities, percentages with remainders, and that the same order always costs the same.
create schema probe;
select largesse.reward_put(c, 'simulator', 10000, 'CNY', '{}') from unnest(array['voucher-100', 'other', 'shared']) c;

-- Claims of a reward: users 1, 2, … each with a quantity of its own.
create function probe.coupons(i_reward text, i_quantities int[]) returns text[] language plpgsql as $$
declare v_id bigint;
begin
  perform largesse.activity_put(jsonb_build_object('code', i_reward, 'name', 'n', 'kind', 'reward', 'timeZone', 'UTC', 'rewardCode', i_reward, 'startAt', now() - interval '1 hour',
    'endAt', now() + interval '1 day', 'stock', '{"total": null}'::jsonb, 'limits', '[]'::jsonb), 'test', null);
  select id into v_id from largesse.activity where code = i_reward;
  perform largesse.activity_action(i_reward, 'publish', 'test', null, null);
  perform 1 from largesse.claim_submit(v_id, array(select 'b' || n from generate_subscripts(i_quantities, 1) n), array(select n::bigint from generate_subscripts(i_quantities, 1) n),
    i_quantities, array_fill(null::text, array[cardinality(i_quantities)]), '5 s');
  perform largesse.claim_move(array_agg(activity_id), array_agg(id), 'succeeded', null, null, null) from largesse.claim where activity_id = v_id;
  return array(select activity_id || '-' || id from largesse.claim where activity_id = v_id order by user_id);
end $$;
create table probe.coupon as
  select 'v' || n as name, c as id from unnest(probe.coupons('voucher-100', '{1,1,1,5,1,1}')) with ordinality as u(c, n)
  union all select 'o' || n, c from unnest(probe.coupons('other', '{1}')) with ordinality as u(c, n)
  union all select 's' || n, c from unnest(probe.coupons('shared', '{1,1}')) with ordinality as u(c, n);
insert into probe.coupon values ('unknown', '683000001-999999999');

-- A rule in few words; what is left out is no member.
create function probe.rule(i_id text, i_priority int, i_discount text, i_more text default '') returns void language plpgsql as $$
declare v record;
begin
  select p.outcome, p.detail into v from largesse.discount_rule_put(
    jsonb_build_object('id', i_id, 'name', i_id, 'threshold', 0, 'priority', i_priority, 'discount', ('{' || i_discount || '}')::jsonb) || ('{' || i_more || '}')::jsonb, 'test') p;
  if v.outcome not in ('created', 'updated') then raise exception '%: % %', i_id, v.outcome, v.detail; end if;
end $$;
create function probe.clear() returns void language sql as $$ update largesse.discount_rule set replaced_at = now() where replaced_at is null $$;
create function probe.order_doc(i_amounts bigint[], i_coupons text, i_currency text) returns jsonb language sql as $$
  select jsonb_build_object('orderId', 'o-1',
           'lines', (select jsonb_agg(jsonb_build_object('lineId', 'L' || n, 'amount', a) order by n) from unnest(i_amounts) with ordinality as u(a, n)),
           'coupons', (select coalesce(jsonb_agg(c.id order by n), '[]') from unnest(string_to_array(i_coupons, ' ')) with ordinality as u(name, n) join probe.coupon c on c.name = u.name))
         || case when i_currency is null then '{}' else jsonb_build_object('currency', i_currency) end
$$;
-- "rule[coupon]xuses=discount(shares) … / rule[coupon]:REASON … / payable", checked on the way: every sum, and no line below zero.
create function probe.quote(i_amounts bigint[], i_coupons text default null, i_currency text default null, i_at timestamptz default null) returns text language plpgsql as $$
declare
  v jsonb := largesse.discount_quote(probe.order_doc(i_amounts, i_coupons, i_currency), i_at);
begin
  if (v ->> 'total')::numeric <> (select sum(a) from unnest(i_amounts) a)
     or (v ->> 'payable')::numeric <> (v ->> 'total')::numeric - (v ->> 'discount')::numeric or (v ->> 'payable')::numeric < 0
     or (v ->> 'discount')::numeric <> (select coalesce(sum((a ->> 'discount')::numeric), 0) from jsonb_array_elements(v -> 'applied') a)
     or (v ->> 'discount')::numeric <> (select sum((l ->> 'discount')::numeric) from jsonb_array_elements(v -> 'lines') l)
     or exists (select from jsonb_array_elements(v -> 'lines') l where (l ->> 'payable')::numeric <> (l ->> 'amount')::numeric - (l ->> 'discount')::numeric or (l ->> 'payable')::numeric < 0)
     or exists (select from jsonb_array_elements(v -> 'applied') a where (a ->> 'discount')::numeric <> (select sum((l ->> 'discount')::numeric) from jsonb_array_elements(a -> 'lines') l)) then
    raise exception 'the sums are wrong: %', v;
  end if;
  if exists (select from jsonb_array_elements(v -> 'rejected') r where coalesce(r ->> 'detail', '') = '') then raise exception 'a reason without words: %', v; end if;
  return concat_ws(' / ',
    (select string_agg(concat(a ->> 'ruleId', '[' || (select name from probe.coupon where id = a ->> 'coupon') || ']', 'x' || nullif(a ->> 'uses', '1'), '=', a ->> 'discount',
              (select '(' || string_agg(concat(l ->> 'lineId', ':', l ->> 'discount'), ' ' order by m) || ')' from jsonb_array_elements(a -> 'lines') with ordinality as w(l, m)
               having jsonb_array_length(v -> 'lines') > 1)), ' ' order by n)
       from jsonb_array_elements(v -> 'applied') with ordinality as u(a, n)),
    (select string_agg(concat(r ->> 'ruleId', '[' || (select name from probe.coupon where id = r ->> 'coupon') || ']', ':', r ->> 'reason'), ' ' order by n)
       from jsonb_array_elements(v -> 'rejected') with ordinality as u(r, n)),
    v ->> 'payable');
end $$;
create function probe.same(i_what text, i_found text, i_expected text) returns void language plpgsql as $$
begin
  if i_found is distinct from i_expected then raise exception E'%:\nexpected %\nfound    %', i_what, i_expected, i_found; end if;
end $$;

select probe.same('no rules', probe.quote('{1995}'), '1995');

-- B109: half up, of the discount and not of what remains.
select probe.rule('half', 1, '"percent": 50');
select probe.same('B109', probe.quote('{1995}'), 'half=998 / 997');
select probe.same('B109, over lines', probe.quote('{1000,995}'), 'half=998(L1:501 L2:497) / 997');
-- Currencies have 0, 2 or 3 decimals: all are integers of minor units, and nothing smaller is ever charged.
select probe.same('JPY', probe.quote('{333}', null, 'JPY'), 'half=167 / 166');
select probe.same('KWD', probe.quote('{12345}', null, 'KWD'), 'half=6173 / 6172');

-- Remainders: in proportion, down; what remains to the largest line, of equals the first.
select probe.clear(), probe.rule('tenth', 1, '"percent": 10');
select probe.same('to the largest', probe.quote('{105,995,905}'), 'tenth=201(L1:10 L2:101 L3:90) / 1804');
select probe.same('to the first of equals', probe.quote('{333,333,334,334}'), 'tenth=133(L1:33 L2:33 L3:34 L4:33) / 1201');
select probe.same('a line of nothing', probe.quote('{0,15}'), 'tenth=2(L2:2) / 13');
select probe.same('rounds to nothing', probe.quote('{4}'), 'tenth:NO_DISCOUNT / 4');
select probe.same('rounds up to one', probe.quote('{5}'), 'tenth=1 / 4');
select probe.same('nothing ordered', probe.quote('{0}'), 'tenth:NOTHING_LEFT / 0');
-- What remains may be more than the largest line: it goes on to the next.
select probe.clear(), probe.rule('four', 1, '"amount": 4');
select probe.same('past the largest', probe.quote('{1,1,1,1,1}'), 'four=4(L1:1 L2:1 L3:1 L4:1) / 1');

-- B111: priority decides what the percentage is of; equals come by threshold (the higher first), then by id.
select probe.clear(), probe.rule('fixed', 1, '"amount": 10000'), probe.rule('percent', 2, '"percent": 10');
select probe.same('B111, fixed first', probe.quote('{100000}'), 'fixed=10000 percent=9000 / 81000');
select probe.rule('percent', 0, '"percent": 10');
select probe.same('B111, percent first', probe.quote('{100000}'), 'percent=10000 fixed=10000 / 80000');
select probe.rule('percent', 1, '"percent": 10');
select probe.same('B111, equals by id', probe.quote('{100000}'), 'fixed=10000 percent=9000 / 81000');
select probe.rule('percent', 1, '"percent": 10', '"threshold": 1');
select probe.same('equals by threshold', probe.quote('{100000}'), 'percent=10000 fixed=10000 / 80000');

-- B113: at most so often, with no filter and however many lines.
select probe.clear(), probe.rule('once', 1, '"amount": 300', '"maxPerOrder": 1');
select probe.same('B113, two lines', probe.quote('{1000,1000}'), 'once=300(L1:150 L2:150) / 1700');
select probe.same('B113, one line of two', probe.quote('{2000}'), 'once=300 / 1700');
select probe.rule('once', 1, '"amount": 300', '"maxPerOrder": 1, "threshold": 500');
select probe.same('B113, with a threshold', probe.quote('{1000,1000}'), 'once=300(L1:150 L2:150) / 1700');

-- B114: nothing below zero, in whatever order.
select probe.clear(), probe.rule('fixed', 1, '"amount": 7000');
select probe.same('B114, more than the order', probe.quote('{5000}'), 'fixed=5000 / 0');
select probe.same('B114, over lines', probe.quote('{1,4998,1}'), 'fixed=5000(L1:1 L2:4998 L3:1) / 0');
select probe.clear(), probe.rule('fixed', 1, '"amount": 5000'), probe.rule('tenth', 2, '"percent": 10');
select probe.same('B114, fixed first', probe.quote('{2000,3000}'), 'fixed=5000(L1:2000 L2:3000) / tenth:NOTHING_LEFT / 0');
select probe.rule('tenth', 0, '"percent": 10');
select probe.same('B114, percent first', probe.quote('{2000,3000}'), 'tenth=500(L1:200 L2:300) fixed=4500(L1:1800 L2:2700) / 0');

-- 100 off per 5,000, at most 2 per order: one per threshold.
select probe.clear(), probe.rule('hundred', 1, '"amount": 10000', '"threshold": 500000, "maxPerOrder": 2');
select probe.same('below', probe.quote('{499999}'), 'hundred:BELOW_THRESHOLD / 499999');
select probe.same('one', probe.quote('{500000}'), 'hundred=10000 / 490000');
select probe.same('nearly two', probe.quote('{999999}'), 'hundred=10000 / 989999');
select probe.same('two', probe.quote('{1000000}'), 'hundredx2=20000 / 980000');
select probe.same('never three', probe.quote('{9000000}'), 'hundredx2=20000 / 8980000');
select probe.rule('hundred', 1, '"amount": 10000', '"threshold": 500000');
select probe.same('no maximum', probe.quote('{2600000}'), 'hundredx5=50000 / 2550000');
-- The threshold is of the order, not of what other rules leave.
select probe.rule('first', 0, '"amount": 1000');
select probe.same('before other discounts', probe.quote('{500000}'), 'first=1000 hundred=10000 / 489000');

-- With coupons each use takes one.
select probe.clear(), probe.rule('hundred', 1, '"amount": 10000', '"threshold": 500000, "maxPerOrder": 2, "rewardCode": "voucher-100"');
select probe.same('no coupon', probe.quote('{1000000}'), 'hundred:NO_COUPON / 1000000');
select probe.same('of another reward', probe.quote('{1000000}', 'o1'), '[o1]:NO_RULE hundred:NO_COUPON / 1000000');
select probe.same('one coupon', probe.quote('{1000000}', 'v1'), 'hundred[v1]=10000 / 990000');
select probe.same('two coupons in the order given', probe.quote('{1000000}', 'v2 v1'), 'hundred[v2]=10000 hundred[v1]=10000 / 980000');
select probe.same('two coupons, one threshold', probe.quote('{999999}', 'v1 v2'), 'hundred[v1]=10000 / hundred[v2]:BELOW_THRESHOLD / 989999');
select probe.same('three coupons', probe.quote('{9000000}', 'v1 v2 v3'), 'hundred[v1]=10000 hundred[v2]=10000 / hundred[v3]:MAX_PER_ORDER / 8980000');
select probe.same('three coupons, two thresholds', probe.quote('{1000000}', 'v1 v2 v3'), 'hundred[v1]=10000 hundred[v2]=10000 / hundred[v3]:MAX_PER_ORDER / 980000');
select probe.same('below, with coupons', probe.quote('{499999}', 'v1 v2'), 'hundred[v1]:BELOW_THRESHOLD hundred[v2]:BELOW_THRESHOLD / 499999');
select probe.same('a claim of five units', probe.quote('{9000000}', 'v4'), 'hundred[v4]x2=20000 / 8980000');
select probe.same('one, then units of another', probe.quote('{9000000}', 'v1 v4'), 'hundred[v1]=10000 hundred[v4]=10000 / 8980000');
select probe.same('unknown', probe.quote('{500000}', 'unknown v1'), 'hundred[v1]=10000 / [unknown]:COUPON_NOT_FOUND / 490000');
-- No coupon is spent on nothing.
select probe.rule('hundred', 1, '"amount": 10000', '"rewardCode": "voucher-100"');
select probe.same('three for an order of two', probe.quote('{15000}', 'v1 v2 v3'), 'hundred[v1]=10000 hundred[v2]=5000 / hundred[v3]:NOTHING_LEFT / 0');
select probe.same('as many units as needed', probe.quote('{15000}', 'v4'), 'hundred[v4]x2=15000 / 0');
-- A percentage counts once.
select probe.rule('hundred', 1, '"percent": 10', '"rewardCode": "voucher-100", "maxPerOrder": 2');
select probe.same('one coupon for a percentage', probe.quote('{15000}', 'v1 v2'), 'hundred[v1]=1500 / hundred[v2]:MAX_PER_ORDER / 13500');
-- Two rules that take the same coupon: the first has it.
select probe.clear(), probe.rule('a', 1, '"amount": 100', '"rewardCode": "shared", "maxPerOrder": 1'), probe.rule('b', 2, '"amount": 50', '"rewardCode": "shared"');
select probe.same('shared', probe.quote('{1000}', 's1'), 'a[s1]=100 / b:NO_COUPON / 900');
select probe.same('the other goes on', probe.quote('{1000}', 's1 s2'), 'a[s1]=100 b[s2]=50 / a[s2]:MAX_PER_ORDER / 850');

-- Claims that are no coupons (any more).
select probe.clear(), probe.rule('hundred', 1, '"amount": 10000', '"rewardCode": "voucher-100"');
select largesse.claim_move(array[split_part(id, '-', 1)::bigint], array[split_part(id, '-', 2)::bigint], 'rolled_back', null, null, null) from probe.coupon where name = 'v5';
update largesse.claim c set reversal = 'owed', reversal_since = now() from probe.coupon p where p.name = 'v6' and p.id = c.activity_id || '-' || c.id;
select probe.same('rolled back', probe.quote('{100000}', 'v5 v6 v1'), 'hundred[v1]=10000 / [v5]:COUPON_NOT_VALID [v6]:COUPON_NOT_VALID / 90000');

-- Exclusive groups: the first that is applied; the others are told which.
select probe.clear(), probe.rule('mall-a', 1, '"amount": 100', '"threshold": 1000, "exclusiveGroup": "mall"'), probe.rule('mall-b', 2, '"amount": 50', '"exclusiveGroup": "mall"'),
       probe.rule('shop', 3, '"amount": 10', '"exclusiveGroup": "shop"'), probe.rule('all', 4, '"amount": 1', '"threshold": 5000');
select probe.same('one of a group', probe.quote('{1500}'), 'mall-a=100 shop=10 / mall-b:EXCLUSIVE_GROUP all:BELOW_THRESHOLD / 1390');
select probe.same('what was not applied takes no group', probe.quote('{999}'), 'mall-b=50 shop=10 / mall-a:BELOW_THRESHOLD all:BELOW_THRESHOLD / 939');
select probe.rule('mall-b', 2, '"amount": 50', '"exclusiveGroup": "mall", "threshold": 9999');
select probe.same('the group is asked before the threshold', probe.quote('{1500}'), 'mall-a=100 shop=10 / mall-b:EXCLUSIVE_GROUP all:BELOW_THRESHOLD / 1390');
-- Higher steps of equal priority: the best one that is reached.
select probe.clear(), probe.rule('s1', 1, '"amount": 100', '"threshold": 1000, "maxPerOrder": 1, "exclusiveGroup": "steps"'),
       probe.rule('s2', 1, '"amount": 300', '"threshold": 2000, "maxPerOrder": 1, "exclusiveGroup": "steps"');
select probe.same('the higher step', probe.quote('{2500}'), 's2=300 / s1:EXCLUSIVE_GROUP / 2200');
select probe.same('the lower step', probe.quote('{1500}'), 's1=100 / s2:BELOW_THRESHOLD / 1400');

-- Validity: from its start until before its end. Currencies: only orders that say the same.
select probe.clear(), probe.rule('timed', 1, '"amount": 1', '"startAt": "2026-10-01T00:00:00Z", "endAt": "2026-10-03T00:00:00Z"');
select probe.same(at::text, probe.quote('{10}', null, null, at), expected)
  from (values ('2026-09-30T23:59:59.999999Z'::timestamptz, 'timed:NOT_VALID_NOW / 10'), ('2026-10-01T00:00:00Z', 'timed=1 / 9'),
               ('2026-10-02T23:59:59.999999Z', 'timed=1 / 9'), ('2026-10-03T00:00:00Z', 'timed:NOT_VALID_NOW / 10')) v(at, expected);
select probe.clear(), probe.rule('yen', 1, '"amount": 1', '"currency": "JPY"');
select probe.same('its currency', probe.quote('{10}', null, 'JPY'), 'yen=1 / 9');
select probe.same('another currency', probe.quote('{10}', null, 'KWD'), 'yen:CURRENCY_MISMATCH / 10');
select probe.same('no currency said', probe.quote('{10}'), 'yen:CURRENCY_MISMATCH / 10');

-- The largest amounts there are.
select probe.clear(), probe.rule('most', 1, '"amount": 1', '"threshold": 1'), probe.rule('all', 2, '"percent": 100');
select probe.same('one off for each one', probe.quote('{9223372036854775806,1}'), 'mostx9223372036854775807=9223372036854775807(L1:9223372036854775806 L2:1) / all:NOTHING_LEFT / 0');
select probe.clear(), probe.rule('third', 2, '"percent": 33'), probe.rule('large', 3, '"amount": 9223372036854775807');
select probe.same('a third of it', probe.quote('{9223372036854775807}'), 'third=3043712772162076016 large=6179659264692699791 / 0');

-- The festival's rule, and a thousand quotes of it that are the same to the byte, whatever was planned or cached in between.
select probe.clear(),
       probe.rule('festival', 1, '"amount": 10000', '"threshold": 500000, "maxPerOrder": 2, "exclusiveGroup": "mall", "rewardCode": "voucher-100"'),
       probe.rule('mall', 1, '"percent": 7', '"exclusiveGroup": "mall"'), probe.rule('mall-2', 1, '"percent": 7', '"exclusiveGroup": "mall"'),
       probe.rule('points', 5, '"percent": 3', '"threshold": 100'), probe.rule('points-2', 5, '"amount": 77', '"threshold": 100, "maxPerOrder": 1');
do $$
declare
  v_order  jsonb := probe.order_doc('{333333,333334,333333,17,1}', 'v3 v1 v2', 'CNY');
  v_first  text := largesse.discount_quote(v_order, null);
  v_answer text;
begin
  for n in 1 .. 1000 loop
    v_answer := largesse.discount_quote(v_order, null);
    if v_answer <> v_first then raise exception E'quote % is\n%, the first was\n%', n, v_answer, v_first; end if;
    if n = 500 then analyze largesse.discount_rule, largesse.claim; end if;
  end loop;
end $$;
select probe.same('the festival', probe.quote('{333333,333334,333333,17,1}', 'v3 v1 v2'),
  'festival[v3]=10000(L1:3333 L2:3334 L3:3333) festival[v1]=10000(L1:3334 L2:3333 L3:3333) points=29401(L1:9800 L2:9801 L3:9800) '
  || 'points-2=77(L1:25 L2:25 L3:27) / festival[v2]:MAX_PER_ORDER mall:EXCLUSIVE_GROUP mall-2:EXCLUSIVE_GROUP / 950540');

-- Members as the API has them, and reasons for people.
select probe.clear(), probe.rule('mall-a', 1, '"amount": 100', '"exclusiveGroup": "mall"'), probe.rule('mall-b', 2, '"amount": 50', '"exclusiveGroup": "mall"');
select probe.same('members', largesse.discount_quote(probe.order_doc('{1500}', null, 'CNY'), null),
  '{"orderId":"o-1","currency":"CNY","lines":[{"lineId" : "L1", "amount" : 1500, "discount" : 100, "payable" : 1400}],'
  || '"applied":[{"ruleId" : "mall-a", "name" : "mall-a", "coupon" : null, "uses" : 1, "discount" : 100, "lines" : [{"lineId" : "L1", "discount" : 100}]}],'
  || '"rejected":[{"ruleId" : "mall-b", "reason" : "EXCLUSIVE_GROUP", "detail" : "not together with other offers of group mall: mall-a is applied"}],'
  || '"total":1500,"discount":100,"payable":1400}');
-- Every reason has words, with its values in them.
select probe.same(r, (largesse.discount_reason_text(r, a) <> '' and largesse.discount_reason_text(r, a) !~ '%')::text, 'true')
  from unnest(array['NOT_VALID_NOW', 'CURRENCY_MISMATCH', 'EXCLUSIVE_GROUP', 'BELOW_THRESHOLD', 'NO_COUPON', 'MAX_PER_ORDER', 'NOTHING_LEFT', 'NO_DISCOUNT', 'COUPON_NOT_FOUND',
                    'COUPON_NOT_VALID', 'COUPON_USED', 'NO_RULE']) r,
       jsonb_build_object('from', '1', 'until', '2', 'currency', 'CNY', 'group', 'g', 'by', 'b', 'total', 1, 'threshold', 2, 'reward', 'r', 'max', 1, 'status', 's', 'order', 'o') a;

-- Random rules and orders (a seed of their own each) against a model that knows no lines: totals are the same, and each share is nearly proportional.
create function probe.model(i_total numeric, i_rules largesse.discount_rule[]) returns numeric language plpgsql as $$
declare
  v_rest   numeric := i_total;
  v_off    numeric;
  v_groups text[] := '{}';
  r        largesse.discount_rule;
begin
  foreach r in array i_rules loop
    continue when r.exclusive_group = any (v_groups) or i_total < r.threshold;
    v_off := case when r.percent is not null then round(v_rest * r.percent / 100)
                  else r.amount * least(coalesce(r.max_per_order, 9999999), case when r.threshold = 0 then 1 else trunc(i_total / r.threshold) end) end;
    v_off := least(v_off, v_rest);
    if v_off > 0 then v_groups := v_groups || r.exclusive_group; end if;
    v_rest := v_rest - v_off;
  end loop;
  return v_rest;
end $$;
do $$
declare
  v_amounts bigint[];
  v_rules   largesse.discount_rule[];
  v         jsonb;
  a         jsonb;
begin
  for v_seed in 1 .. 150 loop
    perform setseed(v_seed / 1000.0);
    perform probe.clear();
    for n in 1 .. 1 + trunc(random() * 6)::int loop
      perform probe.rule('r' || trunc(random() * 1000)::int, trunc(random() * 3)::int,
        case when random() < 0.5 then format('"percent": %s', 1 + trunc(random() * 40)::int) else format('"amount": %s', 1 + trunc(random() * 3000)::int) end,
        concat_ws(', ', format('"threshold": %s', case when random() < 0.3 then 0 else 1 + trunc(random() * 9000)::int end),
                  case when random() < 0.5 then format('"maxPerOrder": %s', 1 + trunc(random() * 3)::int) end,
                  case when random() < 0.5 then format('"exclusiveGroup": "g%s"', trunc(random() * 2)::int) end));
    end loop;
    v_amounts := array(select trunc(random() * random() * 5000)::bigint from generate_series(1, 1 + trunc(random() * 8)::int));
    v_rules := array(select r from largesse.discount_rule r where r.replaced_at is null order by r.priority, -r.threshold, convert_to(r.id, 'UTF8'));
    perform probe.quote(v_amounts);  -- its sums
    v := largesse.discount_quote(probe.order_doc(v_amounts, null, null), null);
    if (v ->> 'payable')::numeric <> probe.model((v ->> 'total')::numeric, v_rules) then
      raise exception 'seed %: expected % for % with %', v_seed, probe.model((v ->> 'total')::numeric, v_rules), v, v_rules;
    end if;
    a := v -> 'applied' -> 0;  -- the first is of whole amounts
    if exists (select from jsonb_array_elements(v -> 'lines') l left join jsonb_array_elements(a -> 'lines') s on s ->> 'lineId' = l ->> 'lineId'
                where a is not null and abs(coalesce((s ->> 'discount')::numeric, 0) - (a ->> 'discount')::numeric * (l ->> 'amount')::numeric / (v ->> 'total')::numeric) >= cardinality(v_amounts)) then
      raise exception 'seed %: shares are not in proportion: %', v_seed, v;
    end if;
  end loop;
end $$;
