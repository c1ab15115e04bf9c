-- SPDX-License-Identifier: Apache-2.0
select subject, claim_id, expected, actual from largesse.audit_run($1::text, $2::bigint) limit $3::int
