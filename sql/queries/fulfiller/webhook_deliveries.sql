-- SPDX-License-Identifier: Apache-2.0
select id, doc from largesse.webhook_deliveries($1::text, $2::text, $3::bigint, $4::int)
