-- SPDX-License-Identifier: Apache-2.0
select doc
  from largesse.operation_preview($1::text, $2::bigint[], $3::bigint[], $4::bigint[], $5::text, $6::text, $7::text, $8::text, $9::boolean)
