-- SPDX-License-Identifier: Apache-2.0
select largesse.statement_fetch_done($1::text, $2::date, $3::text, $4::text, $5::text)
