-- SPDX-License-Identifier: Apache-2.0
select outcome, detail, inserted, duplicates, 0::bigint, '[]'::text
  from largesse.numbers_add($1::text, $2::bigint[], $3::bigint, $4::bigint, $5::text, $6::text)
