-- SPDX-License-Identifier: Apache-2.0
-- What was received (1) and is being issued (0), and what is left, is what there was.
select a.activity_code, a.total_inventory, coalesce(r.success, 0) as success, coalesce(r.processing, 0) as processing, i.remain_count
  from compat.activity a
  join compat.activity_inventory i on i.activity_code = a.activity_code
  left join (select activity_code, count(*) filter (where status = 1) as success, count(*) filter (where status = 0) as processing
               from compat.user_receive_record group by activity_code) r on r.activity_code = a.activity_code
 where coalesce(r.success, 0) + coalesce(r.processing, 0) + i.remain_count <> a.total_inventory;
