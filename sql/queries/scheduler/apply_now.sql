-- SPDX-License-Identifier: Apache-2.0
select largesse.clock_now(), largesse.time_zone_is_known($1::text)
