-- SPDX-License-Identifier: Apache-2.0
select is_parked from largesse.event_out_postpone($1::bigint, $2::int[], $3::text, $4::interval, $5::int)
