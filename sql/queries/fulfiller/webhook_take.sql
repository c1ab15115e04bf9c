-- SPDX-License-Identifier: Apache-2.0
select id, event_id, type, trace, body, attempt, tries from largesse.webhook_take($1::text, $2::int, $3::bigint * interval '1 microsecond')
