-- SPDX-License-Identifier: Apache-2.0
select to_char(business_date, 'YYYY-MM-DD') from largesse.statement_fetch_take($1::text, $2::text, $3::text::time, $4::int, $5::bigint * interval '1 microsecond')
