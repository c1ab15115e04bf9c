-- SPDX-License-Identifier: Apache-2.0
-- What an order costs: the one place where rules are judged, for quotes and for redemptions.

-- Spreads a discount over lines in proportion to what is left of each, rounded down; what remains goes to the largest line (of equals the first), and where it
-- does not fit there to the next largest.
-- Parameters: i_left: of each line, i_discount: 0 to their sum. Result: the share of each line, never more than is left of it. Locks, errors: none.
create or replace function largesse.discount_spread(i_left bigint[], i_discount bigint) returns bigint[]
language plpgsql immutable
as $$
declare
  v_total  numeric := (select sum(l) from unnest(i_left) l);
  v_shares bigint[];
  v_rest   bigint;
  v_more   bigint;
  v_n      int;
begin
  if v_total = 0 then return i_left; end if;
  select array_agg(div(u.l::numeric * i_discount, v_total)::bigint order by u.n) into v_shares from unnest(i_left) with ordinality as u(l, n);
  v_rest := i_discount - (select sum(s) from unnest(v_shares) s);
  for v_n in select u.n from unnest(i_left) with ordinality as u(l, n) order by u.l desc, u.n loop
    exit when v_rest = 0;
    v_more := least(v_rest, i_left[v_n] - v_shares[v_n]);
    v_shares[v_n] := v_shares[v_n] + v_more;
    v_rest := v_rest - v_more;
  end loop;
  return v_shares;
end $$;

-- The coupons that an order names: which reward each is of, and how many of its units are free. One with a fault has none, and a reason.
-- Parameters: i_coupons: claim ids, a JSON array. Result: a row per coupon in the order given. Locks, errors: none.
create or replace function largesse.discount_coupons(i_coupons jsonb)
returns table (n bigint, coupon text, activity_id bigint, claim_id bigint, reward_code text, free bigint, reason text, about jsonb)
language plpgsql stable  -- and not sql, which would be planned at each call
set search_path = largesse, pg_temp set jit = off set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
#variable_conflict use_column
begin
  return query
  select g.n, g.coupon, k.a, k.c, w.code,
         case when c.status = 'succeeded' and c.reversal is null and w.code is not null then least(c.quantity - u.used, 1000) else 0 end,
         case when c.id is null then 'COUPON_NOT_FOUND'
              when c.status <> 'succeeded' or c.reversal is not null or w.code is null then 'COUPON_NOT_VALID'
              when u.used >= c.quantity then 'COUPON_USED' end,
         jsonb_build_object('status', case when c.reversal is not null then 'being taken back' when c.status = 'succeeded' then 'without a reward' else c.status end,
                            'order', u.order_id)
    from jsonb_array_elements_text(i_coupons) with ordinality as g(coupon, n)
   cross join lateral (select split_part(g.coupon, '-', 1)::bigint as a, split_part(g.coupon, '-', 2)::bigint as c) k
    left join largesse.claim c on c.activity_id = k.a and c.id = k.c
    left join largesse.reward w on w.id = c.reward_id and w.purpose = 'delivery'
   cross join lateral (
      select count(*) as used, max(m.order_id) as order_id
        from largesse.coupon_use x join largesse.redemption m on m.id = x.redemption_id
       where x.activity_id = k.a and x.claim_id = k.c and x.released_at is null) u
   order by g.n;
end $$;

-- Entries of `rejected`: one for each coupon that the rule could have used, or one for the rule alone.
-- Parameters: i_rule_id, i_coupons (null or empty: none), i_reason, i_about: what the reason's text needs. Result: the entries. Locks, errors: none.
create or replace function largesse.discount_rejections(i_rule_id text, i_coupons text[], i_reason text, i_about jsonb) returns jsonb[]
language plpgsql immutable
as $$
declare
  v_entry jsonb := jsonb_build_object('ruleId', i_rule_id, 'reason', i_reason, 'about', coalesce(i_about, '{}'));
begin
  if coalesce(cardinality(i_coupons), 0) = 0 then return array[v_entry]; end if;
  return array(select v_entry || jsonb_build_object('coupon', u.c) from unnest(i_coupons) with ordinality as u(c, n) order by u.n);
end $$;

-- Judges an order by the rules in force. Rules come by priority (the lower number first), of equals the one with the higher threshold, then by id (byte order).
-- Each is asked: is it valid now and for this currency; has no other of its exclusive group been applied; does the order's total, before any discount, reach
-- the threshold; is there a coupon, where it needs one. A fixed amount is given once per threshold that the total holds (once in all where the threshold is 0, or
-- once per coupon), at most maxPerOrder times; a percentage once, of what is left, rounded half up. No line goes below zero, and no coupon is spent on nothing.
-- Parameters: i_order: {orderId, currency?, lines: [{lineId, amount}], coupons: [claimId]}, checked by the caller, the sum of the amounts within bigint;
-- i_at. Result: {orderId, currency, lines: [{lineId, amount, discount}], applied: [{ruleId, version, name, coupon, uses, discount, lines}],
-- rejected: [{ruleId, coupon?, reason, about}], total, discount, payable}; the same for the same order, rules and coupons. Locks, errors: none.
create or replace function largesse.discount_evaluate(i_order jsonb, i_at timestamptz) returns jsonb
language plpgsql stable
set search_path = largesse, pg_temp set jit = off
as $$
declare
  v_ids      text[];
  v_amounts  bigint[];
  v_left     bigint[];
  v_shares   bigint[];
  v_total    bigint;
  v_rest     bigint;   -- of the order
  v_coupons  text[];
  v_rewards  text[];
  v_free     bigint[];
  v_mine     int[];    -- coupons that this rule could use
  v_i        int;
  v_rule     largesse.discount_rule;
  v_groups   jsonb := '{}';   -- taken, by which rule
  v_reason   text;
  v_about    jsonb;
  v_earned   numeric;  -- how often the total earns it
  v_max      numeric;
  v_used     bigint;
  v_units    bigint;
  v_discount bigint;
  v_applied  jsonb[] := '{}';
  v_rejected jsonb[] := '{}';
begin
  select array_agg(l ->> 'lineId' order by n), array_agg((l ->> 'amount')::bigint order by n), sum((l ->> 'amount')::bigint)
    into v_ids, v_amounts, v_total
    from jsonb_array_elements(i_order -> 'lines') with ordinality as u(l, n);
  v_left := v_amounts; v_rest := v_total;
  select coalesce(array_agg(c.coupon order by c.n), '{}'), coalesce(array_agg(c.reward_code order by c.n), '{}'), coalesce(array_agg(c.free order by c.n), '{}'),
         coalesce(array_agg(r.e order by c.n) filter (where r.e is not null), '{}')
    into v_coupons, v_rewards, v_free, v_rejected
    from largesse.discount_coupons(i_order -> 'coupons') c
   cross join lateral (
      select case when c.reason is not null then jsonb_build_object('ruleId', null, 'coupon', c.coupon, 'reason', c.reason, 'about', jsonb_strip_nulls(c.about))
                  when not exists (select from largesse.discount_rule x where x.replaced_at is null and x.reward_code = c.reward_code)
                    then jsonb_build_object('ruleId', null, 'coupon', c.coupon, 'reason', 'NO_RULE', 'about', jsonb_build_object('reward', c.reward_code)) end as e) r;

  for v_rule in
    select r.* from (
      (select x.* from largesse.discount_rule x where x.replaced_at is null and (x.end_at is null or x.end_at > i_at))
      union all
      -- Of those that have ended the latest, so that it can be said why they are left out.
      (select x.* from largesse.discount_rule x where x.replaced_at is null and x.end_at <= i_at order by x.end_at desc, x.id limit 100)) r
     order by r.priority, r.threshold desc, r.id collate "C"
  loop
    v_mine := case when v_rule.reward_code is null or v_coupons = '{}' then '{}' else array(select u.n from unnest(v_rewards, v_free) with ordinality as u(reward, free, n) where u.reward = v_rule.reward_code and u.free > 0 order by u.n) end;
    v_reason := null; v_about := null;
    if i_at < v_rule.start_at or i_at >= v_rule.end_at then
      v_reason := 'NOT_VALID_NOW'; v_about := jsonb_build_object('from', largesse.time_text(v_rule.start_at), 'until', largesse.time_text(v_rule.end_at));
    elsif v_rule.currency is not null and v_rule.currency is distinct from i_order ->> 'currency' then
      v_reason := 'CURRENCY_MISMATCH'; v_about := jsonb_build_object('currency', v_rule.currency);
    elsif v_groups ? v_rule.exclusive_group then
      v_reason := 'EXCLUSIVE_GROUP'; v_about := jsonb_build_object('group', v_rule.exclusive_group, 'by', v_groups -> v_rule.exclusive_group);
    elsif v_total < v_rule.threshold then
      v_reason := 'BELOW_THRESHOLD'; v_about := jsonb_build_object('total', v_total, 'threshold', v_rule.threshold);
    elsif v_rule.reward_code is not null and v_mine = '{}' then
      v_reason := 'NO_COUPON'; v_about := jsonb_build_object('reward', v_rule.reward_code);
    end if;
    if v_reason is not null then
      v_rejected := v_rejected || largesse.discount_rejections(v_rule.id, case when v_mine <> '{}' then array(select v_coupons[m] from unnest(v_mine) m) end, v_reason, v_about);
      continue;
    end if;

    v_earned := case when v_rule.percent is not null then 1 when v_rule.threshold > 0 then div(v_total, v_rule.threshold) when v_rule.reward_code is not null then 1000 else 1 end;
    v_max := least(v_earned, v_rule.max_per_order, case when v_rule.reward_code is not null then 1000 end);
    v_used := 0;
    foreach v_i in array case when v_rule.reward_code is null then array[null::int] else v_mine end loop
      v_units := case when v_rule.percent is not null then 1
                      else least(v_max - v_used, ceil(v_rest::numeric / v_rule.amount), case when v_i is not null then v_free[v_i] end) end;
      v_discount := case when v_rule.percent is not null then div(v_rest::numeric * v_rule.percent + 50, 100) else least(v_rest, v_units::numeric * v_rule.amount) end;
      v_reason := case when v_used >= v_max and v_rule.percent is null and v_rule.threshold > 0 and v_earned < coalesce(v_rule.max_per_order, 1000) then 'BELOW_THRESHOLD'
                       when v_used >= v_max then 'MAX_PER_ORDER' when v_rest = 0 then 'NOTHING_LEFT' when v_discount = 0 then 'NO_DISCOUNT' end;
      if v_reason is not null then
        v_about := case v_reason when 'MAX_PER_ORDER' then jsonb_build_object('max', v_max)
                                 when 'BELOW_THRESHOLD' then jsonb_build_object('total', v_total, 'threshold', (v_earned + 1) * v_rule.threshold) end;
        v_rejected := v_rejected || largesse.discount_rejections(v_rule.id, case when v_i is not null then array[v_coupons[v_i]] end, v_reason, v_about);
        continue;
      end if;
      v_shares := largesse.discount_spread(v_left, v_discount);
      v_left := array(select u.l - u.s from unnest(v_left, v_shares) with ordinality as u(l, s, n) order by u.n);
      v_rest := v_rest - v_discount;
      v_used := v_used + v_units;
      if v_i is not null then v_free[v_i] := v_free[v_i] - v_units; end if;
      v_applied := v_applied || jsonb_build_object('ruleId', v_rule.id, 'version', v_rule.version, 'name', v_rule.name, 'coupon', v_coupons[v_i], 'uses', v_units,
        'discount', v_discount,
        'lines', (select jsonb_agg(jsonb_build_object('lineId', u.id, 'discount', u.s) order by u.n) from unnest(v_ids, v_shares) with ordinality as u(id, s, n) where u.s > 0));
    end loop;
    if v_used > 0 and v_rule.exclusive_group is not null then
      v_groups := v_groups || jsonb_build_object(v_rule.exclusive_group, v_rule.id);
    end if;
  end loop;

  return jsonb_build_object('orderId', i_order -> 'orderId', 'currency', i_order -> 'currency',
    'lines', (select jsonb_agg(jsonb_build_object('lineId', u.id, 'amount', u.a, 'discount', u.a - u.l) order by u.n)
                from unnest(v_ids, v_amounts, v_left) with ordinality as u(id, a, l, n)),
    'applied', to_jsonb(v_applied), 'rejected', to_jsonb(v_rejected), 'total', v_total, 'discount', v_total - v_rest, 'payable', v_rest);
end $$;
