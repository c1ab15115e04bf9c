-- SPDX-License-Identifier: Apache-2.0
select activity_exists, key, item from largesse.refusal_list($1::text, $2::timestamptz, $3::timestamptz, $4::bigint, $5::int)
