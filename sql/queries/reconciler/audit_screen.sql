-- SPDX-License-Identifier: Apache-2.0
select name from largesse.audit_screen($1::bigint)
