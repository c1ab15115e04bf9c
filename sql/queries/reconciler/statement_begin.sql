-- SPDX-License-Identifier: Apache-2.0
select largesse.statement_begin($1::text, $2::text, $3::text, $4::bigint * interval '1 microsecond', $5::text::jsonb, $6::text)
