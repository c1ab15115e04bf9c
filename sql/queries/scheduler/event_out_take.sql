-- SPDX-License-Identifier: Apache-2.0
select id, type, at, event_ids, subjects, traces, docs from largesse.event_out_take($1::int, $2::int, $3::interval)
