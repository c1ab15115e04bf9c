-- SPDX-License-Identifier: Apache-2.0
-- What was evaluated, for people: answers of quotes and redemptions.

-- Why a rule or a coupon was left out; scheduler/messages.def has the Chinese. Parameters: i_reason, i_about: its values. Result: a sentence. Locks, errors: none.
create or replace function largesse.discount_reason_text(i_reason text, i_about jsonb) returns text
language sql immutable
as $$
  select case i_reason
    when 'NOT_VALID_NOW' then 'the rule is not valid at this time' || coalesce(', it starts at ' || (i_about ->> 'from'), '') || coalesce(', it ends at ' || (i_about ->> 'until'), '')
    when 'CURRENCY_MISMATCH' then format('the rule is for orders in %s', i_about ->> 'currency')
    when 'EXCLUSIVE_GROUP' then format('not together with other offers of group %s: %s is applied', i_about ->> 'group', i_about ->> 'by')
    when 'BELOW_THRESHOLD' then format('the order''s total of %s does not reach %s', i_about ->> 'total', i_about ->> 'threshold')
    when 'NO_COUPON' then format('it takes a coupon of %s', i_about ->> 'reward')
    when 'MAX_PER_ORDER' then format('at most %s per order', i_about ->> 'max')
    when 'NOTHING_LEFT' then 'nothing is left to pay'
    when 'NO_DISCOUNT' then 'the discount rounds to nothing'
    when 'COUPON_NOT_FOUND' then 'there is no such claim'
    when 'COUPON_NOT_VALID' then format('the claim is no valid coupon: it is %s', i_about ->> 'status')
    when 'COUPON_USED' then format('the coupon is used up by order %s', i_about ->> 'order')
    when 'NO_RULE' then format('no rule takes coupons of %s', i_about ->> 'reward') end
$$;

-- Parameters: i_doc: as discount_evaluate gives it. Result: members of the answer as JSON text without the braces. Locks, errors: none.
create or replace function largesse.discount_answer(i_doc jsonb) returns text
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
      cross join lateral (select largesse.discount_reason_text(r ->> 'reason', r -> 'about') as detail) t),
    i_doc -> 'total', i_doc -> 'discount', i_doc -> 'payable');
end $$;

-- What an order would cost; nothing is written. Parameters: i_order: as discount_evaluate, i_at (null: now). Result: the answer as JSON text.
-- Locks, errors: none.
create or replace function largesse.discount_quote(i_order jsonb, i_at timestamptz) returns text
language sql stable security definer
set search_path = largesse, pg_temp set jit = off
as $$
  select '{' || largesse.discount_answer(largesse.discount_evaluate(i_order, coalesce(i_at, largesse.clock_now()))) || '}'
$$;
