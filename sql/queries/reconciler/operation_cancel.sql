-- SPDX-License-Identifier: Apache-2.0
select doc, state from largesse.operation_cancel($1::bigint, $2::text, $3::text)
