-- SPDX-License-Identifier: Apache-2.0
-- What was evaluated, for people: answers of quotes and redemptions.

-- Why a rule or a coupon was left out. Parameters: i_reason, i_about: its values, i_chinese: the language. Result: a sentence. Locks, errors: none.
create or replace function largesse.discount_reason_text(i_reason text, i_about jsonb, i_chinese boolean) returns text
language sql immutable
as $$
  select case i_reason
    when 'NOT_VALID_NOW' then case when i_chinese then '不在有效期内' else 'the rule is not valid at this time' end
      || coalesce(case when i_chinese then '，开始于 ' else ', it starts at ' end || (i_about ->> 'from'), '')
      || coalesce(case when i_chinese then '，结束于 ' else ', it ends at ' end || (i_about ->> 'until'), '')
    when 'CURRENCY_MISMATCH' then format(case when i_chinese then '该规则只适用于币种 %s' else 'the rule is for orders in %s' end, i_about ->> 'currency')
    when 'EXCLUSIVE_GROUP' then format(case when i_chinese then '不能与同组（%s）的优惠 %s 同时使用' else 'not together with other offers of group %s: %s is applied' end,
                                       i_about ->> 'group', i_about ->> 'by')
    when 'BELOW_THRESHOLD' then format(case when i_chinese then '订单总额 %s 未达到 %s' else 'the order''s total of %s does not reach %s' end,
                                       i_about ->> 'total', i_about ->> 'threshold')
    when 'NO_COUPON' then format(case when i_chinese then '需要一张 %s 优惠券' else 'it takes a coupon of %s' end, i_about ->> 'reward')
    when 'MAX_PER_ORDER' then format(case when i_chinese then '每个订单最多使用 %s 次' else 'at most %s per order' end, i_about ->> 'max')
    when 'NOTHING_LEFT' then case when i_chinese then '订单金额已为零' else 'nothing is left to pay' end
    when 'NO_DISCOUNT' then case when i_chinese then '优惠金额四舍五入后为零' else 'the discount rounds to nothing' end
    when 'COUPON_NOT_FOUND' then case when i_chinese then '没有这张优惠券' else 'there is no such claim' end
    when 'COUPON_NOT_VALID' then format(case when i_chinese then '该领取记录不是有效的优惠券（%s）' else 'the claim is no valid coupon: it is %s' end, i_about ->> 'status')
    when 'COUPON_USED' then format(case when i_chinese then '优惠券已被订单 %s 使用' else 'the coupon is used up by order %s' end, i_about ->> 'order')
    when 'NO_RULE' then format(case when i_chinese then '没有适用于 %s 优惠券的规则' else 'no rule takes coupons of %s' end, i_about ->> 'reward') end
$$;

-- Parameters: i_doc: as discount_evaluate gives it; i_chinese. Result: members of the answer as JSON text without the braces. Locks, errors: none.
create or replace function largesse.discount_answer(i_doc jsonb, i_chinese boolean) returns text
language plpgsql stable  -- and not sql, which would be planned at each call
as $$
begin
  return format('"orderId":%s%s,"lines":%s,"applied":%s,"rejected":%s,"total":%s,"discount":%s,"payable":%s', i_doc -> 'orderId',
    case when jsonb_typeof(i_doc -> 'currency') = 'string' then ',"currency":' || (i_doc -> 'currency')::text else '' end,
    (select json_agg(json_build_object('lineId', l -> 'lineId', 'amount', l -> 'amount', 'discount', l -> 'discount',
                                       'payable', (l ->> 'amount')::bigint - (l ->> 'discount')::bigint) order by n)
       from jsonb_array_elements(i_doc -> 'lines') with ordinality as u(l, n)),
    (select coalesce(json_agg(json_build_object('ruleId', a -> 'ruleId', 'name', a -> 'name', 'coupon', a -> 'coupon', 'uses', a -> 'uses', 'discount', a -> 'discount',
              'lines', (select json_agg(json_build_object('lineId', l -> 'lineId', 'discount', l -> 'discount') order by m)
                          from jsonb_array_elements(a -> 'lines') with ordinality as v(l, m))) order by n), '[]')
       from jsonb_array_elements(i_doc -> 'applied') with ordinality as u(a, n)),
    (select coalesce(json_agg(case when r ? 'coupon' then json_build_object('ruleId', r -> 'ruleId', 'coupon', r -> 'coupon', 'reason', r -> 'reason', 'detail', t.detail)
                                   else json_build_object('ruleId', r -> 'ruleId', 'reason', r -> 'reason', 'detail', t.detail) end order by n), '[]')
       from jsonb_array_elements(i_doc -> 'rejected') with ordinality as u(r, n)
      cross join lateral (select largesse.discount_reason_text(r ->> 'reason', r -> 'about', i_chinese) as detail) t),
    i_doc -> 'total', i_doc -> 'discount', i_doc -> 'payable');
end $$;

-- What an order would cost; nothing is written. Parameters: i_order: as discount_evaluate, i_at (null: now), i_chinese. Result: the answer as JSON text.
-- Locks, errors: none.
create or replace function largesse.discount_quote(i_order jsonb, i_at timestamptz, i_chinese boolean) returns text
language sql stable security definer
set search_path = largesse, pg_temp set jit = off
as $$
  select '{' || largesse.discount_answer(largesse.discount_evaluate(i_order, coalesce(i_at, largesse.clock_now())), i_chinese) || '}'
$$;
