-- SPDX-License-Identifier: Apache-2.0
select activity_id, code, is_in_scope from largesse.audit_activities($1::bigint, $2::bigint, $3::int)
