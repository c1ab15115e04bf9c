-- SPDX-License-Identifier: Apache-2.0
-- Of a demonstration whose codes hold the instant of their start.
select max(a.start_at) from largesse.activity a where a.event_code = $1::text and a.code ~ $2::text
