-- SPDX-License-Identifier: Apache-2.0
-- Every redemption adds up: total = its lines, each as it was answered, discount = that of its lines = that of its rules; and no rule gave more than its terms allow.
-- An order belongs to no activity: it is looked at with the one that had started last when it was redeemed, or with the first of all.
-- Parameters: i_activity_id. Result: a row per redemption where that is not so. Locks: none. Errors: none.
create or replace function largesse.audit_redemption_not_matching(i_activity_id bigint)
returns table (subject text, claim_id bigint, expected text, actual text)
language sql stable parallel safe
as $$
  with span as materialized (
    select case when exists (select from largesse.activity b where (b.start_at, b.id) < (a.start_at, a.id)) then a.start_at else '-infinity' end as from_at,
           coalesce((select b.start_at from largesse.activity b where (b.start_at, b.id) > (a.start_at, a.id) order by b.start_at, b.id limit 1), 'infinity') as until_at
      from largesse.activity a where a.id = i_activity_id
  )
  select format('order %s, redemption %s', m.order_id, m.id), null::bigint,
         format('total %s, discount %s of lines and of rules, each rule within its terms', m.total, m.discount),
         format('lines %s with discount %s, rules %s, answered %s of %s, %s lines other than answered, %s rules beyond their terms', l.amount, l.discount, r.discount, m.answer ->> 'discount', m.answer ->> 'total', o.others, t.beyond)
    from span s
    join largesse.redemption m on m.redeemed_at >= s.from_at and m.redeemed_at < s.until_at
   cross join lateral (select coalesce(sum(x.amount), 0) as amount, coalesce(sum(x.discount), 0) as discount from largesse.redemption_line x where x.redemption_id = m.id) l
   cross join lateral (select coalesce(sum(x.discount), 0) as discount from largesse.redemption_rule x where x.redemption_id = m.id) r
   cross join lateral (
      select count(distinct coalesce(x.n, w.n)) as others
        from (select x.n, x.line_id, x.amount, x.discount from largesse.redemption_line x where x.redemption_id = m.id) x
        full join (select n, a ->> 'lineId', (a ->> 'amount')::bigint, (a ->> 'discount')::bigint from jsonb_array_elements(m.answer -> 'lines') with ordinality u(a, n)) w(n, line_id, amount, discount)
             on (x.n, x.line_id, x.amount, x.discount) = (w.n, w.line_id, w.amount, w.discount)
       where x.n is null or w.n is null) o
   cross join lateral (
      select count(*) filter (where w.uses > d.max_per_order or w.discount > w.uses::numeric * d.amount or d.percent is not null and w.uses > 1 or m.total < d.threshold
                                 or d.amount is not null and d.threshold > 0 and w.uses > div(m.total, d.threshold))
             + count(d.exclusive_group) - count(distinct d.exclusive_group) as beyond
        from (select x.version, sum(x.uses) as uses, sum(x.discount) as discount from largesse.redemption_rule x where x.redemption_id = m.id group by x.version) w
        join largesse.discount_rule d on d.version = w.version) t
   where l.amount <> m.total or l.discount <> m.discount or r.discount <> m.discount or o.others > 0 or t.beyond > 0
      or (m.answer ->> 'discount')::bigint is distinct from m.discount or (m.answer ->> 'total')::bigint is distinct from m.total
$$;
select largesse.audit_register('redemption_not_matching', 'critical',
  'What an order was given is what its rules allow, line by line.',
  'a redemption, its lines or its rules were changed by hand',
  'compare the redemption with the shop''s order; release it and redeem it again (DELETE and PUT of the redemption), or say why it stands: findings resolve KEY --reason',
  i_period => 'activity');
