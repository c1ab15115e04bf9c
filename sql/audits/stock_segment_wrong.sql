-- SPDX-License-Identifier: Apache-2.0
-- Stock lies in the segments of its activity, each once: what lies in others nobody would find, and a segment that is missing could not be given back to.
-- Parameters: i_activity_id. Result: a row per segment. Locks: none. Errors: none.
create or replace function largesse.audit_stock_segment_wrong(i_activity_id bigint)
returns table (subject text, claim_id bigint, expected text, actual text)
language sql stable parallel safe
as $$
  select format('segment %s', segment), null::bigint, case when n.segments is null then 'no such segment' else format('a stock row of each of %s segments', n.segments) end,
         case when s.activity_id is null then 'no stock row' else format('remaining %s, taken %s', coalesce(s.remaining::text, 'unlimited'), s.taken) end
    from (select g.segment::smallint as segment, a.segments from largesse.activity a cross join lateral generate_series(0, a.segments - 1) g(segment)
           where a.id = i_activity_id and exists (select from largesse.stock s where s.activity_id = a.id)) n  -- none at all is another audit's
    full join (select s.segment, s.activity_id, s.remaining, s.taken from largesse.stock s where s.activity_id = i_activity_id) s using (segment)
   where n.segments is null or s.activity_id is null
$$;
select largesse.audit_register('stock_segment_wrong', 'high',
  'Each segment of a stock is there once, and there are no others.',
  'a segment was added or removed by hand',
  'run the repair that is offered (findings repair KEY --dry-run, then with --reason): each segment is there once, and together they hold what the claims leave',
  i_period => 'activity', i_repair => 'stock');
