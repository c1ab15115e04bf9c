-- SPDX-License-Identifier: Apache-2.0
select run_id, from_at, until_at, reached, is_resumed, has_unfinished from largesse.audit_begin($1::text, $2::date, $3::text, $4::boolean, $5::text)
