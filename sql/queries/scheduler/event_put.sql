-- SPDX-License-Identifier: Apache-2.0
select largesse.event_put($1::text, $2::text, $3::text, $4::text, $5::text)
