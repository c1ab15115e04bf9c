-- SPDX-License-Identifier: Apache-2.0
-- Whoever received something where a qualification is needed has used his, and whoever used one has received something.
select r.activity_code, r.user_id, 'received without a used qualification' as fault
  from compat.user_receive_record r join compat.activity a on a.activity_code = r.activity_code
 where a.need_qualification = 1 and r.status in (0, 1)
   and not exists (select 1 from compat.activity_qualification q where q.activity_code = r.activity_code and q.user_id = r.user_id and q.status = 1)
union all
select q.activity_code, q.user_id, 'used a qualification and received nothing'
  from compat.activity_qualification q
 where q.status = 1
   and not exists (select 1 from compat.user_receive_record r where r.activity_code = q.activity_code and r.user_id = q.user_id and r.status in (0, 1));
