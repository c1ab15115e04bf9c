-- SPDX-License-Identifier: Apache-2.0
select id, event_id, type, subject, data, at from largesse.event_out_take($1::int, $2::interval)
