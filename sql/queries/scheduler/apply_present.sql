-- SPDX-License-Identifier: Apache-2.0
select a.status, a.start_at, a.end_at,
       a.stock_total + coalesce((select sum(d.by) from largesse.stock_adjustment d where d.activity_id = a.id), 0)::bigint
  from largesse.activity a where a.code = $1::text
