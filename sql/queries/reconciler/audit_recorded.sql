-- SPDX-License-Identifier: Apache-2.0
select key, kind, severity, activity_code, claim_id, expected, actual, cause, next_step, state, activity_id from largesse.audit_recorded($1::bigint)
