-- SPDX-License-Identifier: Apache-2.0
select place, doc from largesse.statement_lines($1::bigint, $2::text, $3::bigint, $4::int)
