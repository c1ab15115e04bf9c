-- SPDX-License-Identifier: Apache-2.0
-- A row even without history tells a known activity from an unknown one.
select a.is_known, h.id, h.doc::text
  from (select exists (select from largesse.activity_json($1::text)) as is_known) a
  left join largesse.activity_history_list($1::text, $2::bigint, $3::int) h on true
 order by h.id
