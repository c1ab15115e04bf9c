-- SPDX-License-Identifier: Apache-2.0
select operation_id, kind, state, total, done, wait_ms, outcome, items from largesse.operation_step($1::bigint, $2::int)
