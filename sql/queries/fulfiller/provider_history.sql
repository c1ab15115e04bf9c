-- SPDX-License-Identifier: Apache-2.0
select change_id, doc from largesse.provider_history($1::text, $2::bigint, $3::int)
