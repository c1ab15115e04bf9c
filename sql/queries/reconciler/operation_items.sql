-- SPDX-License-Identifier: Apache-2.0
select n, doc from largesse.operation_items($1::bigint, $2::bigint, $3::int)
