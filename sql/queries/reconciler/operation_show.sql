-- SPDX-License-Identifier: Apache-2.0
select doc, state from largesse.operation_show($1::bigint, $2::boolean)
