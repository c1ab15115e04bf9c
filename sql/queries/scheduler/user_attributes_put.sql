-- SPDX-License-Identifier: Apache-2.0
select largesse.user_attributes_put($1::bigint, $2::jsonb)
