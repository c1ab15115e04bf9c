-- SPDX-License-Identifier: Apache-2.0
select largesse.statement_match_open($1::text, $2::int)
