-- SPDX-License-Identifier: Apache-2.0
select largesse.blocked_user_delete($1::text, $2::bigint, $3::text, $4::text) as outcome
