-- SPDX-License-Identifier: Apache-2.0
-- Takes units of an activity's stock, all or none of them.
-- Parameters: i_activity_id; i_quantity; i_segment: the one to take from; null: from whichever have them, the lowest first.
-- Result: whether they were there (false also without a stock row: that is not unlimited stock). Locks: the caller holds the segment, or all of them.
-- Errors: 23514 when a segment that the caller does not hold was emptied meanwhile.
create or replace function largesse.stock_take(i_activity_id bigint, i_quantity bigint, i_segment int) returns boolean
language plpgsql volatile
as $$
declare
  v_taken bigint;
begin
  if i_segment is not null then
    update largesse.stock s set remaining = s.remaining - i_quantity, taken = s.taken + i_quantity
     where s.activity_id = i_activity_id and s.segment = i_segment and (s.remaining is null or s.remaining >= i_quantity);
    return found;
  end if;
  with had as (
    select s.segment, coalesce(s.remaining, i_quantity) as remaining,
           coalesce(sum(coalesce(s.remaining, i_quantity)) over (order by s.segment rows between unbounded preceding and 1 preceding), 0) as before,
           sum(coalesce(s.remaining, i_quantity)) over () as total
      from largesse.stock s where s.activity_id = i_activity_id
  ), part as (
    select h.segment, least(h.remaining, i_quantity - h.before)::bigint as quantity from had h where h.before < i_quantity and h.total >= i_quantity
  ), taken as (
    update largesse.stock s set remaining = s.remaining - p.quantity, taken = s.taken + p.quantity
      from part p where s.activity_id = i_activity_id and s.segment = p.segment and p.quantity > 0
    returning p.quantity
  )
  select sum(t.quantity) into v_taken from taken t;
  return v_taken is not distinct from i_quantity;
end $$;
