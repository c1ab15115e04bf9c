-- SPDX-License-Identifier: Apache-2.0
-- Orders are redeemed and released once; coupons are used once; and the audit sees each row that is damaged.
create schema probe;
select largesse.reward_put(c, 'simulator', 10000, 'CNY', '{}') from unnest(array['voucher-100', 'seat']) c;
select largesse.activity_put(jsonb_build_object('code', 'a', 'name', 'n', 'kind', 'reward', 'timeZone', 'UTC', 'rewardCode', 'voucher-100', 'startAt', now() - interval '1 hour',
  'endAt', now() + interval '1 day', 'stock', '{"total": null}'::jsonb, 'limits', '[]'::jsonb), 'test', null);
select largesse.activity_action('a', 'publish', 'test', null, null);
select largesse.claim_submit(id, array['b1', 'b2', 'b3', 'b4', 'b5'], array[1, 2, 3, 4, 5]::bigint[], array[1, 1, 3, 1, 1], array_fill(null::text, array[5]), '5 s') from largesse.activity;
select largesse.claim_move(array_agg(activity_id), array_agg(id), 'succeeded', null, null, null) from largesse.claim where user_id <> 5;
insert into largesse.attempt (activity_id, claim_id, attempt, step, provider, started_at, duration_us, outcome)
  select activity_id, id, 1, 'deliver', 'simulator', now(), 1, 'done' from largesse.claim where user_id <> 5;
select largesse.discount_rule_put('{"id": "hundred", "name": "100 off", "threshold": 500000, "discount": {"amount": 10000}, "maxPerOrder": 2, "exclusiveGroup": "mall", "priority": 1,
  "rewardCode": "voucher-100"}', 'test'),
       largesse.discount_rule_put('{"id": "tenth", "name": "10 %", "threshold": 0, "discount": {"percent": 10}, "exclusiveGroup": "shop", "priority": 2}', 'test');

create function probe.coupons(i_users bigint[]) returns jsonb language sql as $$
  select coalesce(jsonb_agg(case when u = 0 then '1-1' else c.activity_id || '-' || c.id end order by n), '[]')
    from unnest(i_users) with ordinality as r(u, n) left join largesse.claim c on c.user_id = u
$$;
create function probe.order_doc(i_order text, i_amounts bigint[], i_users bigint[]) returns jsonb language sql as $$
  select jsonb_build_object('orderId', i_order, 'lines', (select jsonb_agg(jsonb_build_object('lineId', 'L' || n, 'amount', a) order by n) from unnest(i_amounts) with ordinality as u(a, n)),
                            'coupons', probe.coupons(i_users))
$$;
create function probe.redeem(i_order text, i_amounts bigint[], i_users bigint[]) returns text language plpgsql as $$
declare v record;
begin
  select * into v from largesse.discount_redeem(probe.order_doc(i_order, i_amounts, i_users), 'shop');
  return concat_ws(' ', v.outcome, v.doc::jsonb ->> 'payable', v.doc::jsonb ->> 'status', v.detail, v.coupons);
end $$;
create function probe.release(i_order text) returns text language plpgsql as $$
declare v record;
begin
  select * into v from largesse.discount_release(i_order, 'shop');
  return concat_ws(' ', v.outcome, v.doc::jsonb ->> 'payable', v.doc::jsonb ->> 'status');
end $$;
-- "user:unit order" of what is used.
create function probe.used() returns text language sql as $$
  select coalesce(string_agg(c.user_id || ':' || u.unit || ' ' || m.order_id, ', ' order by c.user_id, u.unit), 'none')
    from largesse.coupon_use u join largesse.claim c on c.activity_id = u.activity_id and c.id = u.claim_id join largesse.redemption m on m.id = u.redemption_id where u.released_at is null
$$;
create function probe.claim_of(i_user bigint) returns text language sql as $$ select activity_id || '-' || id from largesse.claim where user_id = i_user $$;
create function probe.same(i_what text, i_found text, i_expected text) returns void language plpgsql as $$
begin
  if i_found is distinct from i_expected then raise exception E'%:\nexpected %\nfound    %', i_what, i_expected, i_found; end if;
end $$;

select probe.same('a quote uses nothing', (largesse.discount_quote(probe.order_doc('o1', '{600000,400000}', '{1,2}'), null)::jsonb ->> 'payable') || ' ' || probe.used(), '882000 none');
create table probe.quoted as select largesse.discount_quote(probe.order_doc('o1', '{600000,400000}', '{1,2}'), null)::jsonb as answer;
select probe.same('redeemed', probe.redeem('o1', '{600000,400000}', '{1,2}'), 'redeemed 882000 redeemed');
select probe.same('both are used', probe.used(), '1:1 o1, 2:1 o1');
select probe.same('again', probe.redeem('o1', '{600000,400000}', '{1,2}'), 'replayed 882000 redeemed');
select probe.same('other lines', probe.redeem('o1', '{600000,400001}', '{1,2}'), 'BIZ_ID_REUSED the order was redeemed with other content');
select probe.same('other coupons', probe.redeem('o1', '{600000,400000}', '{1}'), 'BIZ_ID_REUSED the order was redeemed with other content');
select probe.same('its answer is that of the quote', (largesse.redemption_json('o1')::jsonb - '{status,redeemedAt}'::text[])::text,
                  (select answer from probe.quoted)::text);
select probe.same('used elsewhere', probe.redeem('o2', '{600000,400000}', '{4,2}'), 'COUPON_USED ' || probe.claim_of(2) || ': the coupon is used up by order o1 ["' || probe.claim_of(2) || '"]');
select probe.same('and nothing of it is', probe.used(), '1:1 o1, 2:1 o1');
select probe.same('in a quote it is left out', largesse.discount_quote(probe.order_doc('o2', '{1000000}', '{2,4}'), null)::jsonb -> 'rejected' -> 0 ->> 'reason', 'COUPON_USED');
select probe.same('unknown', probe.redeem('o2', '{500000}', '{0}'), 'CLAIM_NOT_FOUND 1-1: there is no such claim ["1-1"]');
select probe.same('not delivered yet', probe.redeem('o2', '{500000}', '{5}'), 'STATE_CONFLICT ' || probe.claim_of(5) || ': the claim is no valid coupon: it is issuing ["' || probe.claim_of(5) || '"]');
select probe.same('what no rule takes stays free', probe.redeem('o2', '{499999}', '{4}') || ', ' || probe.used(), 'redeemed 449999 redeemed, 1:1 o1, 2:1 o1');

-- Units of one claim.
select probe.same('two of three units', probe.redeem('o3', '{1000000}', '{3}'), 'redeemed 882000 redeemed');
select probe.same('the third, and not the fourth', probe.redeem('o4', '{1000000}', '{3}'), 'redeemed 891000 redeemed');
select probe.same('units', probe.used(), '1:1 o1, 2:1 o1, 3:1 o3, 3:2 o3, 3:3 o4');
select probe.same('all are used', split_part(probe.redeem('o5', '{1000000}', '{3}'), ' ', 1), 'COUPON_USED');
select probe.same('released', probe.release('o3'), 'released 882000 released');
select probe.same('released again', probe.release('o3'), 'replayed 882000 released');
select probe.same('free units', probe.used(), '1:1 o1, 2:1 o1, 3:3 o4');
select probe.same('used by another', probe.redeem('o5', '{500000}', '{3}') || ', ' || probe.used(), 'redeemed 441000 redeemed, 1:1 o1, 2:1 o1, 3:1 o5, 3:3 o4');
select probe.same('a late release gives nothing back', probe.release('o3') || ', ' || probe.used(), 'replayed 882000 released, 1:1 o1, 2:1 o1, 3:1 o5, 3:3 o4');
select probe.same('never redeemed', probe.release('o9'), 'NOT_FOUND');

-- After a release the order may be redeemed anew, with the same content or other.
select probe.same('anew', probe.release('o1') || ', ' || probe.redeem('o1', '{600000,400000}', '{1,2}') || ', ' || probe.used(),
                  'released 882000 released, redeemed 882000 redeemed, 1:1 o1, 2:1 o1, 3:1 o5, 3:3 o4');
select probe.same('with other content', probe.release('o1') || ', ' || probe.redeem('o1', '{500000}', '{1}') || ', ' || probe.used(),
                  'released 882000 released, redeemed 441000 redeemed, 1:1 o1, 3:1 o5, 3:3 o4');
select probe.same('three redemptions', (select string_agg(payable || ' ' || (released_at is null), ', ' order by id) from largesse.redemption where order_id = 'o1'), '882000 false, 882000 false, 441000 true');

-- A redemption keeps the terms under which it was made.
select largesse.discount_rule_put('{"id": "tenth", "name": "50 %", "threshold": 0, "discount": {"percent": 50}, "priority": 2}', 'test');
select probe.same('the terms of then', probe.redeem('o1', '{500000}', '{1}'), 'replayed 441000 redeemed');
select probe.same('the terms of now', probe.redeem('o6', '{1000}', '{}'), 'redeemed 500 redeemed');

-- A claim that an order has used is not rolled back, and not cancelled; the order is released first.
insert into largesse.provider_state (provider, configured_concurrency, configured_rate, can_reverse, can_inquire, repeat_is_safe, changed_at) values ('simulator', 1, 0, true, true, false, now());
create function probe.verdict(i_user bigint) returns text language sql as $$
  select largesse.operation_verdict('roll_back', null, c, largesse.reward_can_be_reversed(c.reward_id), true, true) from largesse.claim c where c.user_id = i_user
$$;
select probe.same('not while it is used', probe.verdict(1) || ' ' || probe.verdict(4), 'coupon_used reversing');
select largesse.activity_put(jsonb_build_object('code', 'reg', 'name', 'n', 'kind', 'registration', 'timeZone', 'UTC', 'rewardCode', 'seat', 'startAt', now() - interval '2 hours',
  'endAt', now() + interval '1 day', 'stock', '{"total": 10}'::jsonb), 'test', null);
select largesse.activity_action('reg', 'publish', 'test', null, null);
select largesse.claim_submit(id, array['r1'], array[11::bigint], array[1], array[null::text], '5 s') from largesse.activity where code = 'reg';
select largesse.claim_move(array_agg(activity_id), array_agg(id), 'succeeded', null, null, null) from largesse.claim where user_id = 11;
insert into largesse.attempt (activity_id, claim_id, attempt, step, provider, started_at, duration_us, outcome) select activity_id, id, 1, 'deliver', 'simulator', now(), 1, 'done' from largesse.claim where user_id = 11;
select largesse.discount_rule_put('{"id": "seat", "name": "seat", "threshold": 0, "discount": {"amount": 1}, "priority": 0, "rewardCode": "seat"}', 'test');
select probe.same('a seat is used', probe.redeem('o7', '{1001}', '{11}'), 'redeemed 500 redeemed');
select probe.same('not cancelled', (select x.outcome || ' ' || x.is_changed from largesse.claim c, largesse.claim_cancel(c.activity_id, c.id, null) x where c.user_id = 11), 'COUPON_USED false');
select probe.same('after the release', probe.release('o7') || (select x.outcome || ' ' || x.is_changed from largesse.claim c, largesse.claim_cancel(c.activity_id, c.id, null) x where c.user_id = 11),
                  'released 500 releasedok true');
select probe.same('no coupon any more', split_part(probe.redeem('o7', '{1001}', '{11}'), ' ', 1), 'STATE_CONFLICT');

-- The last line of defence: the keys refuse what the functions never do.
create procedure probe.refused(i_sql text) language plpgsql as $$
begin
  execute i_sql;
  raise exception '% was taken', i_sql using errcode = 'P0099';
exception when unique_violation or check_violation then null;
end $$;
call probe.refused('insert into largesse.coupon_use select activity_id, claim_id, unit, m.id, 1, null from largesse.coupon_use u, largesse.redemption m where u.released_at is null and m.order_id = ''o2''');
call probe.refused('update largesse.coupon_use set released_at = null where released_at is not null');
call probe.refused('update largesse.redemption set released_at = null, released_by = null where order_id = ''o1''');
call probe.refused('update largesse.redemption_line set discount = amount + 1');
call probe.refused('update largesse.redemption set payable = payable - 1');

-- Each audit sees the one row that was damaged for it, and nothing else does.
\ir parts/damage_probe.sql
call probe.damage('select 1', 'none');
call probe.damage('select largesse.claim_move(array[activity_id], array[id], ''rolled_back'', null, null, null) from largesse.claim where user_id = 1; update largesse.claim set reversed_at = now() where user_id = 1',
                  'claim_reversal_not_confirmed coupon_use_not_matching');
call probe.damage('update largesse.coupon_use set unit = 4 where unit = 3', 'coupon_use_not_matching');
call probe.damage('delete from largesse.coupon_use where claim_id = (select id from largesse.claim where user_id = 1) and released_at is null', 'coupon_use_not_matching');
call probe.damage('update largesse.coupon_use set released_at = now() where claim_id = (select id from largesse.claim where user_id = 1) and released_at is null', 'coupon_use_not_matching');
call probe.damage('update largesse.coupon_use set released_at = null where claim_id = (select id from largesse.claim where user_id = 2) and redemption_id = (select min(id) from largesse.redemption)', 'coupon_use_not_matching');
call probe.damage('update largesse.redemption_line set amount = amount + 1 where redemption_id = (select id from largesse.redemption where order_id = ''o6'')', 'redemption_not_matching');
call probe.damage('update largesse.redemption_line set discount = discount - 1 where redemption_id = (select id from largesse.redemption where order_id = ''o6'')', 'redemption_not_matching');
call probe.damage('update largesse.redemption_line set discount = discount + case n when 1 then -1 else 1 end where n <= 2 and redemption_id = (select l.redemption_id from largesse.redemption_line l group by 1 having count(*) > 1 and min(l.discount) > 0 limit 1)', 'redemption_not_matching');
call probe.damage('update largesse.redemption_rule set discount = discount + 1 where redemption_id = (select id from largesse.redemption where order_id = ''o6'')', 'redemption_not_matching');
call probe.damage('update largesse.redemption set discount = discount + 1, payable = payable - 1 where order_id = ''o6''', 'redemption_not_matching');
call probe.damage('delete from largesse.redemption_rule where redemption_id = (select id from largesse.redemption where order_id = ''o6'')', 'redemption_not_matching');
call probe.damage('update largesse.discount_rule set max_per_order = 1 where id = ''hundred''', rtrim(repeat('redemption_not_matching ', 3)));  -- of three that used two
call probe.damage('update largesse.discount_rule set threshold = 600000 where id = ''hundred''', rtrim(repeat('redemption_not_matching ', 5)));
call probe.damage('update largesse.discount_rule set exclusive_group = ''mall'' where percent = 10', rtrim(repeat('redemption_not_matching ', 6)));
-- Each redemption is looked at once, whether it was before the first activity, between two, or behind the last.
call probe.damage('update largesse.redemption set answer = ''{}'', redeemed_at = case when id % 3 = 0 then ''2020-01-01'' when id % 3 = 1 then now() - interval ''90 minutes'' else now() end',
                  rtrim(repeat('redemption_not_matching ', 9)));
