-- SPDX-License-Identifier: Apache-2.0
select outcome, detail, inserted, duplicates, 0::bigint, '[]'::text
  from largesse.qualification_import($1::text, $2::bigint[], $3::text[], $4::text[], $5::text[], $6::text, $7::text)
