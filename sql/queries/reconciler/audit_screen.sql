-- SPDX-License-Identifier: Apache-2.0
select name, to_keep from largesse.audit_screen($1::bigint, $2::boolean)
