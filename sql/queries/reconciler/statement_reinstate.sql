-- SPDX-License-Identifier: Apache-2.0
select largesse.statement_reinstate($1::bigint, $2::int, $3::text, $4::text)
