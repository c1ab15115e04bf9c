-- SPDX-License-Identifier: Apache-2.0
select name, doc from largesse.audit_definition_list($1::text, $2::text, $3::int)
