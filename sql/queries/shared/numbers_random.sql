-- SPDX-License-Identifier: Apache-2.0
select a.is_known, l.number, l.doc
  from (select exists (select from largesse.activity_json($1::text)) as is_known) a
  left join largesse.numbers_random($1::text, $2::int) l on true
