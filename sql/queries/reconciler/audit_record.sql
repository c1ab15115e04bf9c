-- SPDX-License-Identifier: Apache-2.0
select key, kind, severity, activity_code, claim_id, expected, actual, cause, next_step, state, activity_id
  from largesse.audit_record($1::bigint, $2::bigint, $3::text[], $4::bigint, $5::text[], $6::text[], $7::bigint[], $8::text[], $9::text[])
