-- SPDX-License-Identifier: Apache-2.0
-- Coupons that are used up = what the redemptions in force say; each unit is of a succeeded claim of the rule's reward, and no claim has more uses than units.
-- Parameters: i_activity_id: of the coupons. Result: a row per claim, and a row per order, where that is not so. Locks: none. Errors: none.
create or replace function largesse.audit_coupon_use_not_matching(i_activity_id bigint)
returns table (subject text, claim_id bigint, expected text, actual text)
language sql stable parallel safe
as $$
  select 'coupon ' || u.claim_id, u.claim_id, format('a succeeded claim of at least %s', greatest(u.units, u.last)),
         format('%s, quantity %s, used by order %s', coalesce(c.status, 'no claim'), coalesce(c.quantity::text, 'none'), u.orders)
    from (select x.claim_id, count(*) as units, max(x.unit) as last, string_agg(distinct m.order_id, ', ' order by m.order_id) as orders
            from largesse.coupon_use x join largesse.redemption m on m.id = x.redemption_id
           where x.activity_id = i_activity_id and x.released_at is null group by x.claim_id) u
    left join largesse.claim c on c.activity_id = i_activity_id and c.id = u.claim_id
   where c.status is distinct from 'succeeded' or greatest(u.units, u.last) > c.quantity
  union all
  select format('order %s, rule %s, coupon %s', m.order_id, r.n, r.claim_id), r.claim_id,
         format('%s uses of %s, %s', r.uses, coalesce(d.reward_code, 'no reward'), case when m.released_at is null then 'in force' else 'released' end),
         format('%s uses of %s, %s in force', u.units, coalesce(w.code, 'no reward'), u.in_force)
    from largesse.redemption_rule r
    join largesse.redemption m on m.id = r.redemption_id
    join largesse.discount_rule d on d.version = r.version
    left join largesse.claim c on c.activity_id = r.activity_id and c.id = r.claim_id
    left join largesse.reward w on w.id = c.reward_id
   cross join lateral (
      select count(*) as units, count(*) filter (where x.released_at is null) as in_force
        from largesse.coupon_use x where x.redemption_id = r.redemption_id and x.n = r.n and x.activity_id = r.activity_id and x.claim_id = r.claim_id) u
   where r.activity_id = i_activity_id
     and (u.units <> r.uses or u.in_force <> case when m.released_at is null then r.uses else 0 end or w.code is distinct from d.reward_code and c.id is not null)
$$;
select largesse.audit_register('coupon_use_not_matching', 'critical',
  'Each coupon is used once, by one order, and only while its claim stands.',
  'a claim was taken back although an order had used it, or a redemption or its coupons were changed by hand',
  'release the order and redeem it again without the coupon (DELETE and PUT of its redemption), or charge its discount and say so: findings resolve KEY --reason',
  i_period => 'activity');
