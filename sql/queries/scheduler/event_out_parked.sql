-- SPDX-License-Identifier: Apache-2.0
select id, doc from largesse.event_out_parked($1::bigint, $2::int)
