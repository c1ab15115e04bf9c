-- SPDX-License-Identifier: Apache-2.0
select id, doc from largesse.audit_runs($1::bigint, $2::int)
