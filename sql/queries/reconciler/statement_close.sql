-- SPDX-License-Identifier: Apache-2.0
select outcome, statement_id from largesse.statement_close($1::bigint, $2::date, $3::bytea, $4::bigint, $5::int, $6::text, $7::text)
