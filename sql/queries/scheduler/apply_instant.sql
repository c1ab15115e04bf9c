-- SPDX-License-Identifier: Apache-2.0
-- The instant of a local time; with an offset the one that has it. Null: there is no such time in the zone.
select case when $3::text = '' then largesse.local_time($1::timestamp, $2::text)
            else (select c.t from (select ($1::timestamp - nullif($3::text, '')::interval) at time zone 'UTC' as t) c
                   where c.t at time zone $2::text = $1::timestamp) end
