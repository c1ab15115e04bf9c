-- SPDX-License-Identifier: Apache-2.0
select outcome, doc from largesse.blocked_user_put($1::text, $2::bigint, $3::text, $4::text)
