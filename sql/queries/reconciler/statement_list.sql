-- SPDX-License-Identifier: Apache-2.0
select id, doc from largesse.statement_list($1::text, $2::bigint, $3::int)
