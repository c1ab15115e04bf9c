-- SPDX-License-Identifier: Apache-2.0
-- Discount rules: versions, what is refused, and how they are shown.
create schema probe;
select largesse.reward_put('voucher-100', 'simulator', 10000, 'CNY', '{}');
create procedure probe.put(i_doc jsonb, i_expected text) language plpgsql as $$
declare v record;
begin
  select p.outcome, p.detail into v from largesse.discount_rule_put(i_doc, 'test') p;
  if concat_ws(': ', v.outcome, v.detail) <> i_expected then raise exception '% gave %: %', i_doc, v.outcome, v.detail; end if;
end $$;
create function probe.same(i_what text, i_found text, i_expected text) returns void language plpgsql as $$
begin
  if i_found is distinct from i_expected then raise exception '%: expected %, found %', i_what, i_expected, i_found; end if;
end $$;

call probe.put('{"id": "hundred", "name": "100 off per 5,000", "threshold": 500000, "discount": {"amount": 10000}, "maxPerOrder": 2, "exclusiveGroup": "mall", "priority": 10,
  "rewardCode": "voucher-100", "currency": "CNY", "startAt": "2026-10-01T00:00:00Z", "endAt": "2026-10-03T00:00:00Z"}', 'created');
select probe.same('shown', largesse.discount_rule_json('hundred'),
  '{"id":"hundred","name":"100 off per 5,000","threshold":500000,"discount":{"amount":10000},"maxPerOrder":2,"exclusiveGroup":"mall","priority":10,'
  || '"rewardCode":"voucher-100","currency":"CNY","startAt":"2026-10-01T00:00:00.000000Z","endAt":"2026-10-03T00:00:00.000000Z"}');
call probe.put('{"id": "tenth", "name": "10 %", "threshold": 0, "discount": {"percent": 10}, "priority": 20}', 'created');
call probe.put('{"id": "tenth", "name": "10 %", "threshold": 0, "discount": {"percent": 10}, "priority": 20}', 'unchanged');
call probe.put('{"id": "tenth", "name": "11 %", "threshold": 0, "discount": {"percent": 11}, "priority": 20}', 'updated');
select probe.same('versions', (select string_agg(percent || ' ' || (replaced_at is null), ', ' order by version) from largesse.discount_rule where id = 'tenth'), '10 false, 11 true');
select probe.same('one is shown', largesse.discount_rule_json('tenth'), '{"id":"tenth","name":"11 %","threshold":0,"discount":{"percent":11},"priority":20}');
select probe.same('none is shown', largesse.discount_rule_json('nothing'), null);
select probe.same('a list', (select string_agg(id, ' ') from largesse.discount_rule_list('', 10)), 'hundred tenth');
select probe.same('a page', (select string_agg(id, ' ') from largesse.discount_rule_list('hundred', 1)), 'tenth');

-- Refused, and nothing was changed.
call probe.put('{"id": "x", "name": "x", "threshold": 0, "discount": {"amount": 1}, "priority": 1, "rewardCode": "unknown"}', 'INVALID_REQUEST: rewardCode: there is no such reward');
call probe.put('{"id": "x", "name": "x", "threshold": 0, "discount": {"amount": 1}, "priority": 1, "startAt": "2026-10-01T00:00:00Z", "endAt": "2026-10-01T00:00:00Z"}',
               'INVALID_REQUEST: endAt: must be after startAt');
-- Terms of payment are no reward.
insert into largesse.reward (code, provider, amount, currency, purpose, created_at) values ('ticket', 'simulator', 100, 'CNY', 'payment', now());
call probe.put('{"id": "x", "name": "x", "threshold": 0, "discount": {"amount": 1}, "priority": 1, "rewardCode": "ticket"}', 'INVALID_REQUEST: rewardCode: there is no such reward');
select probe.same('nothing new', (select count(*)::text from largesse.discount_rule), '3');

-- Whatever comes past the checks of shape, the table has them too.
create procedure probe.refused(i_doc jsonb) language plpgsql as $$
begin
  perform largesse.discount_rule_put(i_doc, 'test');
  raise exception '% was taken', i_doc using errcode = 'P0099';
exception when check_violation or not_null_violation then null;
end $$;
call probe.refused('{"id": "x", "name": "x", "threshold": 0, "discount": {"amount": 1, "percent": 1}, "priority": 1}');
call probe.refused('{"id": "x", "name": "x", "threshold": 0, "discount": {}, "priority": 1}');
call probe.refused('{"id": "x", "name": "x", "threshold": 0, "discount": {"percent": 101}, "priority": 1}');
call probe.refused('{"id": "x", "name": "x", "threshold": 0, "discount": {"amount": 0}, "priority": 1}');
call probe.refused('{"id": "x", "name": "x", "threshold": -1, "discount": {"amount": 1}, "priority": 1}');
call probe.refused('{"id": "x", "name": "x", "threshold": 0, "discount": {"amount": 1}, "maxPerOrder": 0, "priority": 1}');
call probe.refused('{"id": "x", "name": "x", "threshold": 0, "discount": {"amount": 1}}');

-- There are at most a thousand that have not ended; those that have do not count.
insert into largesse.discount_rule (id, name, threshold, amount, priority, actor, created_at) select 'r' || n, 'x', 0, 1, 1, 'test', now() from generate_series(1, 998) n;
call probe.put('{"id": "last", "name": "x", "threshold": 0, "discount": {"amount": 1}, "priority": 1}', 'created');
call probe.put('{"id": "more", "name": "x", "threshold": 0, "discount": {"amount": 1}, "priority": 1}', 'STATE_CONFLICT: id: there are 1000 rules that have not ended; end one first');
call probe.put('{"id": "old", "name": "x", "threshold": 0, "discount": {"amount": 1}, "priority": 1, "endAt": "2020-01-01T00:00:00Z"}', 'created');
call probe.put('{"id": "r1", "name": "x", "threshold": 0, "discount": {"amount": 1}, "priority": 1, "endAt": "2020-01-01T00:00:00Z"}', 'updated');
call probe.put('{"id": "more", "name": "x", "threshold": 0, "discount": {"amount": 1}, "priority": 1}', 'created');
