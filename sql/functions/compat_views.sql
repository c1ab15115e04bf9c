-- SPDX-License-Identifier: Apache-2.0
-- Read-only views in the column names and status numbers that teams know from textbooks, so that their own reconciliation runs unchanged. They only read and
-- call nothing of ours, so that the role largesse_compat needs no other right.
-- What a number means stands with each view. Parameters: none. Result: the views. Locks, errors: none.

create schema if not exists compat;

create or replace view compat.activity as
  select a.code as activity_code, a.name as activity_name, a.start_at as start_time, a.end_at as end_time,
         case a.status when 'draft' then 0 when 'published' then 0 when 'ongoing' then 1 when 'paused' then 3 else 2 end as status,
         (select l.max_count from largesse.activity_limit l where l.activity_id = a.id and l.period = 'total') as limit_per_user,
         a.needs_qualification::int as need_qualification,
         a.stock_total + d.units as total_inventory
    from largesse.activity a
   cross join lateral (select coalesce(sum(d.by), 0)::bigint as units from largesse.stock_adjustment d where d.activity_id = a.id) d;
comment on view compat.activity is 'status: 0 not started (draft, published), 1 ongoing, 2 ended (finished, archived), 3 suspended (paused). limit_per_user: in total, by quantity; null: none. need_qualification: 0 or 1. total_inventory: with all adjustments; null: unlimited.';

create or replace view compat.activity_qualification as
  select a.code as activity_code, q.user_id,
         (q.claim_id is not null and not exists (select from largesse.waiting_entry w where w.activity_id = q.activity_id and w.claim_id = q.claim_id))::int as status,
         q.source, q.ext as ext_info
    from largesse.qualification q join largesse.activity a on a.id = q.activity_id;
comment on view compat.activity_qualification is 'status: 0 unused, 1 used. One that was given back is unused again; who only waits has not used it yet.';

create or replace view compat.user_receive_record as
  select case u.unit when 1 then c.biz_id else c.biz_id || '#' || u.unit end as biz_id, a.code as activity_code, c.user_id, r.code as reward_code, c.created_at as receive_time,
         case c.status when 'succeeded' then 1 when 'failed' then 2 when 'cancelled' then 3 when 'expired' then 3 when 'rolled_back' then 3 else 0 end as status,
         case when c.status in ('failed', 'cancelled', 'expired', 'rolled_back')
              then coalesce(c.failure_code || coalesce(': ' || c.failure_detail, ''), c.status) end as fail_reason
    from largesse.claim c
    join largesse.activity a on a.id = c.activity_id
    left join largesse.reward r on r.id = c.reward_id
   cross join lateral unnest(array_fill(1, array[c.quantity])) with ordinality as u(one, unit)  -- the planner takes it for 10 rows, generate_series for 1000
   where c.status <> 'waiting';
comment on view compat.user_receive_record is 'status: 0 being issued (issuing, held, offered: it has its stock), 1 succeeded, 2 failed for good, 3 given back (cancelled, expired, rolled back). One row per unit, since there is no quantity: the first has the bizId, the second of bizId b is b#2. Who waits on a waiting list has received nothing and is not here.';

create or replace view compat.activity_inventory as
  select a.code as activity_code, sum(s.remaining)::bigint as remain_count, sum(s.xmin::text::bigint)::bigint as version
    from largesse.activity a left join largesse.stock s on s.activity_id = a.id
   group by a.id;
comment on view compat.activity_inventory is 'remain_count: over all segments of the stock; null: unlimited. version: another number whenever the stock has changed, of any segment.';
