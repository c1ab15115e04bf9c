-- SPDX-License-Identifier: Apache-2.0
-- Nobody has more than an activity allows each user.
select r.activity_code, r.user_id, count(*) as received, a.limit_per_user
  from compat.user_receive_record r
  join compat.activity a on a.activity_code = r.activity_code
 where r.status in (0, 1)
 group by r.activity_code, r.user_id, a.limit_per_user
having count(*) > a.limit_per_user;
