-- SPDX-License-Identifier: Apache-2.0
select largesse.statement_match_failed($1::text, $2::text)
