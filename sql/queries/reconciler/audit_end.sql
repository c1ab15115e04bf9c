-- SPDX-License-Identifier: Apache-2.0
select activities, failed from largesse.audit_end($1::bigint, $2::bigint)
