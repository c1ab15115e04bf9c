-- SPDX-License-Identifier: Apache-2.0
-- The books of an activity's stock, side by side. The total is the one that was published, where that is known: one that was changed by hand is another audit's.

-- Parameters: i_activity_id; i_held: quantity of the claims that hold stock.
-- Result: one row: published (the total as published; null: not known), stock_total (as it stands), total (as published, with adjustments; null: unlimited), held,
-- remaining, taken (null: no stock row), and whether they match. Locks, errors: none.
create or replace function largesse.audit_stock_of(i_activity_id bigint, i_held numeric)
returns table (published bigint, stock_total bigint, total numeric, held numeric, remaining numeric, taken numeric, is_matching boolean)
language sql stable parallel safe
as $$
  select b.published, b.stock_total, b.total, i_held, b.remaining, b.taken, b.taken is not distinct from i_held and b.remaining is not distinct from b.total - i_held
    from (
      select h.stock_total as published, a.stock_total, coalesce(h.stock_total, a.stock_total) + n.adjusted as total, stock.remaining, stock.taken
        from largesse.activity a
        left join lateral (
          select h.stock_total from largesse.activity_history h where h.activity_id = a.id and h.from_status = 'draft' order by h.id limit 1) h on true
        cross join lateral (select coalesce(sum(d.by), 0) as adjusted from largesse.stock_adjustment d where d.activity_id = a.id) n
        cross join lateral (select sum(s.remaining) as remaining, sum(s.taken) as taken from largesse.stock s where s.activity_id = a.id) stock
       where a.id = i_activity_id) b
$$;

-- How many numbers an activity of which they are the stock has: those it was published with, and those that were added since. Parameters: i_act. Result: the number.
-- Locks, errors: none.
create or replace function largesse.audit_numbers_due(i_act largesse.activity) returns numeric
language sql stable parallel safe
as $$
  select coalesce((select h.stock_total from largesse.activity_history h where h.activity_id = i_act.id and h.from_status = 'draft' order by h.id limit 1), i_act.stock_total, 0)
         + (select coalesce(sum(d.by), 0) from largesse.stock_adjustment d where d.activity_id = i_act.id and d.key like 'numbers/%' and d.reason = 'numbers added')
$$;
