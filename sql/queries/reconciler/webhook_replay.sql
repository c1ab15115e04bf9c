-- SPDX-License-Identifier: Apache-2.0
select replayed, last_id from largesse.webhook_replay($1::text, $2::bigint, $3::timestamptz, $4::bool, $5::bigint, $6::int, $7::text, $8::text)
