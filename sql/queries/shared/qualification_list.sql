-- SPDX-License-Identifier: Apache-2.0
select a.is_known, l.user_id, l.doc
  from (select exists (select from largesse.activity_json($1::text)) as is_known) a
  left join largesse.qualification_list($1::text, $2::bigint, $3::text, $4::bigint, $5::int) l on true
