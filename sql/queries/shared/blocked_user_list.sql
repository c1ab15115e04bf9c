-- SPDX-License-Identifier: Apache-2.0
select a.is_known, l.user_id, l.doc
  from (select exists (select from largesse.activity_json($1::text)) as is_known) a
  left join largesse.blocked_user_list($1::text, $2::bigint, $3::int) l on true
