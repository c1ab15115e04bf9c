-- SPDX-License-Identifier: Apache-2.0
select largesse.statement_rematch($1::bigint, $2::int)
