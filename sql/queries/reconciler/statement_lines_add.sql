-- SPDX-License-Identifier: Apache-2.0
select largesse.statement_lines_add($1::bigint, $2::bigint[], $3::text[], $4::bigint[], $5::bigint[], $6::text[], $7::text[], $8::text[], $9::bigint[], $10::text[], $11::bigint[], $12::boolean, $13::text[])
