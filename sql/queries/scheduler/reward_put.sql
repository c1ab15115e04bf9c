-- SPDX-License-Identifier: Apache-2.0
select largesse.reward_put($1::text, $2::text, $3::bigint, $4::text, $5::jsonb)
