-- SPDX-License-Identifier: Apache-2.0
select a.is_known, c.claim_id, c.doc
  from (select exists (select from largesse.activity_json($1::text)) as is_known) a
  left join largesse.claim_list_by_activity($1::text, $2::text, $3::bigint, $4::int) c on true
 order by c.claim_id
