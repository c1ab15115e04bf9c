-- SPDX-License-Identifier: Apache-2.0
-- Quantity of the claims that hold stock + remaining = total + adjustments; and the counter of what was taken says the same.
-- Parameters: i_activity_id. Result: at most one row. Locks: none. Errors: none.
create or replace function largesse.audit_stock_not_matching_claims(i_activity_id bigint)
returns table (subject text, claim_id bigint, expected text, actual text)
language sql stable
as $$
  select 'stock', null::bigint,
         format('claims %s + remaining %s = total %s; taken %s', held.quantity,
                coalesce((total.units - held.quantity)::text, 'unlimited'), coalesce(total.units::text, 'unlimited'), held.quantity),
         format('claims %s + remaining %s = %s; taken %s', held.quantity, coalesce(stock.remaining::text, 'unlimited'),
                coalesce((held.quantity + stock.remaining)::text, 'unlimited'), coalesce(stock.taken::text, 'no stock row'))
           -- As finding_cause reads it.
           || case when stock.taken is null then ''
                   when stock.remaining is distinct from total.units - stock.taken or stock.taken = held.quantity then '; set wrongly'
                   when stock.taken > held.quantity then '; taken without a record' else '; recorded without taking' end
    from largesse.activity a
    cross join lateral (select a.stock_total + coalesce(sum(d.by), 0) as units from largesse.stock_adjustment d where d.activity_id = a.id) total
    cross join lateral (select sum(s.remaining) as remaining, sum(s.taken) as taken from largesse.stock s where s.activity_id = a.id) stock
    cross join lateral (
      select coalesce(sum(c.quantity), 0) as quantity from largesse.claim c
       where c.activity_id = a.id and c.status in (select s.status from largesse.claim_state s where s.holds_stock)) held
   where a.id = i_activity_id
     and (stock.taken is distinct from held.quantity or stock.remaining is distinct from total.units - held.quantity)
$$;
select largesse.audit_register('stock_not_matching_claims', 'critical',
  'Every unit of stock is either free or held by a claim.',
  'stock was taken without a record, a record was made without taking stock, or the initial stock was set wrongly',
  'compare the claims with the provider''s statement; then run the repair that is offered (findings repair KEY --dry-run, then with --reason): claims decide what is left. Where claims hold more than there is, add stock (scheduler stock adjust) or take claims back (claims roll-back)',
  i_period => 'activity', i_repair => 'stock');
