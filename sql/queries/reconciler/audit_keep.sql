-- SPDX-License-Identifier: Apache-2.0
select largesse.audit_keep($1::bigint, $2::text)
